//! Writers and a cleaner that want the same key (`update.rs`, `cleaner.rs`): one lock, from looking to
//! swinging the slot. And the segment that the one closed and the other claims.

use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread;

use crate::prove;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Flaw {
    None,
    /// Nobody locks the home.
    NoLock,
    /// The cleaner copies before it locks.
    CopyBeforeLock,
    /// The length covers bytes before they are written.
    LengthFirst,
    /// The lock is opened without releasing what was done under it.
    RelaxedUnlock,
    /// A segment is claimed without acquiring what was done before it was closed.
    RelaxedClaim,
}

/// A home's lock, the slot of its one key, and places for records of a length and two bytes.
struct HomeBucket {
    lock: AtomicUsize,
    slot: AtomicUsize,
    records: [[AtomicUsize; 3]; 3],
}

impl HomeBucket {
    fn new() -> Arc<Self> {
        let word = || AtomicUsize::new(0);
        let record = || [word(), word(), word()];
        Arc::new(Self { lock: word(), slot: word(), records: [record(), record(), record()] })
    }

    fn locked(&self, flaw: Flaw, change: impl FnOnce()) {
        if flaw == Flaw::NoLock {
            return change();
        }
        while self.lock.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            thread::yield_now();
        }
        change();
        self.lock.store(0, if flaw == Flaw::RelaxedUnlock { Relaxed } else { Release });
    }

    /// Writes beyond the value, and then lets the length cover it.
    fn append(&self) {
        let record = &self.records[self.slot.load(Relaxed)];
        let len = record[0].load(Relaxed);
        record[1 + len].store(7, Relaxed);
        record[0].store(len + 1, Release);
    }

    fn copy(&self, to: usize) {
        for (source, target) in self.records[0].iter().zip(&self.records[to]) {
            target.store(source.load(Relaxed), Relaxed);
        }
    }

    /// Moves the record to place 1, if it is still at place 0.
    fn relocate(&self, flaw: Flaw) {
        if flaw == Flaw::CopyBeforeLock {
            self.copy(1);
        }
        self.locked(flaw, || {
            if self.slot.load(Relaxed) == 0 {
                if flaw != Flaw::CopyBeforeLock {
                    self.copy(1);
                }
                self.slot.store(1, Release);
            }
        });
    }

    /// Puts a value of no bytes at place 2.
    fn put(&self) {
        self.slot.store(2, Release);
    }

    fn len(&self) -> usize {
        self.records[self.slot.load(Acquire)][0].load(Acquire)
    }
}

fn race(flaw: Flaw, change: fn(&HomeBucket)) -> Arc<HomeBucket> {
    let home = HomeBucket::new();
    let cleaner = thread::spawn({
        let home = home.clone();
        move || home.relocate(flaw)
    });
    home.locked(flaw, || change(&home));
    cleaner.join().unwrap();
    home
}

fn appended(flaw: Flaw) {
    assert_eq!(race(flaw, HomeBucket::append).len(), 1, "a byte was lost");
}

fn replaced(flaw: Flaw) {
    assert_eq!(race(flaw, HomeBucket::put).slot.load(Relaxed), 2, "a value was lost");
}

/// A reader sees the value before or after an append. The appender does not look at the length here: where a
/// thread has just loaded what it stores to, loom tries no other thread's loads in between.
fn seen(flaw: Flaw) {
    let record = Arc::new([0, 0].map(AtomicUsize::new));
    let appender = thread::spawn({
        let record = record.clone();
        move || {
            let steps: [usize; 2] = if flaw == Flaw::LengthFirst { [0, 1] } else { [1, 0] };
            for word in steps {
                record[word].store(1, Release);
            }
        }
    });
    if record[0].load(Acquire) == 1 {
        assert_eq!(record[1].load(Relaxed), 1, "the length came before the byte");
    }
    appender.join().unwrap();
}

/// A cleaner that claims a segment (`segment.rs`), which it found when it was full before, sees how far it
/// was written this time.
fn claimed(flaw: Flaw) {
    const CLOSED: usize = 1;
    let [usage, used] = [0, 0].map(AtomicUsize::new).map(Arc::new);
    let writer = thread::spawn({
        let (usage, used) = (usage.clone(), used.clone());
        move || {
            used.store(8, Release);
            usage.store(CLOSED, Release);
        }
    });
    let order = if flaw == Flaw::RelaxedClaim { Relaxed } else { Acquire };
    if usage.compare_exchange(CLOSED, 2, order, Relaxed).is_ok() {
        assert_eq!(used.load(Acquire), 8, "records were not seen");
    }
    writer.join().unwrap();
}

#[test]
fn who_claims_a_segment_sees_all_of_it() {
    prove(Flaw::None, &[Flaw::RelaxedClaim], "records were not seen", claimed);
}

#[test]
fn appending_loses_nothing_to_the_cleaner() {
    prove(Flaw::None, &[Flaw::NoLock, Flaw::CopyBeforeLock, Flaw::RelaxedUnlock], "a byte was lost", appended);
}

#[test]
fn a_slot_is_not_swung_back() {
    prove(Flaw::None, &[Flaw::NoLock], "a value was lost", replaced);
}

#[test]
fn what_was_appended_is_there_when_the_length_says_so() {
    prove(Flaw::None, &[Flaw::LengthFirst], "the length came before the byte", seen);
}
