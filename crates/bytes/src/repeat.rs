//! Copies within a buffer, as decoders of LZ77 formats make them.

/// Bytes that a decoder moves at once.
pub const STEP: usize = 32;

/// Repeats the bytes from `from` on at `to`, up to `end`; the source may include bytes that this call has just written.
/// The buffer has room for one [`STEP`] more.
#[inline]
pub fn repeat(out: &mut [u8], mut from: usize, mut to: usize, end: usize) {
    if to - from >= STEP {
        while to < end {
            let step: [u8; STEP] = out[from..from + STEP].try_into().expect("a slice of as many");
            out[to..to + STEP].copy_from_slice(&step);
            (from, to) = (from + STEP, to + STEP);
        }
    } else {
        while to < end {
            out[to] = out[from];
            (from, to) = (from + 1, to + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_repeats_near_and_far() {
        for back in [1, 2, 31, 32, 33, 40] {
            let mut out: Vec<u8> = (0..40).chain([0; 100 + STEP]).collect();
            repeat(&mut out, 40 - back, 40, 140);
            assert!((40..140).all(|at| out[at] == out[at - back]), "{back}");
        }
    }
}
