//! Berkeley DB 5.3: a hash database without a file, in a cache that is larger than what it will hold. The calls are made by
//! `berkeley_db.c`.

use std::ffi::{CStr, c_char, c_int};
use std::io::{Error, Result};
use std::ptr::{self, NonNull};

use super::{Growth, Store};

/// The cache is mapped, not touched, before it is used.
const CACHE_GIB: u32 = 64;

#[repr(C)]
struct Database {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    static berkeley_not_found: c_int;
    static berkeley_too_small: c_int;
    fn berkeley_open(db: *mut *mut Database, cache_gib: u32, keys: u32) -> c_int;
    fn berkeley_close(db: *mut Database);
    fn berkeley_put(db: *mut Database, key: u64, value: *const u8, len: u32) -> c_int;
    fn berkeley_get(db: *mut Database, key: u64, value: *mut u8, len: *mut u32) -> c_int;
    fn berkeley_append(db: *mut Database, key: u64, bytes: *const u8, len: u32) -> c_int;
    fn berkeley_delete(db: *mut Database, key: u64) -> c_int;
    fn berkeley_message(failed: c_int) -> *const c_char;
}

/// A database in memory.
pub struct BerkeleyDb {
    db: NonNull<Database>,
    growth: Growth,
}

impl BerkeleyDb {
    /// An empty one, for so many keys.
    pub fn new(expected: u64) -> Result<Self> {
        let growth = Growth::begin()?;
        let keys = u32::try_from(expected).unwrap_or(u32::MAX);
        let mut db = ptr::null_mut();
        // SAFETY: the handle's place is ours; what is written there is ours until `berkeley_close`.
        done(unsafe { berkeley_open(&raw mut db, CACHE_GIB, keys) })?;
        Ok(Self { db: NonNull::new(db).expect("an open database has a handle"), growth })
    }
}

fn done(returned: c_int) -> Result<()> {
    if returned == 0 {
        return Ok(());
    }
    // SAFETY: a constant that ends with a zero, for any number.
    let message = unsafe { CStr::from_ptr(berkeley_message(returned)) };
    Err(Error::other(format!("Berkeley DB: {}", message.to_string_lossy())))
}

/// Whether the record was there.
fn found(returned: c_int) -> Result<bool> {
    // SAFETY: a constant.
    if returned == unsafe { berkeley_not_found } { Ok(false) } else { done(returned).map(|()| true) }
}

fn length(bytes: &[u8]) -> Result<u32> {
    u32::try_from(bytes.len()).map_err(|_| Error::other("Berkeley DB takes values below 4 GiB"))
}

impl Store for BerkeleyDb {
    fn put(&mut self, key: u64, value: &[u8]) -> Result<()> {
        // SAFETY: the handle is live; the library reads so many bytes, and copies them.
        done(unsafe { berkeley_put(self.db.as_ptr(), key, value.as_ptr(), length(value)?) })
    }

    /// Grows the buffer to what the value takes, and asks again.
    fn get(&mut self, key: u64, value: &mut Vec<u8>) -> Result<bool> {
        loop {
            value.clear();
            let mut len = u32::try_from(value.capacity()).unwrap_or(u32::MAX);
            // SAFETY: the handle is live, and the library writes at most as many bytes as the buffer has room for.
            let returned = unsafe { berkeley_get(self.db.as_ptr(), key, value.as_mut_ptr(), &raw mut len) };
            // SAFETY: a constant.
            if returned == unsafe { berkeley_too_small } {
                value.reserve(len as usize);
                continue;
            }
            let found = found(returned)?;
            if found {
                // SAFETY: so many bytes of the buffer were written.
                unsafe { value.set_len(len as usize) };
            }
            return Ok(found);
        }
    }

    fn append(&mut self, key: u64, bytes: &[u8]) -> Result<()> {
        // SAFETY: as in `put`.
        done(unsafe { berkeley_append(self.db.as_ptr(), key, bytes.as_ptr(), length(bytes)?) })
    }

    fn delete(&mut self, key: u64) -> Result<bool> {
        // SAFETY: the handle is live.
        found(unsafe { berkeley_delete(self.db.as_ptr(), key) })
    }

    fn memory_used(&mut self) -> Result<u64> {
        self.growth.bytes()
    }
}

impl Drop for BerkeleyDb {
    fn drop(&mut self) {
        // SAFETY: the handle is live, and nobody has it any more.
        unsafe { berkeley_close(self.db.as_ptr()) };
    }
}
