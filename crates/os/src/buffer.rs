//! Memory of one's own, straight from the kernel.

use std::ops::{Deref, DerefMut};
use std::{ptr, slice};

use hammerspace_error::{Doing, Error, Kind, Result};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};

use crate::Map;

/// Zeroed bytes that are given back to the kernel as a whole when they are dropped.
///
/// A large buffer that comes and goes had better not come from glibc's allocator: once such a one is freed, it takes everything
/// up to that size from its heaps, which shrink at their ends only (`mallopt(3)`, `M_MMAP_THRESHOLD`).
pub struct Buffer(Map);

impl Buffer {
    /// `len` bytes, at least one. Memory is taken as it is touched.
    pub fn new(len: usize) -> Result<Self> {
        // SAFETY: a fresh mapping at an address of the kernel's choice overlaps nothing of ours.
        let start =
            unsafe { mmap_anonymous(ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) }
                .map_err(|errno| {
                    let finding = format!("there is no memory for {len} bytes ({errno})");
                    Error::new(Kind::Full, finding).remedy("free memory, or raise the limit (`ulimit -v`)")
                })?;
        Ok(Self(Map::of(start, len)))
    }

    /// The same bytes, which nobody writes to any more.
    pub(crate) fn freeze(self) -> Result<Map> {
        // SAFETY: the mapping is ours alone, and `self`, through which it could be written to, ends here.
        unsafe { mprotect(self.0.start().cast(), self.0.mapped_len(), MprotectFlags::READ) }
            .map_err(std::io::Error::from)
            .doing("protect memory from writes")?;
        Ok(self.0)
    }

    pub(crate) fn map(&self) -> &Map {
        &self.0
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: the whole of one live, writable mapping that is ours alone, zeroed by the kernel; `&mut self` makes this slice
        // the only one of it.
        unsafe { slice::from_raw_parts_mut(self.0.start(), self.0.mapped_len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_zeroed_and_keeps_what_is_written() {
        let mut buffer = Buffer::new(10_000).unwrap();
        assert_eq!(*buffer, [0; 10_000]);
        buffer[9_999] = 7;
        assert_eq!(buffer.freeze().unwrap()[9_998..], [0, 7]);
    }

    #[test]
    fn memory_that_there_is_not_is_refused() {
        assert_eq!(Buffer::new(1 << 60).err().unwrap().kind(), Kind::Full);
    }
}
