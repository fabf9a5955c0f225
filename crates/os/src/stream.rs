//! Stores that go past the caches.

use std::sync::atomic::AtomicU64;

/// Stores little-endian values in words, the first in the first; in any order, but after what was stored before the call and before what
/// will be after it.
///
/// Memory that is not in the cache is read before it is stored to, in vain where all of it is overwritten. Without that, long writes to
/// memory that was not used for long take about half the time; short ones wait longer for what is under way than they gain, and who
/// reads the bytes soon misses the cache. On processors that see for themselves when whole lines are overwritten it is a plain copy.
pub fn stream(words: &[AtomicU64], values: &[[u8; 8]]) {
    fence();
    for (word, value) in words.iter().zip(values) {
        store(word, u64::from_le_bytes(*value));
    }
    fence();
}

/// A relaxed store, which `fence` alone keeps in order with others.
#[cfg(target_arch = "x86_64")]
#[inline]
fn store(word: &AtomicU64, value: u64) {
    // SAFETY: eight aligned bytes are stored at once to a word that may be stored to, as by a relaxed store. Other stores may pass it, and
    // it others, even released ones: not in `stream`, its only caller, between whose fences there are none.
    unsafe {
        std::arch::asm!("movnti [{}], {}", in(reg) word.as_ptr(), in(reg) value, options(nostack, preserves_flags));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn fence() {
    // SAFETY: every processor of this kind has the instruction, which changes nothing.
    unsafe { std::arch::x86_64::_mm_sfence() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn store(word: &AtomicU64, value: u64) {
    word.store(value, std::sync::atomic::Ordering::Relaxed);
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn fence() {}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
    use std::thread;

    use super::*;

    #[test]
    fn each_word_gets_its_value_and_no_other() {
        let words: Vec<AtomicU64> = (0..20).map(AtomicU64::new).collect();
        let values: Vec<_> = (100_u64..113).map(u64::to_le_bytes).collect();
        stream(&words[3..16], &values);
        let found: Vec<u64> = words.iter().map(|word| word.load(Relaxed)).collect();
        assert_eq!(found, (0..3).chain(100..113).chain(16..20).collect::<Vec<_>>());
    }

    /// Without the second fence what comes after is seen before a value, at once on a Zen 5. Without the first, a value might be seen before
    /// what was stored ahead of it: manuals allow it, and this was not seen to catch it.
    #[test]
    fn other_stores_do_not_pass() {
        const ROUNDS: u64 = 100_000;
        let words: Vec<AtomicU64> = (0..64).map(|_| AtomicU64::new(0)).collect();
        let [before, after] = [AtomicU64::new(0), AtomicU64::new(0)];
        thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1..=ROUNDS {
                    before.store(round, Relaxed);
                    stream(&words, &[round.to_le_bytes(); 64]);
                    after.store(round, Release);
                }
            });
            let mut at = 0;
            while after.load(Acquire) < ROUNDS {
                at = (at + 17) % words.len();
                let least = after.load(Acquire);
                let word = words[at].load(Acquire);
                let most = before.load(Relaxed);
                assert!((least..=most).contains(&word), "{least} <= {word} <= {most}");
            }
        });
    }
}
