//! Records that want one slot, where hashes are equal or deletes among them: whose put is the last word on its key?
//!
//! Records of different hash are of different keys. Of those with equal hashes, a few are compared with each other; many, be
//! they one key put again and again or keys made to collide, are looked up by key in a map that is seeded at random. So the
//! time is all but linear, whatever the keys are.

use super::super::slot::Shape;
use super::record::Record;
use crate::log::Log;
use crate::{Compression, fault};
use hammerspace_error::Result;
use std::borrow::Cow;
use std::collections::HashMap;
use std::mem;

/// Up to so many records of equal hash are compared with each other.
const FEW: usize = 16;

/// Replays the records of one slot after the other.
pub(super) struct CollisionGroup<'a, B> {
    log: &'a Log<B>,
    /// How much of the log counts.
    end: u64,
    shape: Shape,
    /// The records by hash, each with its place among all.
    by_hash: Vec<(Record, usize)>,
    /// `None` for one that was deleted.
    live: Vec<Option<Live<'a>>>,
    /// Where in `live` the keys of one hash are, if those are many.
    by_key: HashMap<Cow<'a, [u8]>, usize>,
    /// Bytes of all puts that were overwritten or deleted.
    pub(super) dead_size: u64,
}

struct Live<'a> {
    record: Record,
    /// The place of the put that brought the key to life.
    birth: usize,
    /// What the log holds, once somebody asked.
    entry: Option<Known<'a>>,
}

#[derive(Clone)]
struct Known<'a> {
    key: Cow<'a, [u8]>,
    len: u64,
}

impl<'a, B: AsRef<[u8]>> CollisionGroup<'a, B> {
    pub(super) fn new(log: &'a Log<B>, end: u64, shape: Shape) -> Self {
        let (by_hash, live, by_key) = (Vec::new(), Vec::new(), HashMap::new());
        Self { log, end, shape, by_hash, live, by_key, dead_size: 0 }
    }

    /// What lives after these records, which are in the log's order: in the order in which the keys came to life.
    pub(super) fn replay(&mut self, group: &[Record]) -> Result<impl Iterator<Item = Record>> {
        let mut by_hash = mem::take(&mut self.by_hash);
        by_hash.clear();
        by_hash.extend(group.iter().copied().zip(0..));
        by_hash.sort_unstable_by_key(|(record, place)| (record.hash, *place));
        self.live.clear();
        for equal in by_hash.chunk_by(|(one, _), (other, _)| one.hash == other.hash) {
            if equal.len() <= FEW { self.replay_few(equal)? } else { self.replay_many(equal)? }
        }
        self.by_hash = by_hash;
        self.live.sort_unstable_by_key(|live| live.as_ref().map(|live| live.birth));
        Ok(self.live.iter().flatten().map(|live| live.record))
    }

    fn replay_few(&mut self, equal: &[(Record, usize)]) -> Result<()> {
        let first = self.live.len();
        for (record, place) in equal {
            let (mut entry, mut rival) = (None, None);
            for at in first..self.live.len() {
                if self.live[at].is_none() {
                    continue;
                }
                let ours = match entry.take() {
                    Some(known) => known,
                    None => self.read(*record)?,
                };
                let same = self.known(at)?.key == ours.key;
                entry = Some(ours);
                if same {
                    rival = Some(at);
                    break;
                }
            }
            self.apply(*record, *place, entry, rival)?;
        }
        Ok(())
    }

    fn replay_many(&mut self, equal: &[(Record, usize)]) -> Result<()> {
        self.by_key.clear();
        for (record, place) in equal {
            if !record.is_put() && self.by_key.is_empty() {
                continue;
            }
            let entry = self.read(*record)?;
            let rival = self.by_key.get(&entry.key).copied();
            match (rival, record.is_put()) {
                (None, true) => drop(self.by_key.insert(entry.key.clone(), self.live.len())),
                (Some(_), false) => drop(self.by_key.remove(&entry.key)),
                _ => {}
            }
            self.apply(*record, *place, Some(entry), rival)?;
        }
        Ok(())
    }

    /// A put takes the place of its rival, the live put of the same key, or becomes one more; a delete ends it.
    fn apply(&mut self, record: Record, place: usize, entry: Option<Known<'a>>, rival: Option<usize>) -> Result<()> {
        let Some(at) = rival else {
            if record.is_put() {
                self.live.push(Some(Live { record, birth: place, entry }));
            }
            return Ok(());
        };
        self.dead_size = self.dead_size.saturating_add(self.known(at)?.len);
        let birth = self.live[at].as_ref().map_or(place, |rival| rival.birth);
        self.live[at] = record.is_put().then_some(Live { record, birth, entry });
        Ok(())
    }

    /// The entry of a live put.
    fn known(&mut self, at: usize) -> Result<&Known<'a>> {
        let record = self.live[at].as_ref().expect("only what lives is asked for").record;
        let read = match self.live[at].as_ref().and_then(|live| live.entry.clone()) {
            Some(known) => known,
            None => self.read(record)?,
        };
        Ok(self.live[at].as_mut().expect("as above").entry.insert(read))
    }

    fn read(&self, record: Record) -> Result<Known<'a>> {
        let address = self.shape.unpack(record.slot().address);
        let mut decoded = Vec::new();
        let mut keyed = None;
        self.log.entries_between(address, self.end)?.next_keys(1, &mut decoded, |entry| {
            keyed = Some(entry);
            Ok(())
        })?;
        let keyed =
            keyed.ok_or_else(|| fault::log(address.offset as usize, "the block has fewer entries than before"))?;
        let key = match self.log.header().compression {
            Compression::None => Cow::Borrowed(&self.log.bytes()[keyed.key]),
            _ => Cow::Owned(decoded),
        };
        Ok(Known { key, len: keyed.len })
    }
}
