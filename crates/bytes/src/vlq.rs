//! Variable-length quantities: base 128, least significant group first, high bit set on every byte but the last.
//!
//! Source: the Sparkey format (`docs/format/sparkey-log.md`); the same code as LEB128 and protobuf's varint. Writers
//! emit the shortest form. Readers accept padded forms of up to [`LEN_MAX`] bytes, as Spotify's do, and refuse longer
//! ones and ones that overflow 64 bits.

/// The longest encoding of a 64-bit value, in bytes.
pub const LEN_MAX: usize = 10;

/// Why bytes are not a VLQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The bytes end before the number does.
    Truncated,
    /// More than [`LEN_MAX`] bytes, or more than 64 bits.
    TooLong,
}

/// Reads the number at the start of `bytes`; gives it and the bytes it took.
#[inline]
pub fn read(bytes: &[u8]) -> Result<(u64, usize), Malformed> {
    match bytes {
        [a, ..] if *a < 0x80 => Ok((u64::from(*a), 1)),
        [a, b, ..] if *b < 0x80 => Ok((u64::from(a & 0x7f) | u64::from(*b) << 7, 2)),
        _ => read_long(bytes),
    }
}

/// The number that starts with these two bytes, and whether it takes one of them or both; `None` if it takes more. Which of the
/// two is no branch here: where values are some 128 bytes long, no processor foresees it.
#[inline]
pub fn read_short(low: u8, high: u8) -> Option<(u64, usize)> {
    let is_long = low >= 0x80;
    let high = if is_long { high } else { 0 };
    (high < 0x80).then_some((u64::from(low & 0x7f) | u64::from(high) << 7, 1 + usize::from(is_long)))
}

fn read_long(bytes: &[u8]) -> Result<(u64, usize), Malformed> {
    let mut value = 0_u64;
    for (at, byte) in bytes.iter().take(LEN_MAX).enumerate() {
        // The tenth group has room for one bit.
        if at == LEN_MAX - 1 && *byte > 1 {
            return Err(Malformed::TooLong);
        }
        value |= u64::from(byte & 0x7f) << (7 * at);
        if *byte < 0x80 {
            return Ok((value, at + 1));
        }
    }
    Err(if bytes.len() < LEN_MAX { Malformed::Truncated } else { Malformed::TooLong })
}

/// Writes `value` into the start of `out` in its shortest form; gives the bytes it took.
#[inline]
pub fn write(value: u64, out: &mut [u8; LEN_MAX]) -> usize {
    let mut rest = value;
    for (at, byte) in out.iter_mut().enumerate() {
        *byte = (rest & 0x7f) as u8;
        rest >>= 7;
        if rest == 0 {
            return at + 1;
        }
        *byte |= 0x80;
    }
    unreachable!("64 bits fit {LEN_MAX} groups of 7")
}

/// The bytes that [`write()`] would take for `value`.
#[inline]
pub const fn len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edge_comes_back() {
        let edges = (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1, (1 << bit) | 1]).chain([u64::MAX]);
        for value in edges {
            let mut out = [0; LEN_MAX];
            let wrote = write(value, &mut out);
            assert_eq!(wrote, len(value), "{value}");
            assert_eq!(read(&out[..wrote]), Ok((value, wrote)), "{value}");
            assert_eq!(read(&out[..wrote - 1]), Err(Malformed::Truncated), "{value}");
            assert_eq!(read_short(out[0], out[1]), (wrote <= 2).then_some((value, wrote)), "{value}");
        }
    }

    #[test]
    fn padded_forms_are_read_and_endless_ones_refused() {
        assert_eq!(read(&[0x81, 0x80, 0x00]), Ok((1, 3)));
        assert_eq!(read(&[0x80; 10]), Err(Malformed::TooLong));
        assert_eq!(read(&[0x80; 9]), Err(Malformed::Truncated));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]), Err(Malformed::TooLong));
    }
}
