//! Fixed-width little-endian integers at fixed offsets: what every header of ours is made of.
//!
//! A header's layout is one constant table of [`Field`]s. The code reads and writes through that table, and a test
//! compares it with the format page, so the three cannot drift apart.

/// One field of a header: its name on the format page, its offset and its size (4 or 8), both in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name, as the format page writes it.
    pub name: &'static str,
    /// Bytes from the start of the header.
    pub offset: usize,
    /// Width in bytes: 4 or 8.
    pub size: usize,
}

impl Field {
    /// A 4-byte field.
    pub const fn u32(name: &'static str, offset: usize) -> Self {
        Self { name, offset, size: 4 }
    }

    /// An 8-byte field.
    pub const fn u64(name: &'static str, offset: usize) -> Self {
        Self { name, offset, size: 8 }
    }

    /// Reads the field, widened to 64 bits. Panics if `header` is shorter than the field's end: check sizes first.
    pub fn get(self, header: &[u8]) -> u64 {
        get_uint(header, self.offset, self.size)
    }

    /// Writes the field. Panics if `header` is too short, or `value` wider than the field.
    pub fn set(self, header: &mut [u8], value: u64) {
        assert!(self.size == 8 || u32::try_from(value).is_ok(), "{} = {value} does not fit 4 bytes", self.name);
        header[self.offset..self.offset + self.size].copy_from_slice(&value.to_le_bytes()[..self.size]);
    }
}

/// The unsigned integer of `size` (4 or 8) bytes at `offset`. Panics past the end of `bytes`.
#[inline]
pub fn get_uint(bytes: &[u8], offset: usize, size: usize) -> u64 {
    if size == 4 { u64::from(get_u32(bytes, offset)) } else { get_u64(bytes, offset) }
}

/// The 32-bit integer at `offset`. Panics past the end of `bytes`.
#[inline]
pub fn get_u32(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(bytes[offset..offset + 4].try_into().expect("a slice of 4 bytes is an array of 4"))
}

/// The 64-bit integer at `offset`. Panics past the end of `bytes`.
#[inline]
pub fn get_u64(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(bytes[offset..offset + 8].try_into().expect("a slice of 8 bytes is an array of 8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_as_they_were_set() {
        let (a, b) = (Field::u32("a", 1), Field::u64("b", 5));
        let mut header = [0xff_u8; 14];
        a.set(&mut header, 0xdead_beef);
        b.set(&mut header, 0x0123_4567_89ab_cdef);
        assert_eq!((a.get(&header), b.get(&header)), (0xdead_beef, 0x0123_4567_89ab_cdef));
        assert_eq!(header, *b"\xff\xef\xbe\xad\xde\xef\xcd\xab\x89\x67\x45\x23\x01\xff");
    }

    #[test]
    #[should_panic(expected = "does not fit")]
    fn a_value_too_wide_for_its_field_is_a_bug_of_ours() {
        Field::u32("a", 0).set(&mut [0; 4], 1 << 32);
    }
}
