//! Our own reader and writer.

use std::fs::{self, File, OpenOptions};

use hammerspace_error::{Doing, Error};
use hammerspace_sparkey::{
    Compression, HashSize, Index, IndexHeader, IndexOptions, Log, LogHeader, LogOptions, LogWriter, Table, build_index,
    update_index,
};

use crate::contents::at;
use crate::{Change, Contents, Format, Pair, Peer, Result};

/// Hammerspace itself.
pub struct Ours;

impl Peer for Ours {
    fn name(&self) -> &'static str {
        "hammerspace"
    }

    fn knows(&self, _: Compression) -> bool {
        true
    }

    fn create(&mut self, pair: &Pair, format: Format, changes: &[Change]) -> Result {
        let options = LogOptions { compression: format.compression, block_size: format.block_size };
        let create = || write(LogWriter::create(File::create(&pair.log).doing("create")?, &options)?, changes);
        create().map_err(|error| at(pair, "create", error))
    }

    fn append(&mut self, pair: &Pair, changes: &[Change]) -> Result {
        let open = || OpenOptions::new().read(true).write(true).open(&pair.log).doing("open");
        open().and_then(|file| write(LogWriter::append(file)?, changes)).map_err(|error| at(pair, "append to", error))
    }

    fn index(&mut self, pair: &Pair, hash_size: HashSize) -> Result {
        index(pair, hash_size).map_err(|error| at(pair, "index", error))
    }

    fn read(&mut self, pair: &Pair, probes: &[Vec<u8>]) -> Result<Contents> {
        read(pair, probes).map_err(|error| at(pair, "read", error))
    }
}

fn write(mut writer: LogWriter<File>, changes: &[Change]) -> std::result::Result<(), Error> {
    for change in changes {
        match change {
            Change::Put(key, value) => writer.put(key, value)?,
            Change::Delete(key) => writer.delete(key)?,
        }
    }
    writer.finish().map(drop)
}

fn index(pair: &Pair, hash_size: HashSize) -> std::result::Result<(), Error> {
    let log = Log::open(fs::read(&pair.log).doing("read the log")?)?;
    let options = IndexOptions { hash_size: Some(hash_size), ..IndexOptions::default() };
    let index = match fs::read(&pair.index) {
        Ok(old) => update_index(&log, &Index::open(old)?, &options)?,
        Err(_) => build_index(&log, &options)?,
    };
    fs::write(&pair.index, index).doing("write the index")
}

fn read(pair: &Pair, probes: &[Vec<u8>]) -> std::result::Result<Contents, Error> {
    let log = fs::read(&pair.log).doing("read the log")?;
    let table = Table::open(log, fs::read(&pair.index).doing("read the index")?)?;
    let live = table.iter().map(|entry| entry.map(|entry| (entry.key.into_owned(), entry.value.into_owned())));
    let found = probes.iter().map(|probe| Ok(table.get(probe)?.map(std::borrow::Cow::into_owned)));
    Ok(Contents {
        live: live.collect::<std::result::Result<_, Error>>()?,
        found: found.collect::<std::result::Result<_, Error>>()?,
        header: header(table.log().header(), table.index().header()),
    })
}

fn header(log: &LogHeader, index: &IndexHeader) -> std::collections::BTreeMap<String, u64> {
    let fields = [
        ("num_puts", log.num_puts),
        ("num_deletes", log.num_deletes),
        ("put_size", log.put_size),
        ("delete_size", log.delete_size),
        ("max_key_len", log.max_key_len),
        ("max_value_len", log.max_value_len),
        ("compression_type", u64::from(log.compression.code())),
        ("num_entries", index.num_entries),
        ("hash_size", index.hash_size.bytes() as u64),
    ];
    fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}
