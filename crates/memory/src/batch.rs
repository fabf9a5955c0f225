//! Batches: changes of many records that take place as one.
//!
//! ```text
//! batches' turn ──► writer slot ──► directory stays ──► lock all homes ──► decide ──► plan ──► reserve slots and memory
//!      ──► write records ──► write the intent ──► hook ──► COMMITTED ──► change the words ──► APPLIED ──► open all homes
//! ```
//!
//! What always holds:
//! 1. All is decided under the locks of all homes concerned, so other writers see all of a batch or nothing.
//! 2. Whatever may take long or fail comes without the homes: splits, segments, parts of long values. Then
//!    the batch begins anew and is decided anew. From its first write on nothing can fail.
//! 3. No split is made while homes are locked, so homes stay where they are. They are locked in the order of
//!    their addresses; nobody else waits for a second home, since the splits' turn is the batch's.
//! 4. Each key has one change ([`Net`]), and each change is that of one word. The intent lists these words:
//!    an owner's death leaves all of them changed or none (`intent.rs`).
//!
//! One batch is made at a time.

pub(crate) mod intent;
pub(crate) mod parts;
pub(crate) mod room;
pub(crate) mod staged;

use hammerspace_error::Result;

use crate::alloc::budget::Priority;
use crate::batch::intent::{Line, State};
use crate::batch::parts::{Longs, Wanted};
use crate::batch::room::{Room, Writer};
use crate::batch::staged::{Net, Present, Staged};
use crate::index::bucket::{HomeBucket, Locked};
use crate::index::directory::Place;
use crate::index::slot::Slot;
use crate::owner::Owner;
use crate::parts::large::remove_beyond;
use crate::read::{self, RecordMeta};
use crate::record::Record;
use crate::record::header::Header;
use crate::record::key::Key;
use crate::region::Region;
use crate::region::counters::Counted;
use crate::sync::{AtomicU64, MutexGuard, lock};
use crate::testing::flaw::Flaw;
use crate::write::change::{Change, Old, PartsRef};
use crate::write::commit::{Commit, New};
use crate::write::plan::{Draft, Plan, check_key};
use crate::write::update::{Found, TableId, Target, missing_table};
use crate::write::writer_slot::WriterSlot;

/// What becomes of the record that an operation finds; `None` if the batch is not to be made.
pub(crate) type Decide<'d, 'c> = dyn FnMut(usize, Option<&dyn Present>) -> Option<Change<'c>> + 'd;

/// A batch as its keys, each once.
struct Batch<'o, 'k> {
    owner: &'o Owner,
    keys: Vec<Target<'k>>,
    /// Their tables, each once.
    tables: Vec<u16>,
    /// The key of each operation.
    of_operation: Vec<usize>,
    room: Room<'o>,
    longs: Longs<'o>,
}

/// What a try came to.
enum Try {
    Done(Done),
    /// It is not to be made.
    Refused,
    /// Values have to be put in parts first.
    TooLong(Vec<Wanted>),
    /// These keys' pages have no slot for them, or records of these sizes find no room.
    Short {
        pages: Vec<(Place, u64)>,
        sizes: Vec<u64>,
        priority: Priority,
    },
}

/// A batch that has taken place.
struct Done {
    /// The versions that the records of the keys have now.
    versions: Vec<Option<u64>>,
    /// Parts that no record names any more.
    unnamed: Vec<PartsRef>,
}

