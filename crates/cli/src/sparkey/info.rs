//! `sparkey info FILE…`: what the headers of logs and indexes say; of a directory, what those of its shards come to.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{File, Map};
use hammerspace_sparkey::{Compression, IndexHeader, LogHeader, ShardKeys, Shards, Table};
use hammerspace_tables::open_shards;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::exit::Outcome;
use crate::output::{Output, Told};

/// Show what the headers of logs and indexes say, and those of shards together
#[derive(Args)]
pub(crate) struct Info {
    /// Logs and indexes, whatever they are called; directories of shards
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

impl Info {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let headers: Vec<_> = self.files.iter().map(|file| (file.as_path(), Header::read(file))).collect();
        if out.json() {
            let files: Vec<Value> = headers.iter().map(|(file, header)| object(file, header)).collect();
            out.object(&json!({ "files": files }))?;
        } else {
            headers.iter().try_for_each(|(file, header)| tell(file, header, out))?;
        }
        Ok(if headers.iter().all(|(_, header)| header.is_ok()) { Outcome::Found } else { Outcome::Broken })
    }
}

fn object(file: &Path, header: &Result<Header>) -> Value {
    match header {
        Ok(header) => json!(Described { file, header }),
        Err(error) => json!({ "file": file.to_string_lossy(), "error": Told(error) }),
    }
}

fn tell(file: &Path, header: &Result<Header>, out: &mut Output) -> Result<()> {
    match header {
        Ok(header) => out.answer(&Described { file, header }),
        Err(error) => out.complain(error),
    }
}

/// The header of one of the two files, or of many.
pub(crate) enum Header {
    Log(LogHeader),
    Index(IndexHeader),
    Shards(Summary),
}

/// What the headers of all shards come to.
pub(crate) struct Summary {
    keys: ShardKeys,
    shards: usize,
    entries: u64,
    entries_min: u64,
    entries_max: u64,
    bytes: u64,
}

impl Summary {
    fn of(shards: &Shards<Map, Map>) -> Self {
        let entries = || shards.tables().iter().map(Table::len);
        let len = |table: &Table<Map, Map>| (table.log().bytes().len() + table.index().bytes().len()) as u64;
        Self {
            keys: shards.keys(),
            shards: shards.tables().len(),
            entries: shards.len(),
            entries_min: entries().min().unwrap_or(0),
            entries_max: entries().max().unwrap_or(0),
            bytes: shards.tables().iter().map(len).sum(),
        }
    }
}

impl Header {
    /// Reads it from whichever of the two this is. Whether the rest of the file holds what it says is not looked at.
    fn read(path: &Path) -> Result<Self> {
        if path.is_dir() {
            return Ok(Self::Shards(Summary::of(&open_shards(path)?)));
        }
        let mut bytes = [0; IndexHeader::SIZE];
        let len = File::open(path)?.read_at(&mut bytes, 0)?;
        Self::parse(&bytes[..len]).map_err(|error| error.file(path))
    }

    fn parse(bytes: &[u8]) -> Result<Self> {
        match bytes.first_chunk().map(|magic| u32::from_le_bytes(*magic)) {
            Some(LogHeader::MAGIC) => LogHeader::parse(bytes).map(Self::Log),
            Some(IndexHeader::MAGIC) => IndexHeader::parse(bytes).map(Self::Index),
            _ => Err(Error::new(Kind::Corrupt, "Not a sparkey file.").at(0)),
        }
    }
}

/// A file and its header, as Spotify's tool prints them, or as an object with every field.
pub(crate) struct Described<'a> {
    pub(crate) file: &'a Path,
    pub(crate) header: &'a Header,
}

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Filename: {}", self.file.display())?;
        match self.header {
            Header::Log(header) => print_log(header, f)?,
            Header::Index(header) => print_index(header, f)?,
            Header::Shards(summary) => print_shards(summary, f)?,
        }
        writeln!(f)
    }
}

