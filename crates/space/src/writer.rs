//! Writing: the next version, private until it is published.
//!
//! A writer appends to the log of a [`Draft`], which only its own process can write, publish or remove. Whoever asks what a
//! key has by now is told by the [`Changes`] made so far, and else by the version that the writer started from.

use std::borrow::Cow;
use std::sync::Arc;
use std::{fmt, mem};

use hammerspace_error::{Error, Result};
use hammerspace_os::{Paging, ProcessFile};
use hammerspace_sparkey::{LogOptions, LogWriter, Table};

use crate::changes::Changes;
use crate::draft::Draft;
use crate::layout::LOG;
use crate::publish;
use crate::space_dir::SpaceDir;
use crate::turn::Turn;
use crate::version::Version;

/// The next version of a space, in the making: put and delete keys, then [`publish`](Self::publish).
///
/// Any number of writers may be at work, in any processes; the last to publish wins as a whole, unless it is
/// one in turn ([`Space::update`](crate::Space::update), [`Space::updater`](crate::Space::updater)), which
/// replaces only the version that it started from. A writer that is dropped publishes nothing and leaves
/// nothing behind.
pub struct Writer {
    draft: Draft,
    log: LogWriter<ProcessFile>,
    base: Option<Version>,
    /// Whether the log goes on from that of the base.
    continues: bool,
    /// Where in the log the changes start.
    start: u64,
    /// Once somebody has asked.
    changes: Option<Changes>,
    /// Whether anything was written, be it to the value that was there.
    is_changed: bool,
    /// Of an update that queued.
    turn: Option<Turn>,
}

impl Writer {
    /// Starts empty.
    pub(crate) fn replace(space_dir: Arc<SpaceDir>) -> Result<Self> {
        let options = space_dir.options.log(None);
        Self::fresh(space_dir, options)
    }

    /// Starts from the current version, by copying its log and appending to it.
    pub(crate) fn update(space_dir: Arc<SpaceDir>) -> Result<Self> {
        let Some(base) = Version::current(&space_dir.dir, Paging::OnDemand)? else { return Self::replace(space_dir) };
        let header = base.table.log().header();
        let base_options = LogOptions { compression: header.compression, block_size: header.block_size };
        let options = space_dir.options.log(Some(&base_options));
        let same = (options.compression, options.block_size) == (header.compression, header.block_size);
        if same && is_worth_copying(&base) {
            return Self::copy(space_dir, base);
        }
        let mut writer = Self::fresh(space_dir, options)?;
        writer.put_all(&base)?;
        let start = writer.log.header().data_end;
        Ok(Self { base: Some(base), start, is_changed: false, ..writer })
    }

    /// Starts from the current version, and replaces no other.
    pub(crate) fn in_turn(space_dir: Arc<SpaceDir>, turn: Turn) -> Result<Self> {
        let mut writer = Self::update(space_dir)?;
        writer.take_turn(Some(turn));
        Ok(writer)
    }

    fn take_turn(&mut self, turn: Option<Turn>) {
        self.turn = turn;
        if let Some(turn) = &mut self.turn {
            turn.begin(self.base.as_ref().map(|base| &*base.uid));
        }
    }

    fn fresh(space_dir: Arc<SpaceDir>, options: LogOptions) -> Result<Self> {
        let draft = Draft::create(space_dir)?;
        let log = LogWriter::create(draft.create_log()?, &options).map_err(|error| draft.explain(error))?;
        Ok(Self::of(draft, log, None))
    }

    fn copy(space_dir: Arc<SpaceDir>, base: Version) -> Result<Self> {
        let draft = Draft::create(space_dir)?;
        let log = draft.create_log()?;
        let data_end = base.table.log().header().data_end;
        log.file.copy_from(&base.log, &base.table.log().bytes()[..data_end as usize])?;
        let log = LogWriter::append(log).map_err(|error| draft.explain(error))?;
        Ok(Self::of(draft, log, Some(base)))
    }

    fn of(draft: Draft, log: LogWriter<ProcessFile>, base: Option<Version>) -> Self {
        let (continues, start) = (base.is_some(), log.header().data_end);
        Self { draft, log, base, continues, start, changes: None, is_changed: false, turn: None }
    }

    fn put_all(&mut self, base: &Version) -> Result<()> {
        for entry in &base.table {
            let entry = entry?;
            self.put(&entry.key, &entry.value)?;
        }
        self.flush()
    }

