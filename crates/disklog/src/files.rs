//! The log's files, as the one thread that changes them at a time sees them.

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Dir, File};
use uuid::Uuid;

use crate::manifest::{Durability, Manifest};
use crate::segment::{self, HEADER, Segment};
use crate::{SEGMENTS, block};

/// The manifest and the last segment, which is written to.
pub(crate) struct Files {
    store: Dir,
    segments: Dir,
    pub(crate) manifest: Manifest,
    last: File,
    /// Where the next block goes.
    end: u64,
    /// Bytes of all segments in front of the last.
    before: u64,
}

fn open_segments(store: &Dir) -> Result<Dir> {
    store.open_dir(SEGMENTS)?.map_or_else(|| store.create_dir(SEGMENTS), Ok)
}

impl Files {
    /// Begins a log in a store's directory. It takes the place of the one there is when its manifest is
    /// written.
    pub(crate) fn create(store: Dir, durability: Durability, limit: u64, mode: u32) -> Result<Self> {
        let segments = open_segments(&store)?;
        store.sync()?;
        let log = Uuid::new_v4().as_u128();
        let number = 1 + segments.entries()?.iter().filter_map(|it| segment::number(&it.name)).max().unwrap_or(0);
        let last = segment::create(&segments, log, number, mode)?;
        let manifest = Manifest { log, first: number, last: number, limit, durability, mode, live: 0 };
        Ok(Self { store, segments, manifest, last, end: HEADER as u64, before: 0 })
    }

    /// Goes on with a log. Its last segment is read only if it was not closed: then a torn tail is cut off.
    pub(crate) fn open(store: Dir, manifest: Manifest, is_closed: bool) -> Result<Self> {
        let segments = open_segments(&store)?;
        let number = manifest.last;
        let missing = || {
            let error = Error::new(Kind::Corrupt, "the last segment of the log is missing");
            error.file(segments.path().join(segment::name(number)))
        };
        let (last, end) = if is_closed {
            let file = segments.open_file_to_write(&segment::name(number))?.ok_or_else(missing)?;
            let end = file.len()?;
            (file, end)
        } else {
            let segment = Segment::read(&segments, manifest.log, number)?;
            let end = segment.end(true)?;
            segment.cut(end)?;
            (segment.file, end as u64)
        };
        let mut files = Self { store, segments, manifest, last, end, before: 0 };
        files.remove_others()?;
        files.before = files.count()?;
        Ok(files)
    }

    /// Removes segments that the manifest does not name.
    fn remove_others(&self) -> Result<()> {
        for entry in self.segments.entries()? {
            let is_ours = segment::number(&entry.name)
                .is_some_and(|number| (self.manifest.first..=self.manifest.last).contains(&number));
            if !is_ours && segment::number(&entry.name).is_some() {
                self.segments.unlink(&entry.name)?;
            }
        }
        Ok(())
    }

    fn count(&self) -> Result<u64> {
        (self.manifest.first..self.manifest.last)
            .map(|number| self.segments.open_file(&segment::name(number))?.map_or(Ok(0), |file| file.len()))
            .sum()
    }

    /// Makes the manifest durable as it stands.
    pub(crate) fn write_manifest(&self) -> Result<()> {
        self.manifest.write(&self.store)
    }

    /// Bytes of the whole log.
    pub(crate) fn bytes(&self) -> u64 {
        self.before + self.end
    }

    /// Whether the last segment has as many bytes as one is to have.
    pub(crate) fn is_full(&self) -> bool {
        self.end >= segment::SIZE
    }

    /// Begins the next segment. Gives its number.
    pub(crate) fn roll(&mut self) -> Result<u64> {
        let number = self.manifest.last + 1;
        let next = segment::create(&self.segments, self.manifest.log, number, self.manifest.mode)?;
        Manifest { last: number, ..self.manifest }.write(&self.store)?;
        self.manifest.last = number;
        self.before += self.end;
        (self.last, self.end) = (next, HEADER as u64);
        Ok(number)
    }

    /// Lets the log begin with this segment: everything in those before it is in the log once more, and
    /// durable.
    pub(crate) fn keep_from(&mut self, number: u64) -> Result<()> {
        let mut manifest = Manifest { first: number, ..self.manifest };
        let before = std::mem::replace(&mut self.manifest, manifest);
        let counted = self.count();
        self.manifest = before;
        self.before = counted?;
        manifest.live = self.bytes();
        manifest.write(&self.store)?;
        self.manifest = manifest;
        self.remove_others()
    }

    /// Appends a block, whose head is still to be filled in. What could not be written is taken back.
    pub(crate) fn append(&mut self, block: &mut [u8], through: u64) -> Result<()> {
        block::end(block, self.end, through);
        if let Err(error) = self.last.write_at(block, self.end) {
            // Nothing that is torn may stand in front of what comes next.
            return Err(self.last.truncate(self.end).err().unwrap_or(error));
        }
        Ok(())
    }

    /// Makes the last block of this length durable.
    pub(crate) fn sync(&mut self, len: usize) -> Result<()> {
        self.last.sync()?;
        self.end += len as u64;
        Ok(())
    }

    /// Removes the log.
    pub(crate) fn remove(&self) -> Result<()> {
        remove(&self.store)
    }
}

/// Removes the log of a store's directory, if it has one.
pub(crate) fn remove(store: &Dir) -> Result<()> {
    Manifest::remove(store)?;
    store.remove_dir(SEGMENTS)
}