fn print_log(header: &LogHeader, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "Log file version {}.{}", LogHeader::MAJOR_VERSION, LogHeader::MINOR_VERSION)?;
    writeln!(f, "Identifier: {:08x}", header.file_identifier)?;
    writeln!(f, "Puts: {}, Deletes: {}", header.num_puts, header.num_deletes)?;
    writeln!(f, "Max key size: {}, Max value size: {}", header.max_key_len, header.max_value_len)?;
    let compression = match header.compression {
        Compression::None => "Uncompressed",
        Compression::Snappy => "Snappy",
        Compression::Zstd => "Zstd",
    };
    // The tool prints the block size as a signed number.
    writeln!(f, "Compression: {compression}, block size: {}", header.block_size.cast_signed())
}

fn print_index(header: &IndexHeader, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "Hash file version {}.{}", IndexHeader::MAJOR_VERSION, header.minor_version)?;
    writeln!(f, "Identifier: {:08x}", header.file_identifier)?;
    writeln!(f, "Max key size: {}, Max value size: {}", header.max_key_len, header.max_value_len)?;
    writeln!(f, "Hash size: {} bit Murmurhash3", 8 * header.hash_size.bytes())?;
    writeln!(f, "Num entries: {}, Capacity: {}", header.num_entries, header.hash_capacity)?;
    let (collisions, farthest, average) = (header.hash_collisions, header.max_displacement, average(header));
    writeln!(f, "Num collisions: {collisions}, Max displacement: {farthest}, Average displacement: {average}")?;
    writeln!(f, "Data size: {}, Garbage size: {}", header.data_end, header.garbage_size)
}

fn print_shards(summary: &Summary, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "Shards: {}, by the hash of {}", summary.shards, summary.keys.name())?;
    let Summary { entries, entries_min, entries_max, .. } = summary;
    writeln!(f, "Num entries: {entries}, {entries_min} to {entries_max} in a shard")?;
    writeln!(f, "Data size: {}", summary.bytes)
}

/// The mean displacement to two digits. Of no entries, it is what C makes of 0/0 on this machine.
#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
fn average(header: &IndexHeader) -> String {
    match header.num_entries {
        0 if cfg!(target_arch = "x86_64") => "-nan".into(),
        0 => "nan".into(),
        entries => format!("{:.2}", header.total_displacement as f64 / entries as f64),
    }
}

impl Serialize for Described<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let file = self.file.to_string_lossy();
        let object = match self.header {
            Header::Log(header) => log_object(&file, header),
            Header::Index(header) => index_object(&file, header),
            Header::Shards(summary) => shards_object(&file, summary),
        };
        object.serialize(to)
    }
}

fn log_object(file: &str, header: &LogHeader) -> Value {
    json!({
        "file": file,
        "kind": "log",
        "version": format!("{}.{}", LogHeader::MAJOR_VERSION, LogHeader::MINOR_VERSION),
        "file_identifier": header.file_identifier,
        "num_puts": header.num_puts,
        "num_deletes": header.num_deletes,
        "data_end": header.data_end,
        "max_key_len": header.max_key_len,
        "max_value_len": header.max_value_len,
        "delete_size": header.delete_size,
        "compression": header.compression.name(),
        "block_size": header.block_size,
        "put_size": header.put_size,
        "max_entries_per_block": header.max_entries_per_block,
    })
}

fn index_object(file: &str, header: &IndexHeader) -> Value {
    json!({
        "file": file,
        "kind": "index",
        "version": format!("{}.{}", IndexHeader::MAJOR_VERSION, header.minor_version),
        "file_identifier": header.file_identifier,
        "hash_seed": header.hash_seed,
        "data_end": header.data_end,
        "max_key_len": header.max_key_len,
        "max_value_len": header.max_value_len,
        "num_puts": header.num_puts,
        "garbage_size": header.garbage_size,
        "num_entries": header.num_entries,
        "address_size": header.address_size,
        "hash_size": header.hash_size.bytes(),
        "hash_capacity": header.hash_capacity,
        "max_displacement": header.max_displacement,
        "entry_block_bits": header.entry_block_bits,
        "hash_collisions": header.hash_collisions,
        "total_displacement": header.total_displacement,
    })
}

fn shards_object(file: &str, summary: &Summary) -> Value {
    json!({
        "file": file,
        "kind": "shards",
        "shards": summary.shards,
        "keys": summary.keys.name(),
        "entries": summary.entries,
        "entries_min": summary.entries_min,
        "entries_max": summary.entries_max,
        "bytes": summary.bytes,
    })
}