/// What there is to do about one key.
enum Step<'p> {
    Nothing,
    Remove,
    Grow(Header, &'p [u8]),
    Word(u64),
    Write(Draft<'p>),
}

/// Makes a batch of as many operations as there are keys. Gives the version that each one's record has in the
/// end; `None` if it was not to be made.
pub(crate) fn commit(
    owner: &Owner,
    operations: &[(TableId, Key<'_>)],
    decide: &mut Decide<'_, '_>,
) -> Result<Option<Vec<Option<u64>>>> {
    operations.iter().try_for_each(|(_, key)| check_key(*key))?;
    let _turn = lock(&owner.batches);
    let mut batch = Batch::new(owner, operations);
    for _ in 0..read::TRIES {
        let mut writer = batch.take_writer_slot()?;
        match batch.make(&mut writer, decide)? {
            Try::Done(done) => return Ok(Some(batch.end(&mut writer, done))),
            Try::TooLong(wanted) => {
                drop(writer);
                batch.longs.write(&batch.keys, wanted)?;
            }
            _ => return Ok(None),
        }
    }
    Err(read::restless())
}

impl<'o, 'k> Batch<'o, 'k> {
    fn new(owner: &'o Owner, operations: &[(TableId, Key<'k>)]) -> Self {
        let region = &owner.region;
        let mut order: Vec<_> =
            (0..).zip(operations).map(|(at, (table, key))| (key.hash(region.seed, table.number), at)).collect();
        order.sort_unstable();
        let (mut keys, mut of_operation) = (Vec::<Target<'k>>::new(), vec![0; operations.len()]);
        for (hash, at) in order {
            let (table, key) = operations[at];
            let alike = keys.iter().enumerate().rev().take_while(|(_, target)| target.hash == hash);
            let known = alike.into_iter().find(|(_, target)| (target.table, target.key) == (table, key));
            of_operation[at] = known.map_or(keys.len(), |(known, _)| known);
            if of_operation[at] == keys.len() {
                keys.push(Target { table, key, hash, priority: Priority::User });
            }
        }
        let mut tables: Vec<_> = keys.iter().map(|target| target.table.number).collect();
        tables.sort_unstable();
        tables.dedup();
        Self { owner, keys, tables, of_operation, room: Room::new(owner), longs: Longs::new(owner) }
    }

    /// A writer slot for changes of all tables concerned.
    fn take_writer_slot(&self) -> Result<MutexGuard<'o, WriterSlot>> {
        let mut writer = self.owner.take_writer_slot();
        for &table in &self.tables {
            if self.owner.dropped.contains(table) {
                return Err(missing_table());
            }
            self.owner.ready_counters(&mut writer, table)?;
        }
        Ok(writer)
    }

    /// Tidies up behind a batch that has taken place: no home is locked any more.
    fn end(mut self, writer: &mut WriterSlot, Done { versions, unnamed }: Done) -> Vec<Option<u64>> {
        Flaw::DiedBehindIt.strike(&self.owner.region);
        for parts in unnamed {
            remove_beyond(self.owner, 0, parts);
        }
        // Until then the next owner would remove them, by the list. Where there was none it changes nothing.
        intent::clear(&self.owner.region);
        self.room.end(writer);
        self.of_operation.iter().map(|key| versions[*key]).collect()
    }

    /// Tries until all keys have slots and all records room.
    fn make(&mut self, writer: &mut WriterSlot, decide: &mut Decide<'_, '_>) -> Result<Try> {
        loop {
            match self.attempt(writer, decide)? {
                Try::Short { pages, sizes, priority } => {
                    pages.into_iter().try_for_each(|(page, hash)| self.owner.split(page, hash))?;
                    self.room.make_ready(writer, &sizes, priority)?;
                }
                tried => return Ok(tried),
            }
        }
    }

    /// One try, with all homes locked.
    fn attempt(&mut self, writer: &mut WriterSlot, decide: &mut Decide<'_, '_>) -> Result<Try> {
        let (owner, region) = (self.owner, &self.owner.region);
        let _directory = owner.fix_directory();
        let _homes = Homes::lock(owner, &self.keys)?;
        let found: Vec<_> = self.keys.iter().map(|target| target.find_in(region, home_of(region, target))).collect();
        let there: Vec<_> =
            found.iter().map(|found| found.as_ref().and_then(|found| There::of(region, found))).collect();
        let Some(nets) = self.decide(&there, decide)? else { return Ok(Try::Refused) };
        let (mut steps, mut wanted) = (Vec::with_capacity(nets.len()), Vec::new());
        for (at, net) in nets.iter().enumerate() {
            let old = there[at].as_ref().map(|there| there.old);
            let change = self.longs.instead_of(at, old, net).unwrap_or_else(|| net.as_change());
            let (target, replaced) = (&self.keys[at], found[at].as_ref().map_or(0, |found| found.old.record.size));
            match Plan::of(target.table, target.key, old, replaced, change)? {
                Plan::Long(_) => wanted.push(Wanted::new(at, old, net)),
                plan => steps.push(Step::of(plan, found[at].is_some())),
            }
        }
        if !wanted.is_empty() {
            return Ok(Try::TooLong(wanted));
        }
        let unnamed = self.unnamed(&steps, &found);
        let work = Work { keys: &self.keys, found: &found, there: &there, steps: &steps, unnamed };
        let sizes = work.sizes(region, self.longs.is_used());
        let priority = work.priority(&sizes);
        let (slots, pages) = work.reserve(region);
        if pages.is_empty() && self.room.is_ready(writer, &sizes, priority) {
            let writer = Writer::new(owner, writer, &mut self.room, priority);
            let versions = work.carry_out(owner, writer, &slots, &mut self.longs);
            return Ok(Try::Done(Done { versions, unnamed: work.unnamed }));
        }
        work.give_back(region, &slots);
        Ok(Try::Short { pages, sizes, priority })
    }

    /// Lets all operations decide, in their order. Gives what becomes of each key.
    fn decide<'c>(&self, there: &[Option<There<'_>>], decide: &mut Decide<'_, 'c>) -> Result<Option<Vec<Net<'c>>>> {
        let mut nets: Vec<_> = self.keys.iter().map(|_| Net::Keep).collect();
        for (operation, &key) in self.of_operation.iter().enumerate() {
            let old = there[key].as_ref().map(|there| there.old);
            let staged = Staged { old, net: &nets[key] };
            let present = staged.is_there().then_some(&staged as &dyn Present);
            let Some(change) = decide(operation, present) else { return Ok(None) };
            nets[key] = std::mem::take(&mut nets[key]).then(old, change)?;
        }
        Ok(Some(nets))
    }

    /// Parts that no record names once the batch is made.
    fn unnamed(&self, steps: &[Step<'_>], found: &[Option<Found<'_>>]) -> Vec<PartsRef> {
        let replaced = steps.iter().zip(found).filter_map(|(step, found)| {
            let parts = found.as_ref()?.old.large()?;
            let is_replaced = match step {
                Step::Remove => true,
                Step::Write(draft) => !draft.names(parts),
                _ => false,
            };
            is_replaced.then_some(parts)
        });
        let is_named = |at: usize, parts| matches!(&steps[at], Step::Write(draft) if draft.names(parts));
        replaced
            .chain(self.longs.written().filter(|(at, parts)| !is_named(*at, *parts)).map(|(_, parts)| parts))
            .collect()
    }
}

