//! What files may be packed in: gzip and zstd, told by the last extension.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use hammerspace_error::Result;

use crate::unreadable;

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// RFC 1952, `.gz`.
    Gzip,
    /// RFC 8878, `.zst`.
    Zstd,
}

impl Packing {
    /// How the file of this name is packed, and its name without the extension that says so.
    pub fn of(path: &Path) -> (Self, PathBuf) {
        let packing = match path.extension().and_then(|extension| extension.to_str()) {
            Some(gz) if gz.eq_ignore_ascii_case("gz") => Self::Gzip,
            Some(zst) if zst.eq_ignore_ascii_case("zst") => Self::Zstd,
            _ => return (Self::Plain, path.into()),
        };
        (packing, path.with_extension(""))
    }

    /// The bytes that are packed in `input`, of which there may be several pieces one after another.
    pub fn unpack<'i>(self, input: impl BufRead + 'i) -> Result<Box<dyn Read + 'i>> {
        Ok(match self {
            Self::Plain => Box::new(input),
            Self::Gzip => Box::new(MultiGzDecoder::new(input)),
            Self::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(input).map_err(unreadable)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_extension_names_the_packing() {
        for (path, packing, name) in [
            ("po/de.po.gz", Packing::Gzip, "po/de.po"),
            ("de.json.ZST", Packing::Zstd, "de.json"),
            ("de.po", Packing::Plain, "de.po"),
            ("gz", Packing::Plain, "gz"),
        ] {
            assert_eq!(Packing::of(Path::new(path)), (packing, PathBuf::from(name)));
        }
    }
}
