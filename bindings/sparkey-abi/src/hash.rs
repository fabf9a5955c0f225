//! An index with its log: lookups, and writing the index.

use crate::code::{Code, Outcome, answer};
use crate::handle::{Bytes, Name, Owner, Shared, Unique};
use crate::log_iter::{LogIter, check_match};
use crate::log_reader::{self, LogReader, first_wrong, map};
use hammerspace_error::Doing;
use hammerspace_os::Map;
use hammerspace_sparkey::{HashSize, Index, IndexHeader, IndexOptions, Table, build_index_as_c};
use hammerspace_tables::replace;
use std::ffi::c_int;
use std::io::Write;
use std::path::Path;
use std::ptr;

/// `sparkey_hashreader`
pub(crate) type HashReader = Table<Map, Map>;

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_hash_open(mut reader: Owner<HashReader>, index: Name, log: Name) -> c_int {
    answer(|| {
        reader.check()?;
        reader.fill(open(index.path()?, log.path()?)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_hash_close(mut reader: Owner<HashReader>) {
    reader.close();
}

/// The log in it, which lives as long as it does.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn sparkey_hash_getreader(reader: Shared<HashReader>) -> *const LogReader {
    reader.maybe().map_or(ptr::null(), |table| ptr::from_ref(table.log()))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_hash_get(
    reader: Shared<HashReader>,
    key: Bytes,
    key_len: u64,
    mut iter: Unique<LogIter>,
) -> c_int {
    answer(|| {
        let table = reader.get(Code::HashClosed)?;
        let iter = iter.get(Code::LogIteratorClosed)?;
        check_match(iter, table.log())?;
        iter.get(table, key.get(key_len)?)?;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn sparkey_hash_numentries(reader: Shared<HashReader>) -> u64 {
    reader.maybe().map_or(0, Table::len)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn sparkey_hash_numcollisions(reader: Shared<HashReader>) -> u64 {
    reader.maybe().map_or(0, |table| table.index().header().hash_collisions)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn sparkey_hash_write(index: Name, log: Name, hash_size: c_int) -> c_int {
    answer(|| write(index.path()?, log.path()?, hash_size))
}

/// Opens both as C does: the first thing that is wrong counts.
fn open(index: &Path, log: &Path) -> Outcome<HashReader> {
    let bytes = map(index)?;
    let header = IndexHeader::parse(&bytes).map_err(|_| refused(&bytes))?;
    let log = log_reader::open(log)?;
    if header.file_identifier != log.header().file_identifier {
        return Err(Code::FileIdentifierMismatch);
    }
    let index = Index::open(bytes).map_err(|_| Code::HashTooSmall)?;
    Table::join(log, index).map_err(|_| Code::HashHeaderCorrupt)
}

/// Why these bytes are no header of an index that we know.
fn refused(bytes: &[u8]) -> Code {
    let [magic, major, minor, ..] = IndexHeader::FIELDS;
    first_wrong(
        bytes,
        [
            (magic, IndexHeader::MAGIC..=IndexHeader::MAGIC, Code::WrongHashMagicNumber),
            (major, IndexHeader::MAJOR_VERSION..=IndexHeader::MAJOR_VERSION, Code::WrongHashMajorVersion),
            (minor, 0..=IndexHeader::MINOR_VERSION, Code::UnsupportedHashMinorVersion),
        ],
        IndexHeader::SIZE,
        Code::HashHeaderCorrupt,
    )
}

fn write(index: &Path, log: &Path, hash_size: c_int) -> Outcome {
    let log = log_reader::open(log)?;
    let hash_size = match hash_size {
        0 => None,
        4 => Some(HashSize::Four),
        8 => Some(HashSize::Eight),
        _ => return Err(Code::HashSizeInvalid),
    };
    // Whatever cannot be read is replaced.
    let old = map(index).ok().and_then(|bytes| Index::open(bytes).ok());
    match build_index_as_c(&log, old.as_ref(), &IndexOptions { hash_size, seed: None })? {
        Some(bytes) => Ok(replace(index, |file| file.write_all(&bytes).doing("write the index"))?),
        None => Ok(()),
    }
}
