//! Writing: the next version, private until it is published.
//!
//! A writer owns a directory of its own, holds the lock on that directory's stamp, and belongs to the process that made it:
//! a forked child can neither publish nor damage nor delete what its parent has pending.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Dir, File};
use hammerspace_sparkey::{LogOptions, LogWriter};

use crate::layout::{DEAD, LOG, new_uid};
use crate::lock::Locked;
use crate::publish;
use crate::space::Home;
use crate::stamp;
use crate::version::Version;

/// The next version of a space, in the making: put and delete keys, then [`publish`](Self::publish).
///
/// Any number of writers may be at work, in any processes; the last to publish wins as a whole. A writer that is dropped
/// publishes nothing and leaves nothing behind.
pub struct Writer {
    draft: Draft,
    log: LogWriter<Owned>,
    base: Option<Version>,
}

/// The private directory. Dropping it removes it, unless it was published or belongs to another process.
pub(crate) struct Draft {
    pub(crate) home: Arc<Home>,
    pub(crate) uid: String,
    pub(crate) dir: Dir,
    /// Locked: says that we are at work here.
    _stamp: File,
    owner: Owner,
    pub(crate) published: bool,
}

/// The process that a writer belongs to.
#[derive(Clone, Copy)]
struct Owner(u32);

impl Writer {
    /// Starts empty.
    pub(crate) fn replace(home: Arc<Home>) -> Result<Self> {
        let options = home.options.log(None);
        Self::fresh(home, options)
    }

    /// Starts from the current version, by copying its log and appending to it.
    pub(crate) fn update(home: Arc<Home>) -> Result<Self> {
        let Some(base) = Version::current(&home.dir)? else { return Self::replace(home) };
        let header = base.table.log().header();
        let base_options = LogOptions { compression: header.compression, block_size: header.block_size };
        let options = home.options.log(Some(&base_options));
        let same = (options.compression, options.block_size) == (header.compression, header.block_size);
        if same && is_worth_copying(&base) {
            return Self::copy(home, base);
        }
        let mut writer = Self::fresh(home, options)?;
        writer.put_all(&base)?;
        Ok(writer)
    }

    fn fresh(home: Arc<Home>, options: LogOptions) -> Result<Self> {
        let draft = Draft::create(home)?;
        let log = LogWriter::create(draft.create_log()?, &options).map_err(|error| draft.explain(error))?;
        Ok(Self { draft, log, base: None })
    }

    fn copy(home: Arc<Home>, base: Version) -> Result<Self> {
        let draft = Draft::create(home)?;
        let log = draft.create_log()?;
        let data_end = base.table.log().header().data_end;
        log.file.copy_from(&base.log, &base.table.log().bytes()[..data_end as usize])?;
        let log = LogWriter::append(log).map_err(|error| draft.explain(error))?;
        Ok(Self { log, draft, base: Some(base) })
    }

    fn put_all(&mut self, base: &Version) -> Result<()> {
        for entry in &base.table {
            let entry = entry?;
            self.put(&entry.key, &entry.value)?;
        }
        Ok(())
    }

    /// Sets the value of `key`, whatever it was.
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        self.log.put(key.as_ref(), value.as_ref()).map_err(|error| self.draft.explain(error))
    }

    /// Removes `key`, if it is there.
    pub fn delete(&mut self, key: impl AsRef<[u8]>) -> Result<()> {
        self.log.delete(key.as_ref()).map_err(|error| self.draft.explain(error))
    }

    /// Makes this the current version, in one step, and gives its number. When it returns, every reader that opens or
    /// refreshes sees all of it, and (unless [relaxed](crate::Durability)) a power cut can no longer take it away.
    ///
    /// Should it fail, the version before is still current; the error says so where it is otherwise.
    pub fn publish(self) -> Result<u64> {
        self.draft.owner.check()?;
        let (log, _) = self.log.finish().map_err(|error| self.draft.explain(error))?;
        publish::publish(self.draft, &log.file, self.base.as_ref())
    }
}

/// Whether appending to a copy of the log serves better than writing the live entries anew: at most half of it is garbage,
/// and its index covers all of it (appending would bring entries to light that readers do not see).
fn is_worth_copying(base: &Version) -> bool {
    let (log, index) = (base.table.log().header(), base.table.index().header());
    index.data_end == log.data_end && index.garbage_size <= log.put_size.saturating_add(log.delete_size) / 2
}

impl Draft {
    /// Born under the name of the dead: should we be killed before the stamp is locked, nobody needs to wonder whose it is.
    /// The lock keeps sweepers out meanwhile, and sees to it that there is a page to announce the publication on.
    fn create(home: Arc<Home>) -> Result<Self> {
        let _locked = Locked::exclusive(&home.dir)?;
        let uid = new_uid();
        let unborn = format!("{DEAD}{uid}");
        let stamp = stamp::create(&home.dir.create_dir(&unborn)?)?;
        home.dir.rename(&unborn, &uid)?;
        let dir = home.dir.open_dir(&uid)?.ok_or_else(|| vanished(&home.dir, &uid))?;
        Ok(Self { home, uid, dir, _stamp: stamp, owner: Owner(std::process::id()), published: false })
    }

    fn create_log(&self) -> Result<Owned> {
        Ok(Owned { file: self.dir.create_file(LOG)?, owner: self.owner })
    }

    /// Gives an error of the log the file's name; a child's write, which [`Owned`] refuses, its own words.
    fn explain(&self, error: Error) -> Error {
        self.owner.check().err().unwrap_or(error).file(self.dir.path().join(LOG))
    }
}

fn vanished(space: &Dir, uid: &str) -> Error {
    Error::new(Kind::Missing, "the directory that was just made is gone")
        .file(space.path().join(uid))
        .remedy("see who else removes files here, and try again")
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.published && self.owner.check().is_ok() {
            // What cannot be removed now, the next sweep removes: nobody holds its stamp any more.
            drop(self.home.dir.remove_dir(&self.uid));
        }
    }
}

impl Owner {
    fn check(self) -> Result<()> {
        let us = std::process::id();
        if us == self.0 {
            return Ok(());
        }
        let finding = format!("this writer belongs to process {}, and process {us} was forked from it", self.0);
        Err(Error::new(Kind::Invalid, finding).remedy("take a new writer after the fork"))
    }
}

/// A file that only the process which opened it writes to: after a fork, both sides would share its position.
struct Owned {
    file: File,
    owner: Owner,
}

impl Write for Owned {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.owner.check().map_err(io::Error::other)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Read for Owned {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Seek for Owned {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.owner.check().map_err(io::Error::other)?;
        self.file.seek(to)
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("uid", &self.draft.uid).finish_non_exhaustive()
    }
}