    /// Sets the value of `key`, whatever it was.
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        self.is_changed = true;
        self.log.put(key, value).map_err(|error| self.draft.explain(error))?;
        if let Some(changes) = &mut self.changes {
            changes.note(key, Some(value));
        }
        Ok(())
    }

    /// Removes `key`, if it is there.
    pub fn delete(&mut self, key: impl AsRef<[u8]>) -> Result<()> {
        let key = key.as_ref();
        self.is_changed = true;
        self.log.delete(key).map_err(|error| self.draft.explain(error))?;
        if let Some(changes) = &mut self.changes {
            changes.note(key, None);
        }
        Ok(())
    }

    /// Drops all keys, those of the version it started from too.
    pub fn clear(&mut self) -> Result<()> {
        let empty = self.again(Self::replace)?;
        let Self { turn, .. } = mem::replace(self, empty);
        (self.turn, self.is_changed) = (turn, true);
        Ok(())
    }

    /// Drops what is pending, and starts from the version that is current by now. An update keeps its turn:
    /// this is how it goes on after [`Changed`](hammerspace_error::Kind::Changed).
    pub fn restart(&mut self) -> Result<()> {
        let fresh = self.again(Self::update)?;
        let Self { turn, .. } = mem::replace(self, fresh);
        self.take_turn(turn);
        Ok(())
    }

    fn again(&self, how: impl FnOnce(Arc<SpaceDir>) -> Result<Self>) -> Result<Self> {
        self.draft.check_owner()?;
        how(Arc::clone(&self.draft.space_dir))
    }

    /// Whether a key was put, deleted or cleared, be it without effect.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// The number of the version it started from.
    pub(crate) fn base_number(&self) -> Option<u64> {
        self.base.as_ref()?.number()
    }

    /// The value that `key` would have if this were published now. From the first call on, the writer keeps its changes in
    /// memory too, and those before it are read back: ask for what you must know.
    ///
    /// ```
    /// # let scratch = tempfile::tempdir()?;
    /// # let space = hammerspace_space::Space::create(scratch.path())?;
    /// let mut writer = space.writer()?;
    /// writer.put("cartoons", "mallets")?;
    /// assert_eq!(writer.get("cartoons")?.as_deref(), Some(&b"mallets"[..]));
    /// writer.delete("cartoons")?;
    /// assert_eq!(writer.get("cartoons")?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get(&mut self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        let key = key.as_ref();
        if let Some(change) = self.changes()?.of(key) {
            return Ok(change.map(<[u8]>::to_vec));
        }
        let Some(base) = &self.base else { return Ok(None) };
        Ok(base.table.get(key)?.map(Cow::into_owned))
    }

    /// How many keys there would be if this were published now. Remembers as [`get`](Self::get) does; linear in the changes.
    pub fn count(&mut self) -> Result<u64> {
        self.changes()?;
        let base = self.base.as_ref().map(|base| &base.table);
        let mut count = base.map_or(0, Table::len);
        for (key, is_there) in self.changes.iter().flat_map(Changes::iter) {
            let was_there = base.map_or(Ok(false), |base| base.contains(key))?;
            count = count + u64::from(is_there) - u64::from(was_there);
        }
        Ok(count)
    }

    /// The keys that there would be, in the order in which they were last written. Remembers, and reads all there is.
    pub fn keys(&mut self) -> Result<Vec<Vec<u8>>> {
        self.changes()?;
        let changes = self.changes.get_or_insert_default();
        let mut keys = Vec::new();
        for entry in self.base.iter().flat_map(|base| &base.table) {
            let key = entry?.key;
            if changes.of(&key).is_none() {
                keys.push(key.into_owned());
            }
        }
        keys.extend(changes.put().map(<[u8]>::to_vec));
        Ok(keys)
    }

    fn changes(&mut self) -> Result<&Changes> {
        if self.changes.is_none() {
            self.draft.check_owner()?;
            self.flush()?;
            let log = self.draft.dir.open_file(LOG)?.ok_or_else(|| self.draft.vanished())?;
            self.changes = Some(Changes::read(&log, self.start)?);
        }
        Ok(self.changes.get_or_insert_default())
    }

    /// Nobody else reads this log yet; the one who does is [`Changes`].
    fn flush(&mut self) -> Result<()> {
        self.log.flush().map_err(|error| self.draft.explain(error))
    }

    /// Makes this the current version, in one step, and gives its number. When it returns, every reader that opens or
    /// refreshes sees all of it, and (unless [relaxed](crate::Durability)) a power cut can no longer take it away.
    ///
    /// Should it fail, the version before is still current; the error says so where it is otherwise. Where
    /// another version was published meanwhile an update fails
    /// ([`Changed`](hammerspace_error::Kind::Changed)), and can only be made again; other writers replace it.
    pub fn publish(self) -> Result<u64> {
        self.try_publish().map_err(|failed| failed.error)
    }

    /// The same, and gives the writer back where that failed, with all that is pending: to try again once the cause is gone.
    ///
    /// ```
    /// # let scratch = tempfile::tempdir()?;
    /// # let space = hammerspace_space::Space::create(scratch.path())?;
    /// let mut writer = space.writer()?;
    /// writer.put("cartoons", "mallets")?;
    /// let number = writer.try_publish().or_else(|failed| {
    ///     // After making room.
    ///     failed.writer.ok_or(failed.error)?.publish()
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_publish(mut self) -> Result<u64, Box<Unpublished>> {
        self.attempt().map_err(|error| {
            let writer = (!self.draft.published).then_some(self);
            Box::new(Unpublished { error, writer })
        })
    }

    fn attempt(&mut self) -> Result<u64> {
        self.draft.check_owner()?;
        self.draft.check_kept()?;
        self.flush()?;
        let base = self.base.as_ref().filter(|_| self.continues);
        publish::publish(&mut self.draft, &self.log.sink().file, base, self.turn.as_ref())
    }
}

/// A publication that failed.
#[derive(Debug)]
pub struct Unpublished {
    /// What went wrong.
    pub error: Error,
    /// What is pending still. Nothing, where it became current all the same, as the error says. After a failed sync the writer
    /// refuses to publish, and says why.
    pub writer: Option<Writer>,
}

/// Whether appending to a copy of the log serves better than writing the live entries anew: at most half of it is garbage,
/// and its index covers all of it (appending would bring entries to light that readers do not see).
fn is_worth_copying(base: &Version) -> bool {
    let (log, index) = (base.table.log().header(), base.table.index().header());
    index.data_end == log.data_end && index.garbage_size <= log.put_size.saturating_add(log.delete_size) / 2
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("uid", &self.draft.uid).finish_non_exhaustive()
    }
}
