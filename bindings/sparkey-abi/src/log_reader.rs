//! Opening a log.

use crate::code::{Code, Outcome, answer};
use crate::handle::{Name, Owner, Shared};
use hammerspace_bytes::Field;
use hammerspace_os::{File, Map};
use hammerspace_sparkey::{Log, LogHeader};
use std::ffi::c_int;
use std::ops::RangeInclusive;
use std::path::Path;

/// `sparkey_logreader`
pub(crate) type LogReader = Log<Map>;

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logreader_open(mut reader: Owner<LogReader>, file: Name) -> c_int {
    answer(|| {
        reader.check()?;
        reader.fill(open(file.path()?)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logreader_close(mut reader: Owner<LogReader>) {
    reader.close();
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn sparkey_logreader_maxkeylen(reader: Shared<LogReader>) -> u64 {
    reader.maybe().map_or(0, |log| log.header().max_key_len)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn sparkey_logreader_maxvaluelen(reader: Shared<LogReader>) -> u64 {
    reader.maybe().map_or(0, |log| log.header().max_value_len)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn sparkey_logreader_get_compression_blocksize(reader: Shared<LogReader>) -> c_int {
    reader.maybe().map_or(0, |log| log.header().block_size.cast_signed())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn sparkey_logreader_get_compression_type(reader: Shared<LogReader>) -> c_int {
    reader.maybe().map_or(0, |log| log.header().compression.code().cast_signed())
}

/// Opens a log as C does: what is wrong has a code, and the first thing that is wrong counts.
pub(crate) fn open(path: &Path) -> Outcome<LogReader> {
    let bytes = map(path)?;
    LogHeader::parse(&bytes).map_err(|_| refused(&bytes))?;
    Log::open(bytes).map_err(|_| Code::LogTooSmall)
}

pub(crate) fn map(path: &Path) -> Outcome<Map> {
    let file = File::open(path)?;
    Map::new(&file).map_err(|_| Code::MmapFailed)
}

/// Why these bytes are no header of a log that we know.
pub(crate) fn refused(bytes: &[u8]) -> Code {
    let [magic, major, minor, ..] = LogHeader::FIELDS;
    first_wrong(
        bytes,
        [
            (magic, LogHeader::MAGIC..=LogHeader::MAGIC, Code::WrongLogMagicNumber),
            (major, LogHeader::MAJOR_VERSION..=LogHeader::MAJOR_VERSION, Code::WrongLogMajorVersion),
            (minor, 0..=LogHeader::MINOR_VERSION, Code::UnsupportedLogMinorVersion),
        ],
        LogHeader::SIZE,
        Code::LogHeaderCorrupt,
    )
}

/// The code of the first field that the bytes do not reach, or that they give a value out of its range; or else `corrupt`.
pub(crate) fn first_wrong(
    bytes: &[u8],
    fields: [(Field, RangeInclusive<u32>, Code); 3],
    size: usize,
    corrupt: Code,
) -> Code {
    for (field, known, code) in fields {
        if bytes.len() < field.offset + field.size {
            return Code::UnexpectedEof;
        }
        if !known.contains(&(field.get(bytes) as u32)) {
            return code;
        }
    }
    if bytes.len() < size { Code::UnexpectedEof } else { corrupt }
}
