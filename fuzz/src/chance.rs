//! No chance: maps hash by the same keys in every run, so that the same seed tries the same inputs.
//!
//! The standard library and others draw their keys by `getrandom`; here the linker finds this one first.

/// Fills a buffer with zeros, in place of the function of libc.
///
/// # Safety
///
/// `buffer` has `len` bytes that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut u8, len: usize, _flags: u32) -> isize {
    // SAFETY: the caller's promise.
    unsafe { buffer.write_bytes(0, len) };
    len.cast_signed()
}
