//! The file of a region: its owner's lock, and the room that its file system has for it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Capacity, File, ProcessFile};

use crate::alloc::pool::Backing;
use crate::region::geometry::{COUNTER_BLOCK, Layout, SEGMENT_ENTRY, USAGE_ENTRY, WORD};
use crate::region::{OWNER, Region};

/// How often, at an interval of a millisecond, a lock is tried again whose holder may only be looking at it.
const LOCK_TRIES: u32 = 20;
/// The same of one that readers are looking at, of whom there may be many.
const SHARED_TRIES: u32 = 1000;
const INTERVAL: Duration = Duration::from_millis(1);

/// The region's file, from which segments that were never used get their memory. It is locked too: a
/// directory can be copied, and then two of them name one region.
///
/// What is locked is the file opened once more: forked children keep the mapping, and with it the open file
/// that is mapped.
pub(crate) struct RegionFile {
    pub(crate) file: File,
    lock: Option<ProcessFile>,
}

impl Backing for RegionFile {
    fn back(&self, region: &Region, address: u64, len: u64) -> Result<()> {
        region.back(&self.file, address, len).map_err(|error| match error.kind() {
            Kind::Full => self.check_room(len + region.untaken()).err().unwrap_or(error),
            _ => error,
        })
    }
}

impl RegionFile {
    pub(crate) fn own(file: File) -> Result<Self> {
        let path = file.path();
        let again = File::open(path)?;
        if !again.is_same_as(&file)? {
            let error = Error::new(Kind::Busy, "the region's file is being replaced by another").file(path);
            return Err(error.remedy("find the process that does that, and try again"));
        }
        let lock = try_to_own(again)?.ok_or_else(|| owned_by_others(path, owner_in(&file)))?;
        Ok(Self { file, lock: Some(lock) })
    }

    /// One that nobody else finds. Children look at the claim.
    pub(crate) fn claim(file: File) -> Result<Self> {
        file.claim()?;
        Ok(Self { file, lock: None })
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Whether the file has lost its name, so that nobody else will ever find it.
    pub(crate) fn is_deleted(&self) -> bool {
        self.lock.is_some() && self.file.has_name().is_ok_and(|has_name| !has_name)
    }

    /// Whether the process that made it has it still, if it has no name. For that process's children.
    pub(crate) fn is_claimed(&self) -> Result<bool> {
        self.file.is_claimed()
    }

    /// Room for what the tables say about this many segments, and for the counters of the first 256 tables of
    /// a store.
    pub(crate) fn back_tables(&self, layout: &Layout, segments: u64) -> Result<()> {
        let file = &self.file;
        file.allocate(0, Layout::generation(0))?;
        file.allocate(Layout::generation(0), segments * SEGMENT_ENTRY)?;
        file.allocate(layout.usage(0), segments * USAGE_ENTRY)?;
        file.allocate(layout.counter_block(0), COUNTER_BLOCK)
    }

    /// Refuses to take so many bytes more where the file system does not have them.
    pub(crate) fn check_room(&self, needed: u64) -> Result<()> {
        let Capacity { size, left } = self.file.capacity()?;
        if left >= needed {
            return Ok(());
        }
        let mount = mount_of(self.path());
        let finding = format!("{} has {left} bytes left, and the store may take {needed} more", mount.display());
        let remedy = format!(
            "enlarge it (`mount -o remount,size={} {}`), lower the limit, or put the region into another directory",
            size - left + needed,
            mount.display()
        );
        Err(Error::new(Kind::Full, finding).remedy(remedy))
    }
}

/// The highest directory of the file system that `path` lies on.
fn mount_of(path: &Path) -> PathBuf {
    let device = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.dev()).ok();
    let ours = device(path);
    path.ancestors().take_while(|above| device(above) == ours).last().unwrap_or(path).to_path_buf()
}

/// Locks a file, unless somebody else has it for longer than it takes to look at a lock.
pub(crate) fn try_to_own(file: File) -> Result<Option<ProcessFile>> {
    let mut owned = ProcessFile::new(file);
    for time in 0..SHARED_TRIES {
        if owned.try_lock()? {
            return Ok(Some(owned));
        }
        if time > LOCK_TRIES && owned.file.is_locked()? {
            break;
        }
        thread::sleep(INTERVAL);
    }
    Ok(None)
}

/// The process that a region names as its owner, if it lives.
pub(crate) fn owner_in(region: &File) -> Option<u32> {
    let mut word = [0; WORD as usize];
    let len = region.read_at(&mut word, OWNER).ok()?;
    let owner = u32::try_from(u64::from_le_bytes(word)).ok()?;
    (len == word.len() && hammerspace_os::process::is_alive(owner)).then_some(owner)
}

pub(crate) fn owned_by_others(path: &Path, owner: Option<u32>) -> Error {
    let finding = match owner {
        Some(owner) if owner == std::process::id() => "this process owns the store, through another handle".to_owned(),
        Some(owner) => format!("process {owner} owns the store"),
        None => "another process owns the store".to_owned(),
    };
    Error::new(Kind::Busy, finding).file(path).remedy("attach to it to read, or let its owner write")
}
