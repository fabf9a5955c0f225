//! How the pages of a mapping come into memory, and whether they stay.

use hammerspace_error::{Doing, Error, Kind, Result};
use rustix::mm::{Advice, madvise, mlock};

use crate::process::page_size;
use crate::{Buffer, File, Map};

/// How the pages of a mapped file come into memory, and whether they stay.
///
/// | way | opening takes | helps when |
/// |---|---|---|
/// | [`OnDemand`](Self::OnDemand) | no time | by default: the first reader of a page waits for it, with its neighbours |
/// | [`Random`](Self::Random) | no time | the file is larger than memory and keys are read at random |
/// | [`Prefetch`](Self::Prefetch) | no time | the file fits and is not in memory yet, and reads may start meanwhile |
/// | [`Populate`](Self::Populate) | as long as reading the file | no read shall wait for the disk, nor for a page fault |
/// | [`Lock`](Self::Lock) | the same | others compete for memory, and reads shall never wait |
/// | [`HugePages`](Self::HugePages) | the same, and a copy | few processes read very much at random, and the file is not in huge pages already |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Paging {
    /// Pages come when they are touched, with a few around them.
    #[default]
    OnDemand,
    /// Pages come when they are touched, and alone: nothing is read from disk that nobody asked for.
    Random,
    /// The kernel starts to read the file into memory, in the background.
    Prefetch,
    /// All pages are in memory and entered into the process's page table before opening returns.
    Populate,
    /// As `Populate`, and they stay in memory for as long as the mapping lives. Needs the right to lock so much:
    /// `RLIMIT_MEMLOCK`, or `CAP_IPC_LOCK`; else the error is a [`Permission`](Kind::Permission).
    Lock,
    /// A private copy in huge pages where the kernel grants them (`transparent_hugepage` may be `madvise` or `always`): a lookup
    /// then finds its address in the processor's table of pages. This copy is **not shared** with other processes. Files that we
    /// wrote to ext4 on Linux 6.16 or later, or to XFS, lie in huge pages that are for as long as they stay in memory, and need none.
    HugePages,
}

impl Paging {
    /// Every way, in the order of the table above.
    pub const ALL: [Self; 6] =
        [Self::OnDemand, Self::Random, Self::Prefetch, Self::Populate, Self::Lock, Self::HugePages];

    /// Its name in lower case, words joined by hyphens.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OnDemand => "on-demand",
            Self::Random => "random",
            Self::Prefetch => "prefetch",
            Self::Populate => "populate",
            Self::Lock => "lock",
            Self::HugePages => "huge-pages",
        }
    }

    /// Tells the kernel about a fresh mapping of a file.
    pub(crate) fn apply(self, map: &Map) -> Result<()> {
        match self {
            Self::OnDemand | Self::HugePages => Ok(()),
            Self::Random => advise(map, Advice::Random),
            Self::Prefetch => advise(map, Advice::WillNeed),
            Self::Populate => populate(map),
            Self::Lock => lock(map),
        }
    }
}

fn advise(map: &Map, advice: Advice) -> Result<()> {
    // SAFETY: it is a live mapping of ours, and none of the ways of advice used here changes what it holds.
    let advised = unsafe { madvise(map.start().cast(), map.mapped_len(), advice) };
    advised.map_err(std::io::Error::from).doing("advise the kernel on the mapping")
}

#[cfg(target_os = "linux")]
fn populate(map: &Map) -> Result<()> {
    // Kernels before 5.14 do not know it.
    advise(map, Advice::LinuxPopulateRead).or_else(|_| advise(map, Advice::WillNeed))
}

#[cfg(not(target_os = "linux"))]
fn populate(map: &Map) -> Result<()> {
    advise(map, Advice::WillNeed)
}

fn lock(map: &Map) -> Result<()> {
    // SAFETY: it is a live mapping of ours; locking changes nothing that it holds, and unmapping unlocks it.
    let locked = unsafe { mlock(map.start().cast(), map.mapped_len()) };
    locked.map_err(|errno| {
        let finding = format!("the kernel does not lock {} bytes in memory for us ({errno})", map.mapped_len());
        Error::new(Kind::Permission, finding)
            .remedy("raise the limit (`ulimit -l`, RLIMIT_MEMLOCK) or grant CAP_IPC_LOCK, or populate without locking")
    })
}

/// Asks the kernel to enter the pages of mapped `bytes` into the process's page table, all at once: a read would take a fault for each
/// few of them. A hint.
pub(crate) fn touch(bytes: &[u8]) {
    #[cfg(target_os = "linux")]
    {
        let start = bytes.as_ptr().map_addr(|address| address - address % page_size());
        let len = bytes.as_ptr_range().end.addr() - start.addr();
        // SAFETY: these bytes are borrowed, so their pages are mapped and stay; being entered changes nothing that they hold.
        let _ = unsafe { madvise(start.cast_mut().cast(), len, Advice::LinuxPopulateRead) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
}

/// Bytes of a huge page on the processors that are promised, with pages of 4 KiB.
pub const HUGE_PAGE: usize = 2 << 20;

/// A mapping that holds the first `len` bytes of `file`, at least one, in memory of its own.
pub(crate) fn copy(file: &File, len: usize) -> Result<Map> {
    let named = |error: Error| error.file(file.path());
    let mut buffer = Buffer::new(len)
        .map_err(|error| named(error.remedy("share the pages of the file: any other way of paging does")))?;
    #[cfg(target_os = "linux")]
    if len >= HUGE_PAGE {
        // A hint: a kernel without huge pages gives small ones.
        drop(advise(buffer.map(), Advice::LinuxHugepage));
    }
    let read = file.read_at(&mut buffer, 0)?;
    if read < len {
        let finding = format!("the file ends here, and had {len} bytes when its copy was begun");
        return Err(named(Error::new(Kind::Corrupt, finding).at(read as u64)));
    }
    buffer.freeze().map_err(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn whatever_the_paging_the_bytes_are_those_of_the_file() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("file");
        for len in [0, 1, 4096, (4 << 20) + 5] {
            let bytes: Vec<u8> = (0..len).map(|at: usize| (at * 7 / 3) as u8).collect();
            std::fs::File::create(&path).unwrap().write_all(&bytes).unwrap();
            for paging in Paging::ALL {
                match Map::with(&File::open(&path).unwrap(), paging) {
                    Ok(map) => assert!(*map == *bytes, "{paging:?}, {len} bytes"),
                    Err(error) => assert_eq!((paging, error.kind()), (Paging::Lock, Kind::Permission), "{error}"),
                }
            }
        }
    }

    #[test]
    fn a_copy_stays_when_the_file_shrinks() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("file");
        std::fs::write(&path, [7; 10_000]).unwrap();
        let copy = Map::with(&File::open(&path).unwrap(), Paging::HugePages).unwrap();
        std::fs::File::create(&path).unwrap();
        assert_eq!(*copy, [7; 10_000]);
    }
}
