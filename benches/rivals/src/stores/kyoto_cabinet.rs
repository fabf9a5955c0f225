//! Kyoto Cabinet's `StashDB`, the most economical of its databases in memory: a hash table of as many buckets as it is told, through
//! the library's C interface (`kclangc.h`).

use std::ffi::{CStr, CString, c_char, c_void};
use std::io::{Error, Result};
use std::ptr::NonNull;

use super::{Growth, Store};

/// `KCOWRITER | KCOCREATE`.
const WRITER_CREATE: u32 = 1 << 1 | 1 << 2;
/// `KCENOREC`.
const NO_RECORD: i32 = 7;

#[repr(C)]
struct Database {
    db: *mut c_void,
}

unsafe extern "C" {
    fn kcdbnew() -> *mut Database;
    fn kcdbdel(db: *mut Database);
    fn kcdbopen(db: *mut Database, path: *const c_char, mode: u32) -> i32;
    fn kcdbclose(db: *mut Database) -> i32;
    fn kcdbecode(db: *mut Database) -> i32;
    fn kcdbemsg(db: *mut Database) -> *const c_char;
    fn kcdbset(db: *mut Database, key: *const u8, key_len: usize, value: *const u8, value_len: usize) -> i32;
    fn kcdbappend(db: *mut Database, key: *const u8, key_len: usize, value: *const u8, value_len: usize) -> i32;
    fn kcdbremove(db: *mut Database, key: *const u8, key_len: usize) -> i32;
    fn kcdbgetbuf(db: *mut Database, key: *const u8, key_len: usize, buffer: *mut u8, max: usize) -> i32;
}

/// A database in memory.
pub struct KyotoCabinet {
    db: NonNull<Database>,
    growth: Growth,
}

impl KyotoCabinet {
    /// An empty one, for so many keys.
    pub fn new(expected: u64) -> Result<Self> {
        let growth = Growth::begin()?;
        // SAFETY: it takes nothing, and gives a handle that is ours until `kcdbdel`.
        let db = NonNull::new(unsafe { kcdbnew() }).expect("the library gives a handle");
        let cabinet = Self { db, growth };
        let path = CString::new(format!(":#bnum={}", 2 * expected.max(1)))?;
        // SAFETY: the handle is live, and the path ends with a zero.
        let opened = unsafe { kcdbopen(cabinet.db.as_ptr(), path.as_ptr(), WRITER_CREATE) };
        cabinet.done(opened)?;
        Ok(cabinet)
    }

    fn done(&self, returned: i32) -> Result<()> {
        if returned != 0 { Ok(()) } else { Err(self.error()) }
    }

    /// Whether the last call failed for want of a record; what is wrong, if it was something else.
    fn lacks_record(&self) -> Result<()> {
        // SAFETY: the handle is live.
        if unsafe { kcdbecode(self.db.as_ptr()) } == NO_RECORD { Ok(()) } else { Err(self.error()) }
    }

    fn error(&self) -> Error {
        // SAFETY: the handle is live, and its message a constant that ends with a zero.
        let message = unsafe { CStr::from_ptr(kcdbemsg(self.db.as_ptr())) };
        Error::other(format!("Kyoto Cabinet: {}", message.to_string_lossy()))
    }
}

/// Where bytes are. Inside the library a value at address 1 stands for "remove this", and 1 is where Rust has an empty slice.
fn address(bytes: &[u8]) -> *const u8 {
    static SOMEWHERE: u8 = 0;
    if bytes.is_empty() { &raw const SOMEWHERE } else { bytes.as_ptr() }
}

impl Store for KyotoCabinet {
    fn put(&mut self, key: u64, value: &[u8]) -> Result<()> {
        let key = key.to_le_bytes();
        // SAFETY: the handle is live; the library reads so many bytes of key and value, and copies them.
        self.done(unsafe { kcdbset(self.db.as_ptr(), key.as_ptr(), key.len(), address(value), value.len()) })
    }

    /// Grows the buffer to what the value takes: the library says how much that is, whatever the buffer holds.
    fn get(&mut self, key: u64, value: &mut Vec<u8>) -> Result<bool> {
        let key = key.to_le_bytes();
        loop {
            value.clear();
            let room = value.capacity();
            // SAFETY: the handle is live, and the library writes at most as many bytes as the buffer has room for.
            let len = unsafe { kcdbgetbuf(self.db.as_ptr(), key.as_ptr(), key.len(), value.as_mut_ptr(), room) };
            let Ok(len) = usize::try_from(len) else { return self.lacks_record().map(|()| false) };
            if len <= room {
                // SAFETY: so many bytes of the buffer were written.
                unsafe { value.set_len(len) };
                return Ok(true);
            }
            value.reserve(len);
        }
    }

    fn append(&mut self, key: u64, bytes: &[u8]) -> Result<()> {
        let key = key.to_le_bytes();
        // SAFETY: as in `put`.
        self.done(unsafe { kcdbappend(self.db.as_ptr(), key.as_ptr(), key.len(), address(bytes), bytes.len()) })
    }

    fn delete(&mut self, key: u64) -> Result<bool> {
        let key = key.to_le_bytes();
        // SAFETY: the handle is live, and the library reads so many bytes of the key.
        let removed = unsafe { kcdbremove(self.db.as_ptr(), key.as_ptr(), key.len()) } != 0;
        if removed { Ok(true) } else { self.lacks_record().map(|()| false) }
    }

    fn memory_used(&mut self) -> Result<u64> {
        self.growth.bytes()
    }
}

impl Drop for KyotoCabinet {
    fn drop(&mut self) {
        // SAFETY: the handle is live, and nobody has it any more.
        unsafe {
            kcdbclose(self.db.as_ptr());
            kcdbdel(self.db.as_ptr());
        }
    }
}
