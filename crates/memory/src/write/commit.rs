//! The commit point: the one place where a change of a record takes effect.
//!
//! Everything that a change needs is there before it comes here: the home is locked, the new record is
//! written, and a slot is reserved for a key that had none. Here the change gets its sequence, is shown to
//! the hook, and takes effect by one store:
//!
//! ```text
//! draw a sequence ──► hook (a log, a replica) ──► the slot names the new record, or nothing; or the value changes where it lies
//! ```
//!
//! What always holds:
//! 1. Puts, deletes, growth and numbers changed in place, expiry, purges and parts of long values all come
//!    through [`Owner::commit`], and those of a batch through [`Owner::announce`] and then
//!    [`Owner::take_effect`], all of them between the two states of its intent (`intent.rs`). Relocation by a
//!    cleaner does not: it changes where a record lies, and nothing that anyone reads.
//! 2. The lock of the key's home is held. So of one key, the order of sequences is the order of changes.
//! 3. A reader sees a change only after the hook has seen it.
//! 4. A sequence is drawn only for a record that keeps it, or for a hook. A record keeps that of its last
//!    whole write.

use std::fmt;

use crate::batch::intent::Line;
use crate::index::bucket::{HomeBucket, Locked};
use crate::index::slot::Slot;
use crate::owner::Owner;
use crate::record::Record;
use crate::record::header::Header;
use crate::region::geometry::WORD;
use crate::region::{Region, SEQUENCE};
use crate::sync::AtomicU64;
use crate::sync::Ordering::{Relaxed, Release};
use crate::write::change::Old;

/// A change of one record, ready to take effect.
#[derive(Clone, Copy)]
pub(crate) struct Commit<'c> {
    /// The word of the key's slot, and what stands there.
    pub(crate) at: &'c AtomicU64,
    pub(crate) slot: Slot,
    /// What the slot names; nothing where it is reserved.
    pub(crate) old: Option<Record>,
    pub(crate) new: New,
}

/// What becomes of the record.
#[derive(Clone, Copy)]
pub(crate) enum New {
    /// It goes.
    Nothing,
    /// This one, which is written but for its sequence, takes its place.
    Record(Record),
    /// Its value grew where it lies: this is its header from now on.
    Grown(Header),
    /// Its value, one aligned word, becomes this.
    Word(u64),
}

/// A change as a hook sees it, just before readers do.
pub struct Committed<'c> {
    /// A number that grows from change to change of a key, and that no two changes of a store share.
    pub sequence: u64,
    /// The record before, also where it has expired.
    pub old: Option<Old<'c>>,
    /// What becomes of it.
    pub effect: Effect<'c>,
}

