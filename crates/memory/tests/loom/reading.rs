//! A validated read, while the segment it reads is freed and used again (`read.rs`, `segment.rs`, `head.rs`,
//! `pool.rs`).

use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::sync::atomic::{AtomicUsize, fence};
use loom::sync::{Arc, Mutex};
use loom::thread;

use crate::prove;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Flaw {
    None,
    /// The reader does not look at the slot again once it has the generation.
    SlotOnce,
    /// It does not look at the generation again once it has the bytes.
    GenerationOnce,
    /// The generation is stored without releasing what came before.
    RelaxedGeneration,
    /// The writer of the bytes does not fence them off from the generation.
    NoFence,
    /// The thread that began the use fences, and not the one that writes.
    FenceAtBegin,
    /// The segment is free before the slot has changed.
    FreeBeforeSwing,
}

/// Two segments of one record of two words, and one key's slot: 0 or 1, the segment of its record.
struct Store {
    slot: AtomicUsize,
    generations: [AtomicUsize; 2],
    records: [[AtomicUsize; 2]; 2],
    free: Mutex<bool>,
}

impl Store {
    /// The key is in segment 0, and a copy that a cleaner has made of it in segment 1.
    fn new() -> Arc<Self> {
        let word = || AtomicUsize::new(0);
        let records = [[word(), word()], [word(), word()]];
        Arc::new(Self { slot: word(), generations: [word(), word()], records, free: Mutex::new(false) })
    }

    /// The value, if this is what it was.
    fn read(&self, flaw: Flaw) -> Option<[usize; 2]> {
        let slot = self.slot.load(Acquire);
        let generation = self.generations[slot].load(Acquire);
        if flaw != Flaw::SlotOnce && self.slot.load(Acquire) != slot {
            return None;
        }
        let value = [0, 1].map(|word: usize| self.records[slot][word].load(Relaxed));
        fence(Acquire);
        (flaw == Flaw::GenerationOnce || self.generations[slot].load(Relaxed) == generation).then_some(value)
    }

    fn begin(&self, flaw: Flaw) {
        let order = if flaw == Flaw::RelaxedGeneration { Relaxed } else { Release };
        self.generations[0].store(1, order);
        if flaw == Flaw::FenceAtBegin {
            fence(Release);
        }
    }

    /// Writes the key's next value to segment 0, and names it: the slot is as it was in the beginning.
    fn write(&self, flaw: Flaw) {
        if flaw != Flaw::NoFence && flaw != Flaw::FenceAtBegin {
            fence(Release);
        }
        self.records[0].iter().for_each(|word| word.store(1, Relaxed));
        self.slot.store(0, Release);
    }
}

fn judge(store: &Store, flaw: Flaw) {
    if let Some([first, second]) = store.read(flaw) {
        assert_eq!(first, second, "torn");
    }
}

/// One thread frees the segment, begins its next use and writes; the key comes back to the same place. Or it
/// fills the hole that the key's record left there: the same steps in the same order.
fn recycled(flaw: Flaw) {
    let store = Store::new();
    let writer = thread::spawn({
        let store = store.clone();
        move || {
            store.slot.store(1, Release);
            store.begin(flaw);
            store.write(flaw);
        }
    });
    judge(&store, flaw);
    writer.join().unwrap();
}

/// A cleaner swings the slot and gives the segment to the pool; a writer takes it from there.
fn through_the_pool(flaw: Flaw) {
    let store = Store::new();
    let cleaner = thread::spawn({
        let store = store.clone();
        move || {
            if flaw == Flaw::FreeBeforeSwing {
                *store.free.lock().unwrap() = true;
                store.slot.store(1, Release);
            } else {
                store.slot.store(1, Release);
                *store.free.lock().unwrap() = true;
            }
        }
    });
    let writer = thread::spawn({
        let store = store.clone();
        move || {
            let mut free = store.free.lock().unwrap();
            if std::mem::take(&mut *free) {
                drop(free);
                store.begin(flaw);
                store.write(flaw);
            }
        }
    });
    judge(&store, flaw);
    cleaner.join().unwrap();
    writer.join().unwrap();
}

/// One thread begins the segment's next use, and another on the same writer slot writes the first record.
fn on_one_seat(flaw: Flaw) {
    let store = Store::new();
    store.slot.store(1, Relaxed);
    let has_begun = Arc::new(Mutex::new(false));
    let first = thread::spawn({
        let (store, writer) = (store.clone(), has_begun.clone());
        move || {
            let mut writer = writer.lock().unwrap();
            store.begin(flaw);
            *writer = true;
        }
    });
    let second = thread::spawn({
        let (store, writer) = (store.clone(), has_begun.clone());
        move || {
            let writer = writer.lock().unwrap();
            if *writer {
                store.write(flaw);
            }
        }
    });
    // A reader that has seen the slot when the key was still there.
    let value = [0, 1].map(|word: usize| store.records[0][word].load(Relaxed));
    fence(Acquire);
    if store.generations[0].load(Relaxed) == 0 {
        assert_eq!(value, [0, 0], "bytes of the next use");
    }
    first.join().unwrap();
    second.join().unwrap();
}

#[test]
fn a_read_is_of_one_record() {
    prove(
        Flaw::None,
        &[Flaw::SlotOnce, Flaw::GenerationOnce, Flaw::RelaxedGeneration, Flaw::NoFence],
        "torn",
        recycled,
    );
}

#[test]
fn a_segment_becomes_free_after_nothing_names_it() {
    prove(Flaw::None, &[Flaw::FreeBeforeSwing, Flaw::RelaxedGeneration], "torn", through_the_pool);
}

#[test]
fn who_writes_need_not_be_who_began() {
    prove(Flaw::None, &[Flaw::NoFence, Flaw::FenceAtBegin], "bytes of the next use", on_one_seat);
}
