//! The manifest: which D-segments are the log, and how durable its store is.
//!
//! It is replaced as a whole: the new one is written under another name, synced, and renamed.

use std::fmt;
use std::str::FromStr;

use hammerspace_bytes::Field;
use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::Dir;

use crate::segment::checksum_of;

/// Its name, in the store's directory.
pub(crate) const NAME: &str = "manifest";
/// That of the next one, while it is being written.
const NEW: &str = "manifest.new";
const LEN: usize = 80;
const MAGIC_WORD: u64 = u64::from_le_bytes(*b"HMRSDMAN");
const FORMAT_WORD: u64 = 1;

const MAGIC: Field = Field::u64("magic", 0);
const FORMAT: Field = Field::u32("format", 8);
const CHECKSUM: Field = Field::u32("checksum", 12);
const FEATURES: Field = Field::u64("features", 16);
const LOG_LOW: Field = Field::u64("log_low", 24);
const LOG_HIGH: Field = Field::u64("log_high", 32);
const FIRST: Field = Field::u64("first", 40);
const LAST: Field = Field::u64("last", 48);
const LIMIT: Field = Field::u64("limit", 56);
const DURABILITY: Field = Field::u32("durability", 64);
const MODE: Field = Field::u32("mode", 68);
const LIVE: Field = Field::u64("live", 72);
#[cfg(test)]
pub(crate) const FIELDS: [Field; 12] =
    [MAGIC, FORMAT, CHECKSUM, FEATURES, LOG_LOW, LOG_HIGH, FIRST, LAST, LIMIT, DURABILITY, MODE, LIVE];

/// When a change is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Durability {
    /// Never: the store ends with the machine's next restart. There is no log.
    None,
    /// Within a second, and when the store is closed.
    #[default]
    Interval,
    /// Before the call that makes it returns.
    Commit,
}

impl Durability {
    /// Every level, the weakest first.
    pub const ALL: [Self; 3] = [Self::None, Self::Interval, Self::Commit];

    /// As people write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Interval => "interval",
            Self::Commit => "commit",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Durability {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name).ok_or_else(|| {
            let error = Error::new(Kind::Invalid, format!("there is no durability {name:?}"));
            error.remedy(format!("choose one of {}", Self::ALL.map(Self::name).join(", ")))
        })
    }
}

/// What a manifest says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The log's id, which its segments have too.
    pub log: u128,
    /// The first segment.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// The store's memory limit, in bytes.
    pub limit: u64,
    /// When changes are durable.
    pub durability: Durability,
    /// Who may read the segments, as `chmod` says it.
    pub mode: u32,
    /// Bytes that the log had when it was last written anew.
    pub live: u64,
}

impl Manifest {
    /// That of a store's directory. `None` if the store has no log.
    pub fn read(dir: &Dir) -> Result<Option<Self>> {
        let Some(file) = dir.open_file(NAME)? else { return Ok(None) };
        let mut bytes = [0; LEN + 1];
        let len = file.read_at(&mut bytes, 0)?;
        Self::parse(&bytes[..len]).map(Some).map_err(|error| error.file(file.path()))
    }

    fn parse(bytes: &[u8]) -> Result<Self> {
        let damaged = || {
            let error = Error::new(Kind::Corrupt, "the manifest of the log is damaged");
            error.remedy("`hammerspace store repair` goes by the segments that are there")
        };
        if bytes.len() != LEN || MAGIC.get(bytes) != MAGIC_WORD || CHECKSUM.get(bytes) != checksum_of(bytes, CHECKSUM) {
            return Err(damaged());
        }
        if (FORMAT.get(bytes), FEATURES.get(bytes)) != (FORMAT_WORD, 0) {
            let finding = format!(
                "the log has format {} with features {:#x}, which this build does not know",
                FORMAT.get(bytes),
                FEATURES.get(bytes)
            );
            return Err(Error::new(Kind::Unsupported, finding).remedy("use a build that knows it"));
        }
        let durability = Durability::ALL.get(DURABILITY.get(bytes) as usize).copied().ok_or_else(damaged)?;
        let [first, last] = [FIRST, LAST].map(|field| field.get(bytes));
        if first > last {
            return Err(damaged());
        }
        let log = u128::from(LOG_LOW.get(bytes)) | u128::from(LOG_HIGH.get(bytes)) << 64;
        let (limit, mode, live) = (LIMIT.get(bytes), MODE.get(bytes) as u32, LIVE.get(bytes));
        Ok(Self { log, first, last, limit, durability, mode, live })
    }

    fn to_bytes(self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        for (field, value) in [
            (MAGIC, MAGIC_WORD),
            (FORMAT, FORMAT_WORD),
            (LOG_LOW, self.log as u64),
            (LOG_HIGH, (self.log >> 64) as u64),
            (FIRST, self.first),
            (LAST, self.last),
            (LIMIT, self.limit),
            (DURABILITY, self.durability as u64),
            (MODE, u64::from(self.mode)),
            (LIVE, self.live),
        ] {
            field.set(&mut bytes, value);
        }
        let checksum = checksum_of(&bytes, CHECKSUM);
        CHECKSUM.set(&mut bytes, checksum);
        bytes
    }

    /// Takes the place of the one there is, or of none.
    pub(crate) fn write(&self, dir: &Dir) -> Result<()> {
        dir.unlink(NEW)?;
        let file = dir.create_file_with_mode(NEW, self.mode)?;
        file.write_at(&self.to_bytes(), 0)?;
        file.sync()?;
        dir.rename(NEW, NAME)?;
        dir.sync()
    }

    /// Removes the manifest, and with it the log.
    pub(crate) fn remove(dir: &Dir) -> Result<()> {
        dir.unlink(NEW)?;
        dir.unlink(NAME)?;
        dir.sync()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{block, segment};
    use hammerspace_testkit::page;

    #[test]
    fn every_flipped_bit_of_a_manifest_is_found() {
        let manifest = Manifest {
            log: 1 << 100 | 7,
            first: 3,
            last: 9,
            limit: 1 << 30,
            durability: Durability::Commit,
            mode: 0o640,
            live: 5,
        };
        let bytes = manifest.to_bytes();
        assert_eq!(Manifest::parse(&bytes).unwrap(), manifest);
        for bit in 0..8 * LEN {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Manifest::parse(&damaged).unwrap_err().kind(), Kind::Corrupt, "bit {bit}");
        }
        assert!((0..LEN).all(|len| Manifest::parse(&bytes[..len]).is_err()));
    }

    #[test]
    fn the_layouts_are_what_their_page_says() {
        let page = include_str!("../../../docs/format/disk-log.md");
        assert_eq!(page::fields(page, "The manifest"), FIELDS);
        assert_eq!(page::fields(page, "A segment"), segment::FIELDS);
        assert_eq!(page::fields(page, "A block"), block::FIELDS);
        assert_eq!(page::hex(page, "The manifest").len(), LEN);
        Manifest::parse(&page::hex(page, "The manifest")).unwrap();
        let source = include_str!("record.rs");
        let layout: Vec<_> = source.lines().filter_map(|line| line.strip_prefix("//! | ")).collect();
        assert_eq!(layout.len(), 2);
        assert!(layout.iter().all(|line| page.contains(line)), "{layout:?}");
    }
}
