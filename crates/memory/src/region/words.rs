//! Bytes in words: taken out of them, and compared with others. Their tests are those of `Region`, which
//! writes them.

use crate::region::geometry::WORD;
use crate::sync::AtomicU64;
use crate::sync::Ordering::Relaxed;

const WORD_LEN: usize = WORD as usize;

/// Bytes that lie in words, whoever may be changing these.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'r> {
    /// The words from the one on in which they begin, and perhaps more than they take.
    words: &'r [AtomicU64],
    /// Bytes of the first word that come before.
    skip: usize,
    len: usize,
}

impl<'r> Bytes<'r> {
    /// `len` bytes from byte `start` on. Where there are no words, they are zeros.
    #[inline]
    pub(crate) fn new(words: &'r [AtomicU64], start: usize, len: usize) -> Self {
        Self { words: words.get(start / WORD_LEN..).unwrap_or_default(), skip: start % WORD_LEN, len }
    }

    /// Appends a copy to `out`. Racing with a writer it is some mix, which the caller must not use.
    #[expect(clippy::inline_always, reason = "see `read::read_prefetched`")]
    #[inline(always)]
    pub(crate) fn append_to(self, out: &mut Vec<u8>) {
        let end = out.len() + self.len;
        // Whole words, of which the last may have more than is wanted.
        let count = self.len.div_ceil(WORD_LEN);
        out.reserve(count * WORD_LEN);
        match self.skip {
            0 => append_words(&self.words[..count.min(self.words.len())], out),
            skip => append_shifted(self.words, skip, count, out),
        }
        out.resize(end, 0);
    }
}

/// Appends `count` words that begin in the middle of those there are, `skip` bytes behind each.
#[inline(never)]
fn append_shifted(words: &[AtomicU64], skip: usize, count: usize, out: &mut Vec<u8>) {
    let shift = 8 * skip as u32;
    let mut words = words.iter().map(load).chain([0]);
    let mut low = words.next().unwrap_or(0);
    for high in words.take(count) {
        out.extend_from_slice(&(low >> shift | high << (64 - shift)).to_le_bytes());
        low = high;
    }
}

/// Appends words to `out`, by fours as far as they go: each time `out` is asked whether it has room.
#[inline]
fn append_words(words: &[AtomicU64], out: &mut Vec<u8>) {
    let (fours, rest) = words.as_chunks::<4>();
    for four in fours {
        out.extend_from_slice(four.each_ref().map(bytes).as_flattened());
    }
    for word in rest {
        out.extend_from_slice(&bytes(word));
    }
}

/// Stores values in words, the first in the first.
#[inline]
pub(crate) fn store(words: &[AtomicU64], values: &[[u8; WORD_LEN]]) {
    for (word, value) in words.iter().zip(values) {
        word.store(u64::from_le_bytes(*value), Relaxed);
    }
}

/// Whether the bytes of the words, from the first on, are `wanted`.
#[inline]
pub(crate) fn begin_with(words: &[AtomicU64], wanted: &[u8]) -> bool {
    let (chunks, tail) = wanted.as_chunks();
    let Some((words, rest)) = words.split_at_checked(chunks.len()) else { return false };
    chunks.iter().zip(words).all(|(chunk, word)| bytes(word) == *chunk)
        && (tail.is_empty() || rest.first().is_some_and(|word| bytes(word)[..tail.len()] == *tail))
}

#[inline]
fn load(word: &AtomicU64) -> u64 {
    word.load(Relaxed)
}

#[inline]
fn bytes(word: &AtomicU64) -> [u8; WORD_LEN] {
    load(word).to_le_bytes()
}
