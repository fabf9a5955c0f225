//! RocksDB, whose log-structured tree is made for disks: here its files lie in memory (`/dev/shm`), without a write-ahead log, not
//! compressed, and set up for single keys, through the library's C interface (`rocksdb/c.h`).

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io::{Error, Result};
use std::path::Path;
use std::ptr::{NonNull, null_mut};

use tempfile::TempDir;

use super::{Growth, Store};

/// Of the cache of blocks: more than the benches put into it.
const CACHE_MB: u64 = 4096;
/// `rocksdb_no_compression`.
const NO_COMPRESSION: c_int = 0;

/// What the library gives is used behind pointers.
type Handle = *mut c_void;

unsafe extern "C" {
    fn rocksdb_options_create() -> Handle;
    fn rocksdb_options_destroy(options: Handle);
    fn rocksdb_options_set_create_if_missing(options: Handle, create: u8);
    fn rocksdb_options_set_compression(options: Handle, kind: c_int);
    fn rocksdb_options_optimize_for_point_lookup(options: Handle, cache_mb: u64);
    fn rocksdb_writeoptions_create() -> Handle;
    fn rocksdb_writeoptions_destroy(options: Handle);
    fn rocksdb_writeoptions_disable_WAL(options: Handle, disable: c_int);
    fn rocksdb_readoptions_create() -> Handle;
    fn rocksdb_readoptions_destroy(options: Handle);
    fn rocksdb_open(options: Handle, path: *const c_char, error: *mut *mut c_char) -> Handle;
    fn rocksdb_close(db: Handle);
    fn rocksdb_put(
        db: Handle,
        options: Handle,
        key: *const u8,
        key_len: usize,
        value: *const u8,
        value_len: usize,
        error: *mut *mut c_char,
    );
    fn rocksdb_delete(db: Handle, options: Handle, key: *const u8, key_len: usize, error: *mut *mut c_char);
    fn rocksdb_get_pinned(
        db: Handle,
        options: Handle,
        key: *const u8,
        key_len: usize,
        error: *mut *mut c_char,
    ) -> Handle;
    fn rocksdb_pinnableslice_value(slice: Handle, len: *mut usize) -> *const u8;
    fn rocksdb_pinnableslice_destroy(slice: Handle);
    fn rocksdb_free(memory: *mut c_void);
}

/// A database whose files go with it.
pub struct RocksDb {
    db: NonNull<c_void>,
    write: Handle,
    read: Handle,
    directory: TempDir,
    growth: Growth,
}

impl RocksDb {
    /// An empty one.
    pub fn new() -> Result<Self> {
        let (growth, directory) = (Growth::begin()?, tempfile::tempdir_in("/dev/shm")?);
        Ok(Self { db: open(directory.path())?, write: write_options(), read: read_options(), directory, growth })
    }
}

/// Opens a database that lies in a directory.
fn open(directory: &Path) -> Result<NonNull<c_void>> {
    let path = CString::new(directory.as_os_str().as_encoded_bytes())?;
    checked(|error| {
        // SAFETY: the options are ours until they are destroyed, the path ends with a zero, and `error` is there to be written to.
        unsafe {
            let options = rocksdb_options_create();
            rocksdb_options_set_create_if_missing(options, 1);
            rocksdb_options_set_compression(options, NO_COMPRESSION);
            rocksdb_options_optimize_for_point_lookup(options, CACHE_MB);
            let db = rocksdb_open(options, path.as_ptr(), error);
            rocksdb_options_destroy(options);
            db
        }
    })
    .map(|db| NonNull::new(db).expect("the library gives a handle or an error"))
}

fn write_options() -> Handle {
    // SAFETY: they are ours until they are destroyed.
    unsafe {
        let options = rocksdb_writeoptions_create();
        rocksdb_writeoptions_disable_WAL(options, 1);
        options
    }
}

fn read_options() -> Handle {
    // SAFETY: they are ours until they are destroyed.
    unsafe { rocksdb_readoptions_create() }
}

/// Makes a call that may leave a message, which then is the error.
fn checked<T>(call: impl FnOnce(*mut *mut c_char) -> T) -> Result<T> {
    let mut message = null_mut();
    let given = call(&raw mut message);
    if message.is_null() {
        return Ok(given);
    }
    // SAFETY: the library leaves a string that ends with a zero, which is ours to free.
    let text = unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        rocksdb_free(message.cast());
        text
    };
    Err(Error::other(format!("RocksDB: {text}")))
}

impl Store for RocksDb {
    fn put(&mut self, key: u64, value: &[u8]) -> Result<()> {
        let (db, key) = (self.db.as_ptr(), key.to_le_bytes());
        checked(|error| {
            // SAFETY: the handles are live; the library reads so many bytes of key and value, and copies them.
            unsafe { rocksdb_put(db, self.write, key.as_ptr(), key.len(), value.as_ptr(), value.len(), error) }
        })
    }

    fn get(&mut self, key: u64, value: &mut Vec<u8>) -> Result<bool> {
        let (db, key) = (self.db.as_ptr(), key.to_le_bytes());
        value.clear();
        checked(|error| {
            // SAFETY: the handles are live. The value, where there is one, stays until its slice is destroyed.
            unsafe {
                let slice = rocksdb_get_pinned(db, self.read, key.as_ptr(), key.len(), error);
                if slice.is_null() {
                    return false;
                }
                let mut len = 0;
                let bytes = rocksdb_pinnableslice_value(slice, &raw mut len);
                value.extend_from_slice(std::slice::from_raw_parts(bytes, len));
                rocksdb_pinnableslice_destroy(slice);
                true
            }
        })
    }

    /// Reads and puts: to merge takes an operator of one's own, whose work is done when it is read.
    fn append(&mut self, key: u64, bytes: &[u8]) -> Result<()> {
        let mut value = Vec::new();
        self.get(key, &mut value)?;
        value.extend_from_slice(bytes);
        self.put(key, &value)
    }

    fn delete(&mut self, key: u64) -> Result<bool> {
        let was_there = self.get(key, &mut Vec::new())?;
        let (db, key) = (self.db.as_ptr(), key.to_le_bytes());
        // SAFETY: the handles are live, and the library reads so many bytes of the key.
        checked(|error| unsafe { rocksdb_delete(db, self.write, key.as_ptr(), key.len(), error) })?;
        Ok(was_there)
    }

    /// With the files, which are in memory too.
    fn memory_used(&mut self) -> Result<u64> {
        let files = std::fs::read_dir(self.directory.path())?.map(|entry| Ok(entry?.metadata()?.len()));
        Ok(self.growth.bytes()? + files.sum::<Result<u64>>()?)
    }
}

impl Drop for RocksDb {
    fn drop(&mut self) {
        // SAFETY: the handles are live, and nobody has them any more.
        unsafe {
            rocksdb_readoptions_destroy(self.read);
            rocksdb_writeoptions_destroy(self.write);
            rocksdb_close(self.db.as_ptr());
        }
    }
}
