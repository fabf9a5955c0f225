//! Replaying a log: every record that counts, those of each key in their order, keys by several threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::Dir;

use crate::SEGMENTS;
use crate::manifest::Manifest;
use crate::record::{ALIGN, Record};
use crate::segment::{self, Found, HEADER, Segment, corrupt};

/// A log that is to be replayed.
pub struct Recovery {
    segments: Dir,
    manifest: Manifest,
}

/// What a replay found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Records.
    pub records: u64,
    /// The greatest number of a change.
    pub last: u64,
    /// Bytes of a torn tail, which do not count.
    pub torn: u64,
}

/// What a salvage found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvage {
    /// Records that could be read.
    pub records: u64,
    /// The greatest number of a change.
    pub last: u64,
    /// What could not be read, in words: file and offsets.
    pub lost: Vec<String>,
}

/// Counts what threads replay.
#[derive(Default)]
struct Tally {
    records: AtomicU64,
    last: AtomicU64,
}

impl Tally {
    fn add(&self, record: &Record<'_>) {
        self.records.fetch_add(1, Ordering::Relaxed);
        self.last.fetch_max(record.sequence, Ordering::Relaxed);
    }
}

type Apply<'a> = &'a (dyn Fn(&Record<'_>) -> Result<()> + Sync);

impl Recovery {
    /// That of a store's directory. `None` if it has no log.
    pub fn of(store: &Dir) -> Result<Option<Self>> {
        let Some(manifest) = Manifest::read(store)? else { return Ok(None) };
        let Some(segments) = store.open_dir(SEGMENTS)? else {
            let error = Error::new(Kind::Corrupt, "the segments of the log are missing");
            return Err(error.file(store.path().join(SEGMENTS)).remedy("restore the directory, or remove the store"));
        };
        Ok(Some(Self { segments, manifest }))
    }

    /// What the manifest says.
    pub fn manifest(&self) -> Manifest {
        self.manifest
    }

    /// Gives each record to `apply`, on one of so many threads: all records of a key on the same, in their
    /// order. `progress` is told how many bytes are done, of how many.
    ///
    /// A torn tail of the last segment does not count. [`Kind::Corrupt`], with file and offset, for any other
    /// damage. O(bytes of the log); two segments are in memory at a time.
    pub fn replay(&self, threads: usize, apply: Apply<'_>, progress: &dyn Fn(u64, u64)) -> Result<Recovered> {
        let Manifest { log, first, last, .. } = self.manifest;
        let (tally, mut torn, mut done) = (Tally::default(), 0, 0);
        let all = self.bytes()?;
        let read = |number| Segment::read(&self.segments, log, number);
        thread::scope(|scope| {
            let mut next = Some(scope.spawn(move || read(first)));
            for number in first..=last {
                let segment = next.take().expect("one ahead").join().expect("reading does not panic")?;
                next = (number < last).then(|| scope.spawn(move || read(number + 1)));
                let end = segment.end(number == last)?;
                torn = (segment.bytes.len() - end) as u64;
                replay(&segment, end, threads, apply, &tally)?;
                done += segment.bytes.len() as u64;
                progress(done, all.max(done));
            }
            Ok(())
        })?;
        Ok(Recovered { records: tally.records.into_inner(), last: tally.last.into_inner(), torn })
    }

    /// Bytes of its segments.
    pub fn bytes(&self) -> Result<u64> {
        let len = |number| self.segments.open_file(&segment::name(number))?.map_or(Ok(0), |file| file.len());
        (self.manifest.first..=self.manifest.last).map(len).sum()
    }

    /// Gives to `apply` each record that can be read, in order, whatever is damaged. Of a batch, of which
    /// something is lost, nothing is given.
    pub fn salvage(store: &Dir, apply: Apply<'_>) -> Result<Salvage> {
        let mut salvage = Salvage::default();
        let manifest = match Manifest::read(store) {
            Ok(Some(manifest)) => Some(manifest),
            Ok(None) => return Err(Error::new(Kind::Missing, "the store has no log").file(store.path())),
            Err(error) if error.kind() == Kind::Corrupt => {
                salvage.lost.push(format!("{error}"));
                None
            }
            Err(error) => return Err(error),
        };
        let Some(segments) = store.open_dir(SEGMENTS)? else { return Ok(salvage) };
        let mut numbers: Vec<u64> =
            segments.entries()?.iter().filter_map(|entry| segment::number(&entry.name)).collect();
        numbers.sort_unstable();
        if let Some(manifest) = manifest {
            let named = manifest.first..=manifest.last;
            for number in named.clone().filter(|number| !numbers.contains(number)) {
                salvage.lost.push(format!("{}: the segment is missing", segment::name(number)));
            }
            numbers.retain(|number| named.contains(number));
        }
        let last = numbers.last().copied();
        for number in numbers {
            let segment = Segment::read_damaged(&segments, number)?;
            salvage.take(&segment, Some(number) == last, apply)?;
        }
        Ok(salvage)
    }
}

/// Replays the blocks of a segment up to `end`.
fn replay(segment: &Segment, end: usize, threads: usize, apply: Apply<'_>, tally: &Tally) -> Result<()> {
    let threads = threads.max(1);
    let share = |mine: usize| -> Result<()> {
        for (offset, block) in segment.blocks(end) {
            let mut records = block.records;
            while !records.is_empty() {
                let Some((record, len)) = Record::read(records) else {
                    let at = offset + block.len() - records.len();
                    return Err(corrupt(at, "a record of the log is damaged").file(segment.file.path()));
                };
                if record.share(threads) == mine {
                    tally.add(&record);
                    apply(&record)?;
                }
                records = &records[len..];
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|mine| scope.spawn(move || share(mine))).collect();
        let ours = share(0);
        others.into_iter().map(|other| other.join().expect("no panic")).fold(ours, Result::and)
    })
}

impl Salvage {
    fn take(&mut self, segment: &Segment, is_last: bool, apply: Apply<'_>) -> Result<()> {
        let name = segment::name(segment.number);
        let mut offset = HEADER;
        loop {
            match segment.at(offset) {
                Found::End => return Ok(()),
                Found::Block(block) => {
                    self.records_of(block.records, true, apply)?;
                    offset += block.len();
                }
                Found::Damage(next) => {
                    let end = next.unwrap_or(segment.bytes.len());
                    let before = self.records;
                    self.records_of(&segment.bytes[offset..end], false, apply)?;
                    let saved = self.records - before;
                    if next.is_some() || !is_last || saved > 0 {
                        self.lost.push(format!(
                            "{name}: bytes {offset} to {end} are damaged; {saved} records in them can be read"
                        ));
                    } else {
                        self.lost.push(format!("{name}: bytes {offset} to {end}, its torn or damaged end"));
                    }
                    offset = end;
                }
            }
        }
    }

    /// Takes every record that can be read. In damaged bytes there may be one at any place.
    fn records_of(&mut self, mut bytes: &[u8], is_whole: bool, apply: Apply<'_>) -> Result<()> {
        while bytes.len() >= ALIGN {
            let step = match Record::read(bytes) {
                Some((record, len)) => {
                    if is_whole || !record.is_of_batch {
                        self.records += 1;
                        self.last = self.last.max(record.sequence);
                        apply(&record)?;
                    }
                    len
                }
                None => ALIGN,
            };
            bytes = &bytes[step..];
        }
        Ok(())
    }
}
