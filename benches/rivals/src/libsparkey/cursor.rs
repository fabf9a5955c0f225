//! Reading a pair of log and index.

use std::path::Path;
use std::ptr;

use sparkey_sys as c;

use super::api::Functions;
use super::failure::check;
use super::{Api, Result, c_path};

/// An open pair, both files mapped.
#[derive(Debug)]
pub struct Reader<'l> {
    functions: &'l Functions,
    /// From the library's `open`, which maps the files until `drop` closes it.
    handle: *mut c::hashreader,
}

impl Reader<'static> {
    /// Maps a log and its index, and checks that they belong together.
    pub fn open(log: &Path, index: &Path) -> Result<Self> {
        Reader::open_with(&Api::LINKED, log, index)
    }
}

impl<'l> Reader<'l> {
    /// The same, with another library of the same interface.
    pub fn open_with(api: &'l Api, log: &Path, index: &Path) -> Result<Self> {
        let mut handle = ptr::null_mut();
        // SAFETY: the pointers are valid for the call, which writes `handle` if it succeeds.
        check("open the pair", unsafe {
            (api.functions.hash_open)(&raw mut handle, c_path(index).as_ptr(), c_path(log).as_ptr())
        })?;
        Ok(Self { functions: &api.functions, handle })
    }

    /// How many live keys there are.
    #[expect(clippy::len_without_is_empty, reason = "a peer shows what it has")]
    pub fn len(&self) -> u64 {
        // SAFETY: `handle` is open for as long as `self` is.
        unsafe { (self.functions.hash_numentries)(self.handle) }
    }

    /// The longest key and the longest value that the log's header admits to.
    pub fn max_lens(&self) -> (u64, u64) {
        // SAFETY: `log` is part of the reader, open for as long as `self` is.
        unsafe {
            ((self.functions.logreader_maxkeylen)(self.log()), (self.functions.logreader_maxvaluelen)(self.log()))
        }
    }

    /// A cursor before the first entry.
    pub fn cursor(&self) -> Result<Cursor<'_>> {
        let mut handle = ptr::null_mut();
        // SAFETY: the log is open; the call writes `handle` if it succeeds.
        check("make a cursor", unsafe { (self.functions.logiter_create)(&raw mut handle, self.log()) })?;
        Ok(Cursor { functions: self.functions, reader: self, handle, key: Vec::new(), value: Vec::new() })
    }

    fn log(&self) -> *mut c::logreader {
        // SAFETY: `handle` is open; the result points into it.
        unsafe { (self.functions.hash_getreader)(self.handle) }
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        // SAFETY: opened in `open`, closed only here; no cursor is left, since each borrows `self`.
        unsafe { (self.functions.hash_close)(&raw mut self.handle) }
    }
}

/// A place in the log, and buffers for what cannot be shown in place.
pub struct Cursor<'r> {
    functions: &'r Functions,
    reader: &'r Reader<'r>,
    /// From the library's `logiter_create` on the log of `reader`, until `drop` closes it.
    handle: *mut c::logiter,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Cursor<'_> {
    /// The value of `key`: in place where it lies in one piece, as it always does without compression; else copied.
    pub fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>> {
        // SAFETY: reader and cursor are open and belong together; `key` outlives the call, which only reads it.
        check("look up", unsafe {
            (self.functions.hash_get)(self.reader.handle, key.as_ptr(), key.len() as u64, self.handle)
        })?;
        if self.is_active() { self.current_value().map(Some) } else { Ok(None) }
    }

    /// Moves to the next entry of the log, put or delete; gives the lengths of its key and value, and `None` at the end.
    pub fn step(&mut self) -> Result<Option<(u64, u64)>> {
        // SAFETY: reader and cursor are open and belong together.
        check("go on", unsafe { (self.functions.logiter_next)(self.handle, self.reader.log()) })?;
        if !self.is_active() {
            return Ok(None);
        }
        // SAFETY: the cursor is active.
        Ok(Some(unsafe {
            ((self.functions.logiter_keylen)(self.handle), (self.functions.logiter_valuelen)(self.handle))
        }))
    }

    /// The next live entry in log order, copied.
    #[expect(clippy::should_implement_trait, reason = "it lends from the cursor, which an iterator cannot")]
    pub fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        // SAFETY: reader and cursor are open and belong together.
        check("go on", unsafe { (self.functions.logiter_hashnext)(self.handle, self.reader.handle) })?;
        if !self.is_active() {
            return Ok(None);
        }
        let log = self.reader.log();
        // SAFETY: the cursor is active. Each buffer has room for the whole length that the library says it will fill.
        let (key_len, value_len) =
            unsafe { ((self.functions.logiter_keylen)(self.handle), (self.functions.logiter_valuelen)(self.handle)) };
        self.key.resize(key_len as usize, 0);
        self.value.resize(value_len as usize, 0);
        let (mut key_filled, mut value_filled) = (0, 0);
        // SAFETY: as above; `maxlen` is the length of the buffer.
        check("read the key", unsafe {
            (self.functions.logiter_fill_key)(self.handle, log, key_len, self.key.as_mut_ptr(), &raw mut key_filled)
        })?;
        // SAFETY: as above.
        check("read the value", unsafe {
            (self.functions.logiter_fill_value)(
                self.handle,
                log,
                value_len,
                self.value.as_mut_ptr(),
                &raw mut value_filled,
            )
        })?;
        Ok(Some((&self.key[..key_filled as usize], &self.value[..value_filled as usize])))
    }

    fn current_value(&mut self) -> Result<&[u8]> {
        // SAFETY: the cursor is active.
        let whole = unsafe { (self.functions.logiter_valuelen)(self.handle) };
        let mut piece = self.chunk(whole)?;
        if piece.len() as u64 == whole {
            // SAFETY: see `chunk`; the borrow of `self` keeps the piece as it is.
            return Ok(unsafe { &*piece });
        }
        self.value.clear();
        while !piece.is_empty() {
            // SAFETY: see `chunk`; it is copied before the next call.
            self.value.extend_from_slice(unsafe { &*piece });
            piece = self.chunk(whole)?;
        }
        Ok(&self.value)
    }

    /// The next piece of the current value, in place: in the mapped log or in the cursor's block, where it stays as it is
    /// until the next call that takes `&mut self`. Empty when there is no more.
    fn chunk(&mut self, len_max: u64) -> Result<*const [u8]> {
        let (mut start, mut len) = (ptr::null_mut(), 0);
        // SAFETY: reader and cursor are open and belong together; the call writes `len`, and `start` unless `len` is 0.
        check("read the value", unsafe {
            (self.functions.logiter_valuechunk)(self.handle, self.reader.log(), len_max, &raw mut start, &raw mut len)
        })?;
        Ok(if len == 0 { &[] } else { ptr::slice_from_raw_parts(start, len as usize) })
    }

    fn is_active(&self) -> bool {
        // SAFETY: the cursor is open.
        matches!(unsafe { (self.functions.logiter_state)(self.handle) }, c::iter_state::ITER_ACTIVE)
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        // SAFETY: opened in `Reader::cursor`, closed only here, while the reader is still open.
        unsafe { (self.functions.logiter_close)(&raw mut self.handle) }
    }
}
