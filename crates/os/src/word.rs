//! One number in a file that processes watch.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use hammerspace_error::{Error, Kind, Result};

use crate::{File, Map};

/// A little-endian 64-bit number at a fixed, aligned place in a file, read at the cost of one load.
///
/// Writers change it with [`File::write_at`], which a shared mapping shows at once. Not by a store through a
/// mapping: on a full copy-on-write disk that store would be a SIGBUS, where the write is an error.
pub struct Word {
    map: Map,
    offset: usize,
}

impl Word {
    /// Watches the word at `offset` of `file`. Invalid where the file is too short for it, or the offset
    /// unaligned.
    pub fn new(file: &File, offset: usize) -> Result<Self> {
        let map = Map::new(file)?;
        if !offset.is_multiple_of(size_of::<u64>()) || map.mapped_len() < offset + size_of::<u64>() {
            let finding = format!("a file of {} bytes has no shared word at {offset}", map.mapped_len());
            return Err(Error::new(Kind::Invalid, finding).file(file.path()));
        }
        Ok(Self { map, offset })
    }

    /// The number as it is now. What its writer did before changing it is visible after this.
    #[inline]
    pub fn load(&self) -> u64 {
        // SAFETY: `new` checked that eight bytes of the mapping lie at the offset, aligned, since mappings
        // start on a page and live as long as `self`. Other processes may write the word at any time: it is
        // read atomically, and no slice over it is ever made.
        let word = unsafe { AtomicU64::from_ptr(self.map.start().add(self.offset).cast()) };
        u64::from_le(word.load(Ordering::Acquire))
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Word({})", self.load())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dir;

    #[test]
    fn a_write_through_the_file_is_seen_through_the_word() {
        let scratch = tempfile::tempdir().unwrap();
        let file = Dir::open(scratch.path()).unwrap().create_file("page").unwrap();
        assert_eq!(Word::new(&file, 8).unwrap_err().kind(), Kind::Invalid, "an empty file holds no word");
        file.write_at(&[0; 32], 0).unwrap();
        assert_eq!(Word::new(&file, 12).unwrap_err().kind(), Kind::Invalid, "unaligned");

        let word = Word::new(&file, 16).unwrap();
        file.write_at(&0x0123_4567_89ab_cdef_u64.to_le_bytes(), 16).unwrap();
        assert_eq!(word.load(), 0x0123_4567_89ab_cdef);
    }
}
