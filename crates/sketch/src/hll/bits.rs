//! Fields of up to 56 bits in a string of bits: the most significant bit of a byte comes first, and fields
//! may straddle bytes.

/// The longest field. Behind up to 7 bits of its first byte, it ends within 8 bytes.
const FIELD_MAX: usize = 56;

/// The field of `width` bits at bit `at`.
#[inline]
pub(super) fn get(bytes: &[u8], at: usize, width: u32) -> u64 {
    debug_assert!((1..=FIELD_MAX as u32).contains(&width));
    (window(bytes, at / 8) << (at % 8)) >> (64 - width)
}

/// Replaces the field of `width` bits at bit `at`.
#[inline]
pub(super) fn set(bytes: &mut [u8], at: usize, width: u32, value: u64) {
    debug_assert!((1..=FIELD_MAX as u32).contains(&width) && value >> width == 0);
    let shift = 64 - width - (at % 8) as u32;
    let mask = (u64::MAX >> (64 - width)) << shift;
    let changed = (window(bytes, at / 8) & !mask | value << shift).to_be_bytes();
    let touched = (at % 8 + width as usize).div_ceil(8);
    bytes[at / 8..][..touched].copy_from_slice(&changed[..touched]);
}

/// Inserts a field at bit `at` into a string that ends at bit `end`; what was there moves up.
pub(super) fn insert(bytes: &mut Vec<u8>, at: usize, end: usize, width: u32, value: u64) {
    let by = width as usize;
    bytes.resize((end + by).div_ceil(8), 0);
    if at.is_multiple_of(8) && by.is_multiple_of(8) {
        bytes.copy_within(at / 8..end.div_ceil(8), (at + by) / 8);
    } else {
        move_up(bytes, at, end, by);
    }
    set(bytes, at, width, value);
}

/// Moves the bits from `at` to `end` up by so many, in pieces, the last first.
fn move_up(bytes: &mut [u8], at: usize, end: usize, by: usize) {
    let mut end = end;
    while end > at {
        let len = FIELD_MAX.min(end - at);
        end -= len;
        let piece = get(bytes, end, len as u32);
        set(bytes, end + by, len as u32, piece);
    }
}

/// Eight bytes from an offset on; zeros stand for those past the end.
#[inline]
fn window(bytes: &[u8], from: usize) -> u64 {
    let rest = &bytes[from..];
    if let Some(whole) = rest.first_chunk() {
        return u64::from_be_bytes(*whole);
    }
    let mut padded = [0; 8];
    padded[..rest.len()].copy_from_slice(rest);
    u64::from_be_bytes(padded)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A string of bits as a vector of them.
    fn bits(bytes: &[u8]) -> Vec<bool> {
        bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect()
    }

    fn number(bits: &[bool]) -> u64 {
        bits.iter().fold(0, |number, bit| number << 1 | u64::from(*bit))
    }

    #[test]
    fn fields_are_those_of_a_vector_of_bits() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..20_000 {
            let mut bytes: Vec<u8> = (0..rng.usize(7..30)).map(|_| rng.u8(..)).collect();
            let width = rng.usize(1..=56.min(8 * bytes.len()));
            let at = rng.usize(..=8 * bytes.len() - width);
            let mut model = bits(&bytes);
            assert_eq!(get(&bytes, at, width as u32), number(&model[at..at + width]), "{width} bits at {at}");

            let value = rng.u64(..) >> (64 - width);
            set(&mut bytes, at, width as u32, value);
            model.splice(at..at + width, (0..width).rev().map(|bit| value >> bit & 1 == 1));
            assert_eq!(bits(&bytes), model, "{width} bits at {at}");
        }
    }

    #[test]
    fn an_inserted_field_moves_those_behind_it() {
        let mut rng = fastrand::Rng::with_seed(2);
        for _ in 0..20_000 {
            let width = rng.usize(5..=39);
            let (count, at) = (rng.usize(..20), rng.usize(..20));
            let (at, end) = (at.min(count) * width, count * width);
            let mut bytes: Vec<u8> = (0..end.div_ceil(8)).map(|_| rng.u8(..)).collect();
            if end % 8 > 0 {
                *bytes.last_mut().unwrap() &= 0xff << (8 - end % 8);
            }
            let mut model = bits(&bytes)[..end].to_vec();
            let value = rng.u64(..) >> (64 - width);
            insert(&mut bytes, at, end, width as u32, value);
            model.splice(at..at, (0..width).rev().map(|bit| value >> bit & 1 == 1));
            model.resize(8 * bytes.len(), false);
            assert_eq!(bits(&bytes), model, "{width} bits at {at} of {end}");
            assert_eq!(bytes.len(), (end + width).div_ceil(8));
        }
    }
}
