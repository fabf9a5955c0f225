//! The names of a log and of its index, one from the other.

use crate::handle::{Name, freeable};
use std::ffi::{CString, c_char};
use std::ptr;

/// Spotify's library answers longer names with null.
const LEN_MAX: usize = 10_000;

/// `NAME.spl` for `NAME.spi`; null for other names. The caller frees it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn sparkey_create_log_filename(index: Name) -> *mut c_char {
    sibling(&index, b".spi", b".spl")
}

/// `NAME.spi` for `NAME.spl`; null for other names. The caller frees it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn sparkey_create_index_filename(log: Name) -> *mut c_char {
    sibling(&log, b".spl", b".spi")
}

fn sibling(name: &Name, from: &[u8], to: &[u8]) -> *mut c_char {
    let stem = name.text().filter(|text| text.len() <= LEN_MAX).and_then(|text| text.strip_suffix(from));
    let sibling = stem.and_then(|stem| CString::new([stem, to].concat()).ok());
    sibling.map_or(ptr::null_mut(), |sibling| freeable(&sibling))
}
