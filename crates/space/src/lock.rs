//! The lock file: who may change `current`, and the number that tells readers it changed.
//!
//! Readers of ours never lock: a version is opened by its name, and a name that is gone by then is looked up again. The
//! original gem's readers hold the shared lock while they open, so the exclusive lock is held briefly: for a few names, and
//! one sync of the directory.

use std::sync::OnceLock;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Dir, File, ProcessFile, Word};

use crate::layout::{LAYOUT_VERSION, LOCK, lock_page};

/// The lock, held until dropped.
pub(crate) struct Locked {
    owned: ProcessFile,
    /// The number on the page when the lock was taken; 0 where there is no page.
    generation: u64,
    /// Whether the page is ours to write.
    writable: bool,
}

impl Locked {
    /// Waits for the exclusive lock. The lock file has its page from here on, if we may write it.
    pub(crate) fn exclusive(dir: &Dir) -> Result<Self> {
        let (file, writable) = open_lock_file(dir, LOCK)?;
        let mut owned = ProcessFile::new(file);
        owned.lock()?;
        let page = read_page(&owned.file)?;
        if page.is_none() && writable {
            owned.file.write_at(&page_of(0), 0)?;
        }
        Ok(Self { owned, generation: page.unwrap_or(0), writable })
    }

    /// The number of the last change that was announced here; 0 before the first.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Tells readers that `current` changed: `generation` must be above the one so far. Where the file cannot be written,
    /// readers find out by looking, so that is no error; and the change itself could not be taken back by one. The fields
    /// are written together, so that a power cut cannot leave a generation without its magic.
    pub(crate) fn announce(&self, generation: u64) {
        debug_assert!(generation > self.generation, "generations rise");
        if self.writable {
            drop(self.owned.file.write_at(&page_of(generation)[..lock_page::HEAD], 0));
        }
    }
}

/// Opens a file to be locked, and says whether we may write it: a process that may not can still hold the
/// lock.
pub(crate) fn open_lock_file(dir: &Dir, name: &str) -> Result<(File, bool)> {
    match dir.open_or_create_shared(name) {
        Err(error) if error.kind() == Kind::Permission => dir.open_file(name)?.map(|file| (file, false)).ok_or(error),
        other => other.map(|file| (file, true)),
    }
}

/// The generation on the page; `None` where the file has no page yet.
fn read_page(file: &File) -> Result<Option<u64>> {
    let mut page = [0; lock_page::SIZE];
    let len = file.read_at(&mut page, 0)?;
    // The gem's is empty, and a power cut can leave the page's length without its bytes.
    if page.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    if lock_page::MAGIC_FIELD.get(&page) != lock_page::MAGIC {
        return Err(Error::new(Kind::Corrupt, "this is not a lock file of Hammerspace")
            .file(file.path())
            .remedy("check the path; if this is a space, move the file away while no process uses the space"));
    }
    // A full disk can take a part of the page only.
    if len < page.len() {
        return Ok(None);
    }
    if lock_page::LAYOUT.get(&page) > LAYOUT_VERSION {
        return Err(Error::new(Kind::Unsupported, "the space was written by a newer Hammerspace")
            .file(file.path())
            .remedy("use a newer build"));
    }
    Ok(Some(lock_page::GENERATION.get(&page)))
}

fn page_of(generation: u64) -> [u8; lock_page::SIZE] {
    let mut page = [0; lock_page::SIZE];
    lock_page::MAGIC_FIELD.set(&mut page, lock_page::MAGIC);
    lock_page::LAYOUT.set(&mut page, LAYOUT_VERSION);
    lock_page::GENERATION.set(&mut page, generation);
    page
}

/// The generation of a directory as its readers watch it, once there is a page for it.
#[derive(Default)]
pub(crate) struct Page(OnceLock<Word>);

impl Page {
    /// The generation as it is now; 0 as long as there is none to watch.
    #[inline]
    pub(crate) fn generation(&self) -> u64 {
        self.0.get().map_or(0, Word::load)
    }

    /// Starts to watch the generation if it has appeared meanwhile; says whether it has.
    pub(crate) fn find(&self, dir: &Dir) -> Result<bool> {
        if self.0.get().is_none()
            && let Some(word) = watch(dir)?
        {
            // Should another thread have been faster, its word is as good.
            drop(self.0.set(word));
        }
        Ok(self.0.get().is_some())
    }
}

/// `None` where there is no page to watch, or not for this user.
fn watch(dir: &Dir) -> Result<Option<Word>> {
    let Ok(Some(file)) = dir.open_file(LOCK) else { return Ok(None) };
    match read_page(&file)? {
        Some(_) => Word::new(&file, lock_page::GENERATION.offset).map(Some),
        None => Ok(None),
    }
}
