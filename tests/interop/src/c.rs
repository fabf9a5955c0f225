//! Spotify's C library.

use hammerspace_rivals::libsparkey::{self, Failure, LogWriter, Reader, write_index};
use hammerspace_sparkey::{Compression, HashSize};

use crate::contents::at;
use crate::{Change, Contents, Format, Pair, Peer, Result};

/// The C library, which updates an index in place of building it afresh, and knows no zstd.
pub struct C;

impl Peer for C {
    fn name(&self) -> &'static str {
        "libsparkey"
    }

    fn knows(&self, compression: Compression) -> bool {
        compression != Compression::Zstd
    }

    fn create(&mut self, pair: &Pair, format: Format, changes: &[Change]) -> Result {
        let compression = match format.compression {
            Compression::None => libsparkey::Compression::None,
            Compression::Snappy => libsparkey::Compression::Snappy(format.block_size),
            Compression::Zstd => return Err("libsparkey knows no zstd".into()),
        };
        let created = LogWriter::create(&pair.log, compression).and_then(|writer| write(writer, changes));
        created.map_err(|failure| at(pair, "create", failure))
    }

    fn append(&mut self, pair: &Pair, changes: &[Change]) -> Result {
        let appended = LogWriter::append(&pair.log).and_then(|writer| write(writer, changes));
        appended.map_err(|failure| at(pair, "append to", failure))
    }

    fn index(&mut self, pair: &Pair, hash_size: HashSize) -> Result {
        let hash_size = if hash_size == HashSize::Four { 4 } else { 8 };
        write_index(&pair.log, &pair.index, hash_size).map_err(|failure| at(pair, "index", failure))
    }

    fn read(&mut self, pair: &Pair, probes: &[Vec<u8>]) -> Result<Contents> {
        read(pair, probes).map_err(|failure| at(pair, "read", failure))
    }
}

fn write(mut writer: LogWriter, changes: &[Change]) -> std::result::Result<(), Failure> {
    for change in changes {
        match change {
            Change::Put(key, value) => writer.put(key, value)?,
            Change::Delete(key) => writer.delete(key)?,
        }
    }
    writer.finish()
}

fn read(pair: &Pair, probes: &[Vec<u8>]) -> std::result::Result<Contents, Failure> {
    let reader = Reader::open(&pair.log, &pair.index)?;
    let mut contents = Contents::default();
    let mut cursor = reader.cursor()?;
    while let Some((key, value)) = cursor.next()? {
        contents.live.push((key.to_vec(), value.to_vec()));
    }
    let mut cursor = reader.cursor()?;
    for probe in probes {
        contents.found.push(cursor.get(probe)?.map(<[u8]>::to_vec));
    }
    let (max_key_len, max_value_len) = reader.max_lens();
    let fields = [("num_entries", reader.len()), ("max_key_len", max_key_len), ("max_value_len", max_value_len)];
    contents.header = fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    Ok(contents)
}
