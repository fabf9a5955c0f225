//! Bytes that cross the border: keys and paths on their way in, values on their way out.

use std::borrow::Cow;
use std::ffi::{CStr, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{ptr, slice};

use hammerspace::Result;

use crate::error::invalid;

/// Bytes that somebody else owns. They need not end with a NUL, and may hold any.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// The first byte. NULL means that there is nothing: no key, no value. Of empty bytes it is not NULL when we give
    /// them, and may be NULL when you do.
    pub data: *const c_char,
    /// How many bytes there are.
    pub len: usize,
}

impl Slice {
    /// No bytes at all, as opposed to empty ones.
    pub(crate) const NOTHING: Self = Self { data: ptr::null(), len: 0 };

    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr().cast(), len: bytes.len() }
    }
}

/// A value: bytes, and what keeps them.
///
/// The bytes are valid until hammerspace_value_free, and no longer than the table they came from. Freeing costs nothing
/// where the table is not compressed: its values lie in the mapped file.
#[repr(C)]
pub struct Value {
    /// The first byte; NULL if the key is not there.
    pub data: *const c_char,
    /// How many bytes there are.
    pub len: usize,
    /// For the library: what hammerspace_value_free frees.
    pub owner: Option<Box<Owner>>,
}

/// What holds the bytes of a value that had to be unpacked.
pub struct Owner {
    _bytes: Vec<u8>,
}

impl Value {
    /// What a key has that is not there.
    pub(crate) const NOTHING: Self = Self { data: ptr::null(), len: 0, owner: None };

    pub(crate) fn of(found: Option<Cow<'_, [u8]>>) -> Self {
        let Some(found) = found else { return Self::NOTHING };
        let Slice { data, len } = Slice::of(&found);
        let owner = match found {
            Cow::Borrowed(_) => None,
            // The bytes stay where they are when the vector that owns them moves.
            Cow::Owned(bytes) => Some(Box::new(Owner { _bytes: bytes })),
        };
        Self { data, len, owner }
    }
}

/// Frees a value, which then is nothing. One that is nothing is fine, and so is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_value_free(value: Option<&mut Value>) {
    if let Some(value) = value {
        *value = Value::NOTHING;
    }
}

/// Frees `count` values in a row, as hammerspace_table_get_many gives them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_values_free(values: *mut Value, count: usize) {
    if !values.is_null() {
        // SAFETY: the caller says that there are `count` values, which nobody else uses.
        unsafe { slice::from_raw_parts_mut(values, count) }.fill_with(|| Value::NOTHING);
    }
}

/// The bytes at a pointer.
///
/// # Safety
/// `data` is NULL, or points to `len` bytes that stay what they are for as long as `'a` is used.
pub(crate) unsafe fn bytes<'a>(data: *const c_void, len: usize) -> Result<&'a [u8]> {
    match (data.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(invalid(format!("{len} bytes at NULL were given"))),
        // SAFETY: as promised; and no object is larger than half of the addresses there are.
        (false, _) => Ok(unsafe { slice::from_raw_parts(data.cast(), len) }),
    }
}

/// The path at a pointer.
///
/// # Safety
/// `path` is NULL, or points to text that ends with a NUL and stays what it is for as long as `'a` is used.
pub(crate) unsafe fn path<'a>(path: *const c_char) -> Result<&'a Path> {
    if path.is_null() {
        return Err(invalid("the path is NULL"));
    }
    // SAFETY: as promised.
    let path = unsafe { CStr::from_ptr(path) };
    Ok(Path::new(OsStr::from_bytes(path.to_bytes())))
}
