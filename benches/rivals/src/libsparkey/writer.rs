//! Writing a log, and the index of a log.

use std::path::Path;
use std::ptr;

use sparkey_sys as c;

use super::failure::check;
use super::{Compression, Result, c_path};

/// An open log. What is put is readable after [`LogWriter::finish`]; dropping it without loses the unwritten rest.
pub struct LogWriter {
    /// From the library's `create` or `append`; null once it closed it.
    handle: *mut c::logwriter,
}

impl LogWriter {
    /// Starts a log, in place of what `path` names now.
    pub fn create(path: &Path, compression: Compression) -> Result<Self> {
        let (kind, block_size) = match compression {
            Compression::None => (c::compression_type::COMPRESSION_NONE, 0),
            Compression::Snappy(block_size) => (c::compression_type::COMPRESSION_SNAPPY, block_size.cast_signed()),
        };
        let mut handle = ptr::null_mut();
        // SAFETY: both pointers are valid for the call, which writes `handle` if it succeeds.
        check("create the log", unsafe {
            c::logwriter_create(&raw mut handle, c_path(path).as_ptr(), kind, block_size)
        })?;
        Ok(Self { handle })
    }

    /// Continues a log that is there.
    pub fn append(path: &Path) -> Result<Self> {
        let mut handle = ptr::null_mut();
        // SAFETY: both pointers are valid for the call, which writes `handle` if it succeeds.
        check("append to the log", unsafe { c::logwriter_append(&raw mut handle, c_path(path).as_ptr()) })?;
        Ok(Self { handle })
    }

    /// Appends a put.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (key_len, value_len) = (key.len() as u64, value.len() as u64);
        // SAFETY: `handle` is open until `finish` takes `self`; the slices outlive the call, which only reads them.
        check("put", unsafe { c::logwriter_put(self.handle, key_len, key.as_ptr(), value_len, value.as_ptr()) })
    }

    /// Appends a delete.
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        // SAFETY: as in `put`.
        check("delete", unsafe { c::logwriter_delete(self.handle, key.len() as u64, key.as_ptr()) })
    }

    /// Writes what is buffered and the header, and closes the file.
    pub fn finish(mut self) -> Result<()> {
        self.close()
    }

    fn close(&mut self) -> Result<()> {
        // SAFETY: `handle` is open; the call frees it and writes null, or fails and leaves it open.
        check("close the log", unsafe { c::logwriter_close(&raw mut self.handle) })
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        // A log that cannot be closed cannot be freed either: the library knows no other way. It leaks.
        if !self.handle.is_null() {
            let _ = self.close();
        }
    }
}

/// Writes the index of a log, or brings one that is there up to date. `hash_size` is 4, 8, or 0 to let the library choose.
///
/// Never ask for another hash size than the index that is there has: the library then may search for a free slot for ever.
pub fn write_index(log: &Path, index: &Path, hash_size: i32) -> Result<()> {
    // SAFETY: both paths are valid for the call.
    check("write the index", unsafe { c::hash_write(c_path(index).as_ptr(), c_path(log).as_ptr(), hash_size) })
}
