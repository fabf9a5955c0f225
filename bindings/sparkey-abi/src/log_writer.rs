//! Writing a log. The file grows in its place, as C's users expect: what was flushed is there for readers.

use crate::code::{Code, Outcome, answer};
use crate::handle::{Bytes, Name, Owner, Unique};
use crate::log_reader::refused;
use hammerspace_sparkey::{BLOCK_SIZE_MIN, Compression, LogHeader, LogOptions};
use std::ffi::c_int;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// `sparkey_logwriter`
pub(crate) type LogWriter = hammerspace_sparkey::LogWriter<File>;

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logwriter_create(
    mut writer: Owner<LogWriter>,
    file: Name,
    compression: c_int,
    block_size: c_int,
) -> c_int {
    answer(|| {
        writer.check()?;
        let options = options(compression, block_size)?;
        writer.fill(LogWriter::create(create(file.path()?)?, &options)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logwriter_append(mut writer: Owner<LogWriter>, file: Name) -> c_int {
    answer(|| {
        writer.check()?;
        writer.fill(append(file.path()?)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logwriter_put(
    mut writer: Unique<LogWriter>,
    key_len: u64,
    key: Bytes,
    value_len: u64,
    value: Bytes,
) -> c_int {
    answer(|| Ok(writer.get(Code::LogClosed)?.put(key.get(key_len)?, value.get(value_len)?)?))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logwriter_delete(
    mut writer: Unique<LogWriter>,
    key_len: u64,
    key: Bytes,
) -> c_int {
    answer(|| Ok(writer.get(Code::LogClosed)?.delete(key.get(key_len)?)?))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logwriter_flush(mut writer: Unique<LogWriter>) -> c_int {
    answer(|| Ok(writer.get(Code::LogClosed)?.flush()?))
}

/// What cannot be flushed stays open, as in C.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logwriter_close(mut writer: Owner<LogWriter>) -> c_int {
    answer(|| {
        writer.get().map_or(Ok(()), LogWriter::flush)?;
        writer.close();
        Ok(())
    })
}

fn options(compression: c_int, block_size: c_int) -> Outcome<LogOptions> {
    let known = u32::try_from(compression).ok().and_then(Compression::from_code);
    let compression = known.ok_or(Code::InvalidCompressionType)?;
    // Without compression, whatever it is means nothing.
    let block_size = if compression == Compression::None { 0 } else { u32::try_from(block_size).unwrap_or(0) };
    check_block_size(compression, block_size)?;
    Ok(LogOptions { compression, block_size })
}

fn check_block_size(compression: Compression, block_size: u32) -> Outcome {
    let fits = compression == Compression::None || (BLOCK_SIZE_MIN..=c_int::MAX as u32).contains(&block_size);
    if fits { Ok(()) } else { Err(Code::InvalidCompressionBlockSize) }
}

/// A new file in place of one that may be there, whose readers keep it.
fn create(path: &Path) -> Outcome<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error)?,
        _ => Ok(OpenOptions::new().write(true).create(true).truncate(true).mode(0o644).open(path)?),
    }
}

fn append(path: &Path) -> Outcome<LogWriter> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(LogHeader::SIZE as u64).read_to_end(&mut bytes)?;
    let header = LogHeader::parse(&bytes).map_err(|_| refused(&bytes))?;
    check_block_size(header.compression, header.block_size)?;
    let len = file.metadata()?.len();
    if header.data_end > len {
        return Err(Code::LogTooSmall);
    }
    Ok(LogWriter::append(file)?)
}
