//! Text beyond ASCII as `str`, made up to five times faster than Python's own decoder makes it.
//!
//! That decoder goes from character to character, and copies the string whenever it comes to a wider one; nobody can foresee its
//! branches. Here 16 bytes are decoded at once, without any:
//!
//! ```text
//! bytes             d0   9f   c3   a9   e2   82   ac   21   -        П é € !
//! ended before      .    .    041f .    00e9 .    .    20ac 0021     with the byte before; else nonsense
//! continues         -    yes  -    yes  -    yes  yes  -    -        where it does not, a character has ended
//! squeezed          .    041f 00e9 20ac 0021
//! ```
//! What always holds:
//! 1. The string is the one that Python's decoder gives, as narrow as that. Or there is none, and Python's decoder has its turn: it
//!    says what is wrong with what is no UTF-8, and knows the rare characters that take four bytes.
//! 2. Nothing is trusted: a file may hold any bytes.
//!
//! See "Python's `h[key]`" in the design notes.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_alignr_epi8, _mm_and_si128, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_cmplt_epi8,
    _mm_cvtsi32_si128, _mm_loadu_si128, _mm_max_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    _mm_setzero_si128, _mm_shuffle_epi8, _mm_storeu_si128, _mm_testz_si128, _mm_xor_si128, _mm256_castsi256_si128,
    _mm256_cvtepu8_epi16, _mm256_extracti128_si256, _mm256_or_si256, _mm256_sll_epi16,
};
use std::ffi::{c_int, c_void};
use std::mem::{MaybeUninit, transmute};
use std::sync::LazyLock;

use pyo3::ffi;
use pyo3::prelude::*;

/// Bytes that are decoded at once.
const BLOCK: usize = 16;
/// Bytes of the longest text whose characters are put on the stack, in less than a page of it.
const SHORT: usize = 1984;

/// Makes a string of that many characters of that kind, as narrow as it can be: `PyUnicode_FromKindAndData`. It has been public since
/// Python 3.3, but is not in the stable ABI.
type Make = unsafe extern "C" fn(kind: c_int, characters: *const c_void, len: ffi::Py_ssize_t) -> *mut ffi::PyObject;

/// `PyUnicode_2BYTE_KIND` in CPython's `unicodeobject.h`.
const TWO_BYTES: c_int = 2;

/// There is none where the interpreter lacks the function, or the processor the instructions.
static MAKE: LazyLock<Option<Make>> = LazyLock::new(|| {
    if !is_x86_feature_detected!("avx2") || !is_x86_feature_detected!("popcnt") {
        return None;
    }
    // SAFETY: the name ends with NUL. What is found is NULL, which is `None`, or the interpreter's function of that name.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"PyUnicode_FromKindAndData".as_ptr());
        transmute::<*mut c_void, Option<Make>>(found)
    }
});

/// The string of a text; `None` if it is left to Python's decoder.
#[inline]
pub(crate) fn made<'py>(py: Python<'py>, text: &[u8]) -> Option<PyResult<Bound<'py, PyAny>>> {
    // Of ASCII Python's decoder makes a string at once.
    if text.is_ascii() {
        return None;
    }
    let make = (*MAKE)?;
    if text.len() > SHORT {
        return made_of_long(py, text, make);
    }
    made_by_way_of([MaybeUninit::uninit(); SHORT + BLOCK], py, text, make)
}

#[cold]
fn made_of_long<'py>(py: Python<'py>, text: &[u8], make: Make) -> Option<PyResult<Bound<'py, PyAny>>> {
    let mut units = Vec::new();
    // Where memory is scarce, it is Python that says so.
    units.try_reserve_exact(text.len() + BLOCK).ok()?;
    made_by_way_of(units.spare_capacity_mut(), py, text, make)
}

/// There are more of these units than bytes, by a block.
#[inline]
fn made_by_way_of<'py>(
    mut units: impl AsMut<[MaybeUninit<u16>]>,
    py: Python<'py>,
    text: &[u8],
    make: Make,
) -> Option<PyResult<Bound<'py, PyAny>>> {
    // SAFETY: the processor has the instructions, else there was nothing to make strings by.
    let characters = unsafe { decoded(text, &mut units) }?;
    // SAFETY: these have been written, and are copied. What it gives is ours, or NULL with an exception set.
    unsafe {
        let string = make(TWO_BYTES, characters.as_ptr().cast(), characters.len().cast_signed());
        Some(Bound::from_owned_ptr_or_err(py, string))
    }
}

/// The characters of a text, all of which have been written; `None` if it is no UTF-8, or has characters of four bytes.
#[target_feature(enable = "avx2,popcnt")]
fn decoded<'a>(text: &[u8], units: &'a mut impl AsMut<[MaybeUninit<u16>]>) -> Option<&'a [MaybeUninit<u16>]> {
    let (blocks, tail) = text.as_chunks();
    let mut decoder = Decoder { before: _mm_setzero_si128(), wrong: _mm_setzero_si128(), written: 0 };
    for block in blocks {
        decoder.step(loaded(block), units);
    }
    // Also if nothing is left: it is after the last character that one sees its end.
    decoder.step(filled_up(text, tail), units);
    if _mm_testz_si128(decoder.wrong, decoder.wrong) == 0 {
        return None;
    }
    // Nothing has ended before the first byte; and each zero that follows another one has been taken for a character.
    Some(&units.as_mut()[1..decoder.written - (BLOCK - 1 - tail.len())])
}