/// A record that callers can see.
struct There<'a> {
    old: &'a Old<'a>,
    seen: RecordMeta,
}

impl<'a> There<'a> {
    fn of(region: &Region, found: &'a Found<'_>) -> Option<Self> {
        let seen = RecordMeta::of(region, found.old.record);
        (!seen.is_expired()).then_some(Self { old: &found.old, seen })
    }
}

impl<'p> Step<'p> {
    fn of(plan: Plan<'p>, is_there: bool) -> Self {
        match plan {
            Plan::Remove if is_there => Self::Remove,
            Plan::Keep | Plan::Remove => Self::Nothing,
            Plan::Grow(header, bytes) => Self::Grow(header, bytes),
            Plan::Word(word) => Self::Word(word),
            Plan::Write(draft) => Self::Write(draft),
            Plan::Long(_) => unreachable!("put in parts before"),
        }
    }
}

/// The locks of all homes of some keys.
struct Homes<'r> {
    _locked: Vec<Locked<'r>>,
}

impl<'r> Homes<'r> {
    /// Locks them in the order of their addresses. The directory stays as it is.
    fn lock(owner: &'r Owner, keys: &[Target<'_>]) -> Result<Self> {
        let region = &owner.region;
        let home = |target: &Target<'_>| {
            let place = Place::of(region, target.hash);
            (HomeBucket::new(region, place, target.hash).address(), place, target.hash)
        };
        let mut homes: Vec<_> = keys.iter().map(home).collect();
        homes.sort_unstable_by_key(|(address, ..)| *address);
        homes.dedup_by_key(|(address, ..)| *address);
        let lock = |(_, place, hash): (u64, Place, u64)| Locked::at(region, place, hash, owner.incarnation);
        Ok(Self { _locked: homes.into_iter().map(lock).collect::<Result<_>>()? })
    }
}

