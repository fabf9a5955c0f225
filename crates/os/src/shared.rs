//! A file as words that processes write and read at the same time.

use std::ffi::c_void;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64;
use std::{fmt, io, slice};

use hammerspace_error::{Doing, Error, Kind, Result};
use rustix::io::{Errno, retry_on_intr};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};

use crate::File;
use crate::paging::HUGE_PAGE;
use crate::process::page_size;

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
    /// Unmaps it all when it is dropped.
    _space: Reserved,
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
        Self::place(len, |start| {
            // SAFETY: `place` gives address space of ours that nobody uses.
            unsafe { mmap(start, len, protection, MapFlags::SHARED | MapFlags::FIXED, file.as_fd(), 0) }
        })
        .map_err(|error| error.file(file.path()))
    }

    /// Lets `map` put `len` bytes where a huge page may begin.
    fn place(len: usize, map: impl FnOnce(*mut c_void) -> rustix::io::Result<*mut c_void>) -> Result<Self> {
        let reserved = Reserved::new(len).map_err(io::Error::from);
        let reserved = reserved.doing(format_args!("reserve {len} bytes of address space")).map_err(|error| {
            error.remedy(
                "raise the process's limit on it (`ulimit -v`): memory is only taken for what comes to lie there",
            )
        })?;
        let start = reserved.start.wrapping_byte_add(reserved.start.align_offset(HUGE_PAGE));
        map(start.cast()).map_err(io::Error::from).doing("map memory")?;
        let start = NonNull::new(start.cast()).expect("the kernel maps nothing at 0");
        Ok(Self { start, words: len / WORD, _space: reserved })
    }

    /// Makes the whole huge pages among `len` bytes from `offset` on such, for every process that maps them: random lookups then
    /// miss the TLB less, by a third of their time in all. `file` is what is mapped, and must have room for the range.
    ///
    /// A hint: a kernel that cannot (before 6.1), or has none left, leaves the bytes to small pages.
    pub fn gather(&self, file: &File, offset: u64, len: u64) -> Result<()> {
        let huge = HUGE_PAGE as u64;
        let (start, end) = (offset.next_multiple_of(huge), (offset + len) / huge * huge);
        for page in (start..end).step_by(HUGE_PAGE) {
            // The kernel collapses nothing where no page is.
            file.allocate(page, page_size() as u64)?;
            self.populate(page, page_size() as u64);
        }
        if let Some(at) = self.range(start, end.saturating_sub(start)) {
            // SAFETY: the range lies in our mapping. Collapsing changes no byte; where it fails, nothing has happened.
            let _ = unsafe { libc::madvise(at, (end - start) as usize, libc::MADV_COLLAPSE) };
        }
        Ok(())
    }

    /// Brings `len` bytes from `offset` on into memory, writable, so that no later touch waits for the kernel. Both multiples
    /// of the page's size. A kernel that cannot (before 5.14) leaves it to the touches.
    pub fn populate(&self, offset: u64, len: u64) {
        if let Some(start) = self.range(offset, len) {
            // SAFETY: the range lies in our mapping. Populating changes no byte; where it fails, nothing has happened.
            let _ = retry_on_intr(|| unsafe { madvise(start, len as usize, Advice::LinuxPopulateWrite) });
        }
    }

    /// Brings `len` bytes from `offset` on into memory as a load would, but answers `false` where a load would end the process
    /// (SIGBUS): a file system that is full has no memory for what was never written. A kernel that cannot tell (before
    /// 5.14) is believed to have it.
    pub fn populate_read(&self, offset: u64, len: u64) -> bool {
        let page = page_size() as u64;
        let start = offset / page * page;
        let end = (offset + len).next_multiple_of(page);
        let Some(at) = self.range(start, end - start) else { return false };
        // SAFETY: the range lies in our mapping. Populating changes no byte; where it fails, nothing has happened.
        let read = retry_on_intr(|| unsafe { madvise(at, (end - start) as usize, Advice::LinuxPopulateRead) });
        matches!(read, Ok(()) | Err(Errno::INVAL))
    }

    /// Where this range starts, if it is one and lies in the mapping.
    fn range(&self, offset: u64, len: u64) -> Option<*mut c_void> {
        let end = offset.checked_add(len)?;
        (len > 0 && end <= (self.words * WORD) as u64)
            .then(|| self.start.as_ptr().cast::<c_void>().wrapping_byte_add(offset as usize))
    }
}

/// Address space, and whatever was mapped to it.
struct Reserved {
    start: *mut u8,
    len: usize,
}

impl Reserved {
    /// Enough for `len` bytes from the first address on where a huge page may begin.
    fn new(len: usize) -> rustix::io::Result<Self> {
        let len = len.checked_add(HUGE_PAGE).ok_or(Errno::NOMEM)?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a fresh mapping at an address of the kernel's choice overlaps nothing of ours.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), len, ProtFlags::empty(), flags) }?;
        Ok(Self { start: start.cast(), len })
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: our own mappings, whole, and no reference to them outlives `self`.
        let _ = unsafe { munmap(self.start.cast(), self.len) };
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
        // SAFETY: `start..start + words` is one live mapping, aligned to pages, unmapped with `_space` alone, whose drop has `&mut
        // self`. Atomics may be changed by anyone at any time. In a read-only mapping only loads happen, which `Access::Read`
        // asks of its user, and loads of eight bytes are loads on every target we build for.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.words) }
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
        assert_eq!((&raw const writer[0]).addr() % HUGE_PAGE, 0);
        writer[600].store(7, Relaxed);
        assert_eq!((reader.len(), reader[600].load(Relaxed)), (1024, 7));
        assert_eq!(Shared::map(&file, 12, Access::Read).unwrap_err().kind(), Kind::Invalid);
    }

    #[test]
    fn gathering_leaves_every_word_as_it_was() {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let file = Dir::open(scratch.path()).unwrap().create_file("region").unwrap();
        let len = 4 * HUGE_PAGE as u64;
        file.truncate(len).unwrap();
        let words = Shared::map(&file, len, Access::Write).unwrap();
        file.allocate(0, len / 2).unwrap();
        (0..words.len() / 2).for_each(|word| words[word].store(word as u64, Relaxed));
        words.gather(&file, 4096, len - 4096).unwrap();
        assert!(
            (0..words.len())
                .all(|word| words[word].load(Relaxed) == if word < words.len() / 2 { word as u64 } else { 0 })
        );
    }

    #[test]
    fn a_file_without_a_name_is_shared_as_others_are() {
        let file = File::without_name("words").unwrap();
        file.truncate(1 << 40).unwrap();
        let words = Shared::map(&file, 1 << 40, Access::Write).unwrap();
        let other = Shared::map(&file, 8192, Access::Read).unwrap();
        words.gather(&file, 0, HUGE_PAGE as u64).unwrap();
        words[600].store(7, Relaxed);
        assert_eq!((other[599].load(Relaxed), other[600].load(Relaxed)), (0, 7));
        assert_eq!(file.capacity().unwrap().left, u64::MAX, "nobody has set it a bound");
    }
}