/// The tail of a text, and zeros up to a block. It is moved to its place in a register, if it can be: to read as a whole what has just
/// been written in pieces takes as long as a block.
#[inline]
#[target_feature(enable = "avx2")]
fn filled_up(text: &[u8], tail: &[u8]) -> __m128i {
    const Z: u8 = 0x80;
    const MOVES: [u8; 2 * BLOCK] =
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z];
    if let (Some(last), Some(moves)) = (text.last_chunk(), MOVES[BLOCK - tail.len()..].first_chunk()) {
        return _mm_shuffle_epi8(loaded(last), loaded(moves));
    }
    let mut block = [0; BLOCK];
    block[..tail.len()].copy_from_slice(tail);
    loaded(&block)
}

struct Decoder {
    /// The block before.
    before: __m128i,
    /// Has bits if anything was wrong.
    wrong: __m128i,
    /// How many units, so far.
    written: usize,
}

impl Decoder {
    /// Writes the characters that have ended before a byte of this block.
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn step(&mut self, bytes: __m128i, units: &mut impl AsMut<[MaybeUninit<u16>]>) {
        let first = _mm_alignr_epi8::<15>(bytes, self.before);
        let second = _mm_alignr_epi8::<14>(bytes, self.before);
        let third = _mm_alignr_epi8::<13>(bytes, self.before);
        self.before = bytes;
        self.wrong = _mm_or_si128(self.wrong, wrong(bytes, first, second));
        let characters = ended(first, second, third);
        let [ends, later_ends, ..] = (!_mm_movemask_epi8(continues(bytes))).to_le_bytes();
        self.squeeze(_mm256_castsi256_si128(characters), ends, units);
        self.squeeze(_mm256_extracti128_si256::<1>(characters), later_ends, units);
    }

    /// Writes those of eight units whose bits are set, one after the other.
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn squeeze(&mut self, eight: __m128i, set: u8, units: &mut impl AsMut<[MaybeUninit<u16>]>) {
        let squeezed = _mm_shuffle_epi8(eight, loaded(&SQUEEZE[usize::from(set)]));
        let place = units.as_mut()[self.written..].first_chunk_mut::<8>().expect("a byte ends one character at most");
        // SAFETY: it is as long as what is written, and need not be aligned.
        unsafe { _mm_storeu_si128(place.as_mut_ptr().cast(), squeezed) };
        self.written += set.count_ones() as usize;
    }
}

/// The character that has ended with each last byte, given the two before it; nonsense where none has.
#[inline]
#[target_feature(enable = "avx2")]
fn ended(last: __m128i, second: __m128i, third: __m128i) -> __m256i {
    let two = continues(last);
    let three = _mm_and_si128(two, continues(second));
    // All of ASCII, or six bits; six, or the five of a head; four, as the others fall off.
    let low = _mm_andnot_si128(_mm_and_si128(two, each(0x80)), last);
    let middle = _mm_and_si128(two, _mm_and_si128(second, each(0x3f)));
    let high = _mm_and_si128(three, third);
    let wide = |bytes, shift| _mm256_sll_epi16(_mm256_cvtepu8_epi16(bytes), _mm_cvtsi32_si128(shift));
    _mm256_or_si256(wide(low, 0), _mm256_or_si256(wide(middle, 6), wide(high, 12)))
}

/// Bits where a byte cannot be, after the two before it: table 3-7 of the Unicode standard, for up to three bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn wrong(bytes: __m128i, before: __m128i, second: __m128i) -> __m128i {
    let is = |bytes, byte| _mm_cmpeq_epi8(bytes, each(byte));
    let from = |bytes, byte| _mm_cmpeq_epi8(_mm_max_epu8(bytes, each(byte)), bytes);
    let must_continue = _mm_or_si128(from(before, 0xc0), from(second, 0xe0));
    let misplaced = _mm_xor_si128(must_continue, continues(bytes));
    let never = _mm_or_si128(is(_mm_and_si128(bytes, each(0xfe)), 0xc0), from(bytes, 0xf0));
    // Below U+0800 two bytes suffice, and U+D800 to U+DFFF are halves of characters.
    let in_the_upper_half = from(bytes, 0xa0);
    let too_long = _mm_andnot_si128(in_the_upper_half, is(before, 0xe0));
    let surrogate = _mm_and_si128(in_the_upper_half, is(before, 0xed));
    _mm_or_si128(_mm_or_si128(misplaced, never), _mm_or_si128(too_long, surrogate))
}

/// Which bytes are 0x80 to 0xbf: as signed ones, those below -64.
#[inline]
#[target_feature(enable = "avx2")]
fn continues(bytes: __m128i) -> __m128i {
    _mm_cmplt_epi8(bytes, each(0xc0))
}

#[inline]
#[target_feature(enable = "avx2")]
fn each(byte: u8) -> __m128i {
    _mm_set1_epi8(byte.cast_signed())
}

#[inline]
#[target_feature(enable = "avx2")]
fn loaded(bytes: &[u8; BLOCK]) -> __m128i {
    // SAFETY: it is as long as what is read, and need not be aligned.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// For eight bits, the bytes of eight units in the order in which those come first whose bits are set.
static SQUEEZE: [[u8; 16]; 256] = {
    let mut rows = [[0; 16]; 256];
    let mut set = 0;
    while set < rows.len() {
        let (mut unit, mut at) = (0, 0);
        while unit < 8 {
            if set >> unit & 1 == 1 {
                (rows[set][at], rows[set][at + 1]) = (2 * unit, 2 * unit + 1);
                at += 2;
            }
            unit += 1;
        }
        set += 1;
    }
    rows
};
