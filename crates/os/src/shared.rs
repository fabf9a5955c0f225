//! A file, or memory without one, as words that processes write and read at the same time.

use std::fmt;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::AtomicU64;

use hammerspace_error::{Doing, Error, Kind, Result};
use rustix::io::retry_on_intr;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};

use crate::File;

const WORD: usize = size_of::<AtomicU64>();

/// What a mapping of shared words may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Loads only: a store would end the process, so whoever maps this way must not have any.
    Read,
    /// Loads and stores.
    Write,
}

/// A shared mapping as atomic words, for those who change and read it at the same time, in one process or in many.
///
/// Every access is an atomic load or store, so no schedule is undefined behaviour; what a reader may conclude from what it saw
/// is the business of whoever defines the words. The mapping reserves address space only: pages come as they are touched, which
/// beyond the file's end, or on a full file system, ends the process (SIGBUS). See [`File::allocate`].
///
/// The file's end must not come nearer while it is mapped, as with [`Map`](crate::Map).
pub struct Shared {
    start: NonNull<AtomicU64>,
    words: usize,
}

// SAFETY: the mapping is owned by this value, and all anyone gets of it is `&[AtomicU64]`, which threads may share.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Maps the first `len` bytes of `file`, a multiple of eight.
    pub fn map(file: &File, len: u64, access: Access) -> Result<Self> {
        let len = whole_words(len)?;
        let protection = match access {
            Access::Read => ProtFlags::READ,
            Access::Write => ProtFlags::READ | ProtFlags::WRITE,
        };
        // SAFETY: a fresh mapping at an address of the kernel's choice overlaps nothing of ours.
        let start = unsafe { mmap(ptr::null_mut(), len, protection, MapFlags::SHARED, file.as_fd(), 0) };
        Self::of(start, len).map_err(|error| error.file(file.path()))
    }

    /// Memory that belongs to no file and is seen by this process alone: zeros, `len` bytes, a multiple of eight.
    pub fn anonymous(len: u64) -> Result<Self> {
        let len = whole_words(len)?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: as above.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, flags) };
        Self::of(start, len)
    }

    fn of(start: rustix::io::Result<*mut std::ffi::c_void>, len: usize) -> Result<Self> {
        let start = start.map_err(std::io::Error::from).doing("reserve address space")?;
        let start = NonNull::new(start.cast()).expect("the kernel maps nothing at 0");
        Ok(Self { start, words: len / WORD })
    }

    /// Brings `len` bytes from `offset` on into memory, writable, so that no later touch waits for the kernel. Both multiples
    /// of the page's size. A kernel that cannot (before 5.14) leaves it to the touches.
    pub fn populate(&self, offset: u64, len: u64) {
        let (offset, len) = (offset as usize, len as usize);
        if offset.checked_add(len).is_none_or(|end| end > self.words * WORD) {
            return;
        }
        // SAFETY: the range lies in our mapping. Populating changes no byte; where it fails, nothing has happened.
        let _ = retry_on_intr(|| unsafe {
            madvise(self.start.as_ptr().cast::<u8>().add(offset).cast(), len, Advice::LinuxPopulateWrite)
        });
    }
}

fn whole_words(len: u64) -> Result<usize> {
    match usize::try_from(len) {
        Ok(len) if len > 0 && len.is_multiple_of(WORD) => Ok(len),
        _ => Err(Error::new(Kind::Invalid, format!("{len} bytes are not a whole number of words"))),
    }
}

impl Deref for Shared {
    type Target = [AtomicU64];

    #[inline]
    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: `start..start + words` is one live mapping, aligned to pages, unmapped by `drop` alone, which has `&mut
        // self`. Atomics may be changed by anyone at any time. In a read-only mapping only loads happen, which `Access::Read`
        // asks of its user, and loads of eight bytes are loads on every target we build for.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: our own mapping, whole, and no reference to it outlives `self`.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.words * WORD) };
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shared({} words)", self.words)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::Dir;

    #[test]
    fn what_one_mapping_stores_another_loads() {
        let scratch = tempfile::tempdir().unwrap();
        let file = Dir::open(scratch.path()).unwrap().create_file("region").unwrap();
        file.truncate(8192).unwrap();
        file.allocate(0, 8192).unwrap();
        let writer = Shared::map(&file, 8192, Access::Write).unwrap();
        let reader = Shared::map(&file, 8192, Access::Read).unwrap();
        writer.populate(4096, 4096);
        writer[600].store(7, Relaxed);
        assert_eq!((reader.len(), reader[600].load(Relaxed)), (1024, 7));
        assert_eq!(Shared::map(&file, 12, Access::Read).unwrap_err().kind(), Kind::Invalid);
    }

    #[test]
    fn memory_without_a_file_is_zeros() {
        let memory = Shared::anonymous(1 << 30).unwrap();
        assert!(memory[..100].iter().all(|word| word.load(Relaxed) == 0));
    }
}
