//! What verbs take: bytes, block sizes, compressions.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::value_parser;
use data_encoding::HEXLOWER_PERMISSIVE;
use hammerspace_error::{Error, Kind, Result};
use hammerspace_sparkey::Compression;

/// The bytes of a key or value given as text, or in hex.
pub(crate) fn bytes(given: &OsStr, hex: bool) -> Result<Vec<u8>> {
    let given = given.as_bytes();
    if !hex {
        return Ok(given.to_vec());
    }
    HEXLOWER_PERMISSIVE.decode(given).map_err(|wrong| {
        Error::new(Kind::Invalid, format!("{} is not hex: {wrong}", crate::output::shown(given)))
            .remedy("give two digits 0-9 a-f for each byte, as in 00ff10, or leave out --hex")
    })
}

/// What block size is taken where none is asked for: as in Spotify's tool.
pub(crate) const BLOCK_SIZE: u32 = 1 << 12;

/// Reads a block size, between the bounds of Spotify's tool.
pub(crate) fn block_sizes() -> impl TypedValueParser<Value = u32> {
    value_parser!(u32).range(1 << 4..=1 << 30)
}

/// Reads the name of a compression.
pub(crate) fn compressions() -> impl TypedValueParser<Value = Compression> {
    const ALL: [Compression; 3] = [Compression::None, Compression::Snappy, Compression::Zstd];
    PossibleValuesParser::new(ALL.map(Compression::name))
        .map(|name| ALL.into_iter().find(|compression| compression.name() == name).expect("one of those"))
}

/// A delimiter given on the command line.
pub(crate) fn delimiter(given: &str) -> std::result::Result<u8, String> {
    match given.as_bytes() {
        [byte] => Ok(*byte),
        _ => Err("it must be one byte".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_bytes_and_text_is_itself() {
        assert_eq!(bytes(OsStr::new("00fF"), true).unwrap(), [0, 255]);
        assert_eq!(bytes(OsStr::new("00ff"), false).unwrap(), b"00ff");
        assert_eq!(bytes(OsStr::new("0g"), true).unwrap_err().kind(), Kind::Invalid);
    }
}