/// What a change does.
pub enum Effect<'c> {
    /// The record goes.
    Removed,
    /// A record is written as a whole.
    Written(Old<'c>),
    /// The value grows from this length on; everything else stays.
    Grown(Old<'c>, u64),
    /// The value becomes this little-endian number; everything else stays.
    Number(u64),
}

/// Sees every change of a store at its commit point.
///
/// It is called under the lock of the key's home, by any writer, cleaner or other thread of the owner: it
/// must be quick, must not wait for the disk, and must not change the store.
pub trait CommitHook: fmt::Debug + Send + Sync {
    /// Sees one change, before any reader can.
    fn commit(&self, change: &Committed<'_>);

    /// Sees the changes of a batch, of which each key has one at most, before any reader sees any of them.
    /// The locks of all their homes are held.
    ///
    /// A log that is to hold all of a batch or nothing of it frames these changes as one.
    fn group(&self, changes: &[Committed<'_>]) {
        for change in changes {
            self.commit(change);
        }
    }
}

impl Owner {
    /// Makes a change take effect. Gives the sequence, if one was drawn.
    #[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
    #[inline(always)]
    pub(crate) fn commit(&self, home: &Locked<'_>, change: Commit<'_>) -> Option<u64> {
        let region = &self.region;
        let keeper = match change.new {
            New::Record(record) if record.header.is_versioned() => Some(record),
            _ => None,
        };
        let is_drawn = keeper.is_some() || self.hook.is_some();
        let sequence = is_drawn.then(|| region.word(SEQUENCE).fetch_add(1, Relaxed));
        if let (Some(record), Some(sequence)) = (keeper, sequence) {
            record.set_sequence(region, sequence);
        }
        if let (Some(hook), Some(sequence)) = (&self.hook, sequence) {
            self.show(&**hook, change, sequence);
        }
        self.take_effect(home.0, change);
        sequence
    }

    #[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
    #[inline(always)]
    pub(crate) fn take_effect(&self, home: HomeBucket<'_>, change: Commit<'_>) {
        match change.new {
            New::Nothing => home.remove(change.at, change.slot),
            New::Record(record) => change.at.store(change.slot.moved_to(record.address).0, Release),
            New::Grown(header) => self.region.store(change.slot.address(), header.0),
            New::Word(word) => change.changed().word(self).store(word, Relaxed),
        }
    }

    /// Gives the changes of a batch their sequences, and shows them to the hook as one. They take effect
    /// later ([`take_effect`](Self::take_effect)), when their intent is committed. Gives the first sequence:
    /// each change has one.
    pub(crate) fn announce(&self, changes: &[Commit<'_>]) -> u64 {
        let region = &self.region;
        let is_kept = |change: &Commit<'_>| matches!(change.new, New::Record(record) if record.header.is_versioned());
        if self.hook.is_none() && !changes.iter().any(is_kept) {
            return 0;
        }
        let first = region.word(SEQUENCE).fetch_add(changes.len() as u64, Relaxed);
        for (sequence, change) in (first..).zip(changes) {
            if let New::Record(record) = change.new
                && record.header.is_versioned()
            {
                record.set_sequence(region, sequence);
            }
        }
        if let Some(hook) = &self.hook {
            let shown: Vec<_> =
                (first..).zip(changes).map(|(sequence, change)| self.describe(*change, sequence)).collect();
            hook.group(&shown);
        }
        first
    }

    #[cold]
    fn show(&self, hook: &dyn CommitHook, change: Commit<'_>, sequence: u64) {
        hook.commit(&self.describe(change, sequence));
    }

    fn describe(&self, change: Commit<'_>, sequence: u64) -> Committed<'_> {
        let of = |record| Old { region: &self.region, record };
        let effect = match change.new {
            New::Nothing => Effect::Removed,
            New::Record(record) => Effect::Written(of(record)),
            New::Grown(header) => {
                let old = change.changed();
                Effect::Grown(of(Record { header, ..old }), old.header.value_len() as u64)
            }
            New::Word(word) => Effect::Number(word),
        };
        Committed { sequence, old: change.old.map(of), effect }
    }
}

impl Commit<'_> {
    /// The word that changes, what it is, and what it becomes.
    pub(crate) fn swap(&self, region: &Region) -> Line {
        let slot = || (region.address_of(self.at), self.slot.0);
        let (at, old, new) = match self.new {
            New::Nothing => (slot().0, slot().1, Slot::EMPTY.0),
            New::Record(record) => (slot().0, slot().1, self.slot.moved_to(record.address).0),
            New::Grown(header) => (self.slot.address(), self.changed().header.0, header.0),
            New::Word(word) => {
                let at = self.changed().value_address();
                (at, region.load(at), word)
            }
        };
        Line::Swap { at, old, new }
    }

    /// The record that changes where it lies.
    #[inline]
    fn changed(&self) -> Record {
        self.old.expect("what changes in place is there")
    }
}

impl Record {
    /// The one word of its value.
    #[inline]
    fn word(self, owner: &Owner) -> &AtomicU64 {
        debug_assert!(self.value_address().is_multiple_of(WORD));
        owner.region.word(self.value_address())
    }
}
