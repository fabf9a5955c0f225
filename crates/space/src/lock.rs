//! The lock file: who may change `current`, and the number that tells readers it changed.
//!
//! Readers of ours never lock: a version is opened by its name, and a name that is gone by then is looked up again. The
//! original gem's readers hold the shared lock while they open, so the exclusive lock is held briefly.

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Dir, File, Lock, Word};

use crate::layout::{LAYOUT_VERSION, LOCK, lock_page};

/// The lock, held until dropped.
pub(crate) struct Locked {
    file: File,
    /// The number on the page when the lock was taken; `None` where the page is not ours to write.
    generation: Option<u64>,
}

impl Locked {
    /// Waits for the exclusive lock. The lock file has its page from here on, if we may write it.
    pub(crate) fn exclusive(dir: &Dir) -> Result<Self> {
        let (file, writable) = open(dir)?;
        file.lock(Lock::Exclusive)?;
        let page = read_page(&file)?;
        if page.is_none() && writable {
            file.write_at(&new_page(), 0)?;
        }
        Ok(Self { file, generation: writable.then_some(page.unwrap_or(0)) })
    }

    /// Waits for the shared lock, which keeps out whoever changes the directory.
    pub(crate) fn shared(dir: &Dir) -> Result<Self> {
        let (file, _) = open(dir)?;
        file.lock(Lock::Shared)?;
        Ok(Self { file, generation: None })
    }

    /// The number of the last change that was announced here; 0 before the first.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.unwrap_or(0)
    }

    /// Tells readers that `current` changed: `generation` must be above the one so far. Where the file cannot be written,
    /// readers find out by looking, so that is no error; and the change itself could not be taken back by one.
    pub(crate) fn announce(&self, generation: u64) {
        if let Some(before) = self.generation {
            debug_assert!(generation > before, "generations rise");
            drop(self.file.write_at(&generation.to_le_bytes(), lock_page::GENERATION.offset as u64));
        }
    }
}

/// A process that may not write the lock file can still hold the lock.
fn open(dir: &Dir) -> Result<(File, bool)> {
    match dir.open_or_create_shared(LOCK) {
        Err(error) if error.kind() == Kind::Permission => dir.open_file(LOCK)?.map(|file| (file, false)).ok_or(error),
        other => other.map(|file| (file, true)),
    }
}

/// The generation on the page; `None` where the file has no page yet.
fn read_page(file: &File) -> Result<Option<u64>> {
    let mut page = [0; lock_page::SIZE];
    let len = file.read_at(&mut page, 0)?;
    // A power cut can leave the page's length without its bytes.
    if len < page.len() || page.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    if lock_page::MAGIC_FIELD.get(&page) != lock_page::MAGIC {
        return Err(Error::new(Kind::Corrupt, "this is not a lock file of Hammerspace")
            .file(file.path())
            .remedy("check the path; if this is a space, empty the file while no writer runs"));
    }
    if lock_page::LAYOUT.get(&page) > LAYOUT_VERSION {
        return Err(Error::new(Kind::Unsupported, "the space was written by a newer Hammerspace")
            .file(file.path())
            .remedy("use a newer build"));
    }
    Ok(Some(lock_page::GENERATION.get(&page)))
}

fn new_page() -> [u8; lock_page::SIZE] {
    let mut page = [0; lock_page::SIZE];
    lock_page::MAGIC_FIELD.set(&mut page, lock_page::MAGIC);
    lock_page::LAYOUT.set(&mut page, LAYOUT_VERSION);
    page
}

/// The generation as a reader watches it; `None` where there is no page to watch, or not for this user.
pub(crate) fn watch(dir: &Dir) -> Result<Option<Word>> {
    let Ok(Some(file)) = dir.open_file(LOCK) else { return Ok(None) };
    match read_page(&file)? {
        Some(_) => Word::new(&file, lock_page::GENERATION.offset).map(Some),
        None => Ok(None),
    }
}
