//! A manifest: all that a follower must know of one version.

use chrono::{DateTime, Utc};
use data_encoding::HEXLOWER;
use hammerspace_error::{Error, Kind, Result};
use hammerspace_sparkey::LogHeader;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::layout::is_part;

/// The layout that this build writes, and the newest it reads.
pub(crate) const LAYOUT: u32 = 1;
const PART_SIZE_MAX: u64 = 1 << 30;

/// One published version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The layout of this manifest: 1.
    pub layout: u32,
    /// The version's number: its parent's and 1.
    pub number: u64,
    /// The number of the version before; 0 for the first.
    pub parent: u64,
    /// Drawn at random by the push, which so recognises its own manifest.
    pub push: Uuid,
    /// When, by the clock of the machine that pushed.
    pub published: DateTime<Utc>,
    /// The program that pushed.
    pub builder: String,
    /// When followers make it current.
    pub activation: Activation,
    /// Whether it may still be followed.
    pub standing: Standing,
    /// The version whose data this one brings back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback_of: Option<u64>,
    /// One for a space.
    pub tables: Vec<TableManifest>,
}

/// When followers make a version current.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// As soon as they have fetched it.
    #[default]
    Immediate,
    /// Once an activation of this number is published.
    Held,
}

/// What garbage collection has made of a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It can be followed and rolled back to.
    #[default]
    Live,
    /// It is not to be used any more, and its parts still stay.
    Retired,
    /// Its parts are gone. The number stays taken.
    Removed,
}

/// A log: its header, and the parts that follow it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableManifest {
    /// Which shard of a sharded table; 0 in a space.
    pub shard: u32,
    /// How many shards there are; 1 in a space.
    pub shards: u32,
    /// Live keys.
    pub entries: u64,
    /// The 84 bytes of the log's header, in hexadecimal digits.
    pub header: String,
    /// Bytes of the log, the header included.
    pub size: u64,
    /// Bytes of each part but the last.
    pub part_size: u64,
    /// `<day>/<sha256>` of the bytes after the header, in order.
    pub parts: Vec<String>,
}

impl Manifest {
    /// Reads and checks the manifest of version `number`.
    pub fn parse(bytes: &[u8], number: u64) -> Result<Self> {
        let manifest: Self = serde_json::from_slice(bytes).map_err(|cause| unreadable(bytes, number, &cause))?;
        if manifest.layout > LAYOUT {
            return Err(newer(number, manifest.layout));
        }
        manifest.check(number).map_err(|finding| {
            Error::new(Kind::Corrupt, format!("the manifest of version {number} {finding}")).remedy(PUSH_AGAIN)
        })?;
        Ok(manifest)
    }

    fn check(&self, number: u64) -> Result<(), String> {
        if self.layout == 0 || self.number != number || self.parent >= number {
            return Err(format!("says that it is version {} after {}", self.number, self.parent));
        }
        if self.standing == Standing::Removed {
            return Ok(());
        }
        if self.tables.is_empty() {
            return Err("names no table".into());
        }
        self.tables.iter().try_for_each(TableManifest::check)
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec_pretty(self).expect("a manifest is plain data");
        json.push(b'\n');
        json
    }

    /// The one table of a space.
    pub(crate) fn space(&self) -> Result<&TableManifest> {
        match &*self.tables {
            [table] if table.shards == 1 => Ok(table),
            _ => Err(Error::new(Kind::Unsupported, format!("version {} is a sharded table, not a space", self.number))
                .remedy("follow the URL of a space")),
        }
    }
}

impl TableManifest {
    fn check(&self) -> Result<(), String> {
        let header = self.header().map_err(|error| format!("has a header that is none: {error}"))?;
        if self.shard >= self.shards || header.data_end != self.size {
            return Err(format!("names {} bytes, and a log of {}", self.size, header.data_end));
        }
        if !(1..=PART_SIZE_MAX).contains(&self.part_size) || self.data_len().div_ceil(self.part_size) != self.count() {
            return Err(format!("names {} parts of {} bytes for {}", self.count(), self.part_size, self.size));
        }
        match self.parts.iter().find(|part| !is_part(part)) {
            Some(part) => Err(format!("names a part {part:?}, which is not <day>/<sha256>")),
            None => Ok(()),
        }
    }

    fn count(&self) -> u64 {
        self.parts.len() as u64
    }

    fn data_len(&self) -> u64 {
        self.size.saturating_sub(LogHeader::SIZE as u64)
    }

    pub(crate) fn header_bytes(&self) -> Result<Vec<u8>> {
        let decoded = HEXLOWER.decode(self.header.as_bytes());
        decoded.map_err(|cause| Error::new(Kind::Corrupt, format!("no hexadecimal digits: {cause}")))
    }

    fn header(&self) -> Result<LogHeader> {
        LogHeader::parse(&self.header_bytes()?)
    }

    /// Where the bytes of a part lie in the log.
    pub(crate) fn range(&self, part: usize) -> std::ops::Range<u64> {
        let start = LogHeader::SIZE as u64 + part as u64 * self.part_size;
        start..self.size.min(start + self.part_size)
    }
}

const PUSH_AGAIN: &str = "push a new version, which replaces it";

fn newer(number: u64, layout: u32) -> Error {
    let finding = format!("the manifest of version {number} has layout {layout}, and this build knows {LAYOUT}");
    Error::new(Kind::Unsupported, finding).remedy("use a newer build")
}

/// A newer layout need not look like ours.
fn unreadable(bytes: &[u8], number: u64, cause: &serde_json::Error) -> Error {
    #[derive(Deserialize)]
    struct Head {
        layout: u32,
    }
    match serde_json::from_slice::<Head>(bytes) {
        Ok(Head { layout }) if layout > LAYOUT => newer(number, layout),
        _ => Error::new(Kind::Corrupt, format!("the manifest of version {number} cannot be read: {cause}"))
            .remedy(PUSH_AGAIN),
    }
}