/// The home of a key, which is locked, so that the directory stays as it is.
fn home_of<'r>(region: &'r Region, target: &Target<'_>) -> HomeBucket<'r> {
    HomeBucket::new(region, Place::of(region, target.hash), target.hash)
}

/// All that a batch is to do, decided and planned.
struct Work<'w, 'k> {
    keys: &'w [Target<'k>],
    found: &'w [Option<Found<'w>>],
    there: &'w [Option<There<'w>>],
    steps: &'w [Step<'w>],
    unnamed: Vec<PartsRef>,
}

/// The slot of each record that is new: its word, and what stands there.
type Slots<'r> = Vec<Option<(&'r AtomicU64, Slot)>>;

impl<'w> Work<'w, '_> {
    fn drafts(&self) -> impl Iterator<Item = &Draft<'w>> {
        self.steps.iter().filter_map(|step| if let Step::Write(draft) = step { Some(draft) } else { None })
    }

    /// How many lines the intent has. A single change needs none: it is one word, and takes place as all do.
    fn lines(&self, has_parts: bool) -> usize {
        let changes = self.steps.iter().filter(|step| !matches!(step, Step::Nothing)).count();
        if changes + self.unnamed.len() > 1 || has_parts { changes + self.unnamed.len() } else { 0 }
    }

    /// The sizes of all records that are written, in their order.
    fn sizes(&self, region: &Region, has_parts: bool) -> Vec<u64> {
        let list = intent::headers(region, self.lines(has_parts));
        self.drafts().map(|draft| draft.header).chain(list).map(Header::size).collect()
    }

    /// The priority of the segments: a batch that gives back as much may go a little beyond the users' cap.
    fn priority(&self, sizes: &[u64]) -> Priority {
        let replaced =
            self.steps.iter().zip(self.found).filter(|(step, _)| matches!(step, Step::Write(_) | Step::Remove));
        let freed: u64 = replaced.filter_map(|(_, found)| Some(found.as_ref()?.old.record.size)).sum();
        let written: u64 = self.drafts().map(|draft| draft.header.size()).sum();
        if written <= freed || sizes.is_empty() { Priority::Replacement } else { Priority::User }
    }

    /// Reserves a slot for each new key. Gives the pages that have none too.
    fn reserve(&self, region: &'w Region) -> (Slots<'w>, Vec<(Place, u64)>) {
        let mut pages = Vec::new();
        let slots = self.keys.iter().zip(self.steps).zip(self.found).map(|((target, step), found)| {
            if found.is_some() || !matches!(step, Step::Write(_)) {
                return None;
            }
            let slot = home_of(region, target).reserve(target.hash);
            if slot.is_none() {
                pages.push((Place::of(region, target.hash), target.hash));
            }
            slot
        });
        (slots.collect(), pages)
    }

    /// Gives slots back that were reserved.
    fn give_back(&self, region: &Region, slots: &Slots<'_>) {
        for (target, slot) in self.keys.iter().zip(slots) {
            if let Some((at, slot)) = slot {
                home_of(region, target).remove(at, *slot);
            }
        }
    }

    /// Makes the batch. Nothing can fail any more.
    fn carry_out(
        &self,
        owner: &Owner,
        mut writer: Writer<'_, '_>,
        slots: &Slots<'w>,
        longs: &mut Longs<'_>,
    ) -> Vec<Option<u64>> {
        let region = &owner.region;
        let lines_max = self.lines(longs.is_used());
        let (of_key, changes): (Vec<_>, Vec<_>) = (0..self.keys.len())
            .filter_map(|key| Some((key, self.write(region, &mut writer, key, slots[key])?)))
            .unzip();
        let lines = changes.iter().map(|change| change.swap(region));
        let lines: Vec<_> = lines.chain(self.unnamed.iter().copied().map(Line::Unnamed)).take(lines_max).collect();
        let list = intent::write(region, &lines, |header, write| writer.write_list(header, write));
        let first = owner.announce(&changes);
        Flaw::DiedBeforeCommit.strike(region);
        if !lines.is_empty() {
            intent::set(region, State::Committed, list);
        }
        if Flaw::OpenedEarly.is_planted() {
            self.keys.iter().for_each(|target| home_of(region, target).unlock());
        }
        let count = if Flaw::Halved.is_planted() { changes.len() / 2 } else { changes.len() };
        for (key, change) in of_key.iter().zip(&changes).take(count) {
            self.take_effect(owner, &mut writer, *key, *change);
            Flaw::DiedHalfway.strike(region);
        }
        Flaw::DiedAtTheEnd.strike(region);
        let versions = self.versions(region, &of_key, &changes, first);
        if !lines.is_empty() {
            intent::set(region, State::Applied, list);
        }
        longs.forget();
        versions
    }

    /// Writes what becomes of a key: where nobody looks.
    fn write(
        &self,
        region: &'w Region,
        writer: &mut Writer<'_, '_>,
        key: usize,
        slot: Option<(&'w AtomicU64, Slot)>,
    ) -> Option<Commit<'w>> {
        let found = self.found[key].as_ref();
        match &self.steps[key] {
            Step::Nothing => None,
            Step::Remove => Some(found?.becomes(New::Nothing)),
            Step::Word(word) => Some(found?.becomes(New::Word(*word))),
            Step::Grow(header, bytes) => {
                let old = found?.old.record;
                region.write_bytes(old.value_address() + old.header.value_len() as u64, bytes);
                Some(found?.becomes(New::Grown(*header)))
            }
            Step::Write(draft) => {
                let record = writer.write(draft, self.keys[key].key);
                let (at, slot) = found.map(|found| (found.at, found.slot)).or(slot)?;
                let old = found.map(|found| found.old.record);
                Some(Commit { at, slot, old, new: New::Record(record) })
            }
        }
    }

    /// Lets a change take effect, and counts it.
    fn take_effect(&self, owner: &Owner, writer: &mut Writer<'_, '_>, key: usize, change: Commit<'_>) {
        let (region, target) = (&owner.region, &self.keys[key]);
        let added = match (change.old, change.new) {
            (Some(old), New::Nothing) => Counted::default().minus(Counted::of(region, old)),
            (Some(old), New::Record(record)) => Counted::of_replacing(region, old, record),
            (None, New::Record(record)) => Counted::of(region, record),
            (Some(old), New::Grown(header)) => Counted::grown(header.value_len() - old.header.value_len()),
            _ => Counted::default(),
        };
        owner.take_effect(home_of(region, target), change);
        writer.count(target.table.number, change, added);
    }

    /// The versions that the records have now.
    fn versions(&self, region: &Region, of_key: &[usize], changes: &[Commit<'_>], first: u64) -> Vec<Option<u64>> {
        let mut versions: Vec<_> =
            self.there.iter().map(|there| there.as_ref().and_then(|there| there.seen.version())).collect();
        for (at, change) in changes.iter().enumerate() {
            versions[of_key[at]] = match (change.new, change.old) {
                (New::Record(record), _) if record.header.is_versioned() => {
                    Some(record.header.version_of(first + at as u64))
                }
                (New::Grown(header), Some(old)) => Record { header, ..old }.version(region),
                _ => None,
            };
        }
        versions
    }
}
