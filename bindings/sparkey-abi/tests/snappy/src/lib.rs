//! What Spotify's library wants of `snappy-c.h`, over the compressor that our logs are packed with. With one compressor under
//! both libraries, their logs can be compared byte for byte.

use std::ffi::c_int;
use std::slice;

const OK: c_int = 0;
const INVALID_INPUT: c_int = 1;
const BUFFER_TOO_SMALL: c_int = 2;

/// The most bytes that so many can be packed to.
#[unsafe(no_mangle)]
pub extern "C" fn snappy_max_compressed_length(len: usize) -> usize {
    snap::raw::max_compress_len(len)
}

/// Packs `len` bytes at `input` into the `*out_len` at `out`; `*out_len` becomes the number of bytes written.
///
/// # Safety
/// As `snappy-c.h` has it: the bytes of both ranges are the caller's, and apart.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn snappy_compress(input: *const u8, len: usize, out: *mut u8, out_len: *mut usize) -> c_int {
    // SAFETY: the caller's promise; a writer never packs an empty block, so neither pointer is null.
    let (input, out, out_len) = unsafe { (slice::from_raw_parts(input, len), slice(out, *out_len), &mut *out_len) };
    answer(&snap::raw::Encoder::new().compress(input, out), out_len)
}

/// The other way round.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn snappy_uncompress(input: *const u8, len: usize, out: *mut u8, out_len: *mut usize) -> c_int {
    // SAFETY: the caller's promise; a reader has read a block, and has room for one, before it asks.
    let (input, out, out_len) = unsafe { (slice::from_raw_parts(input, len), slice(out, *out_len), &mut *out_len) };
    answer(&snap::raw::Decoder::new().decompress(input, out), out_len)
}

/// # Safety
/// The bytes are the caller's to write for as long as the slice is used.
unsafe fn slice<'a>(start: *mut u8, len: usize) -> &'a mut [u8] {
    // SAFETY: the caller's promise. Uninitialised bytes are written to before they are read.
    unsafe { slice::from_raw_parts_mut(start, len) }
}

fn answer(outcome: &Result<usize, snap::Error>, out_len: &mut usize) -> c_int {
    match outcome {
        Ok(len) => {
            *out_len = *len;
            OK
        }
        Err(snap::Error::BufferTooSmall { .. }) => BUFFER_TOO_SMALL,
        Err(_) => INVALID_INPUT,
    }
}
