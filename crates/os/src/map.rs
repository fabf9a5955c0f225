//! A file as a slice of memory that every process shares. How its pages come and stay: `paging.rs`.

use std::ffi::c_void;
use std::fmt;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::slice;

use hammerspace_error::{Doing, Result};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::File;
use crate::paging::{self, Paging};

/// A read-only shared mapping of a whole file, as long as the file was when it was mapped.
///
/// The file must not shrink while it is mapped: reading past its new end ends the process with SIGBUS, and no user-space
/// check can prevent that. Published files never change (see "Published means frozen" in the design notes); an outsider
/// with write access to the directory can break this, as with every mapped file. The one mapping that cannot be broken so is
/// [`Paging::HugePages`], which is a copy.
pub struct Map {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping is owned by this value alone, and read-only, or written through `&mut` by the `Buffer` that owns the value;
// reading it from any thread is reading shared memory.
unsafe impl Send for Map {}
// SAFETY: as above; `&Map` gives out `&[u8]` and nothing else.
unsafe impl Sync for Map {}

impl Map {
    /// Maps `file` as it is now. An empty file gives an empty slice. O(1): no page is read yet.
    pub fn new(file: &File) -> Result<Self> {
        Self::with(file, Paging::OnDemand)
    }

    /// The same with a word on its pages. What this costs is said at each way of [`Paging`].
    pub fn with(file: &File, paging: Paging) -> Result<Self> {
        let len = usize::try_from(file.len()?).expect("addresses have 64 bits");
        if len == 0 {
            return Ok(Self { start: NonNull::dangling(), len });
        }
        if paging == Paging::HugePages {
            return paging::copy(file, len);
        }
        // SAFETY: a fresh mapping at an address of the kernel's choice overlaps nothing of ours.
        let start = unsafe { mmap(ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, file.as_fd(), 0) }
            .map_err(std::io::Error::from)
            .doing("map the file into memory")
            .map_err(|error| error.file(file.path()))?;
        let map = Self::of(start, len);
        paging.apply(&map).map_err(|error| error.file(file.path()))?;
        Ok(map)
    }

    /// Owns a mapping that the kernel made: `len` bytes, at least one, from `start` on.
    pub(crate) fn of(start: *mut c_void, len: usize) -> Self {
        Self { start: NonNull::new(start.cast()).expect("the kernel maps nothing at 0"), len }
    }
}

impl Map {
    /// Where the mapping starts, for those who must not make a slice of it.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Its length, likewise.
    pub(crate) fn mapped_len(&self) -> usize {
        self.len
    }
}

impl Deref for Map {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: `start..start + len` is one live mapping, given to `of` and unmapped only by `drop`, which has `&mut
        // self`. Nobody writes to it through us, but for a `Buffer` that owns us and has `&mut`; and published files are frozen; that no outsider truncates the file is
        // the caller's business, as the type's documentation says.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl AsRef<[u8]> for Map {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: this is the mapping of `new`, whole, and no slice of it outlives `self`.
            let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
            debug_assert!(unmapped.is_ok(), "a whole mapping can always be unmapped");
        }
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Map({} bytes)", self.len)
    }
}
