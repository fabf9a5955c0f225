//! Looking for a key while its page is split, its bucket filled, the directory doubled (`read.rs`,
//! `split.rs`, `bucket.rs`).

use loom::sync::Arc;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::sync::atomic::{AtomicUsize, fence};
use loom::thread;

use crate::prove;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Flaw {
    None,
    /// A miss does not look at the directory again.
    NoRecheck,
    /// The old page is not emptied before its keys change.
    NotEmptied,
    /// The header of a page that is used again is stored without releasing what came before.
    RelaxedHeader,
    /// The slot comes before the reach that covers it.
    SlotFirst,
    /// The directory is doubled where it lies.
    InPlace,
    /// The root is stored without releasing the directory.
    RelaxedRoot,
}

/// Two pages of one home, of which the directory shows one. A key lies one bucket to the right; slots are 1 +
/// its segment.
struct Index {
    entry: AtomicUsize,
    reaches: [AtomicUsize; 2],
    slots: [AtomicUsize; 2],
    generation: AtomicUsize,
    record: [AtomicUsize; 2],
}

impl Index {
    fn new() -> Arc<Self> {
        let word = AtomicUsize::new;
        let record = [word(0), word(0)];
        let (reaches, slots) = ([word(1), word(0)], [word(1), word(0)]);
        Arc::new(Self { entry: word(0), reaches, slots, generation: word(0), record })
    }

    /// Shows the key in page 1, and takes it out of page 0.
    fn split(&self, flaw: Flaw) {
        self.reaches[1].store(1, Release);
        self.slots[1].store(1, Release);
        self.entry.store(1, Release);
        if flaw != Flaw::NotEmptied {
            self.slots[0].store(0, Release);
        }
    }

    /// What the key's slot says; `None` where the reader would begin anew.
    fn find(&self, flaw: Flaw) -> Option<(usize, usize)> {
        let page = self.entry.load(Acquire);
        let reach = self.reaches[page].load(Acquire);
        let slot = if reach == 1 { self.slots[page].load(Acquire) } else { 0 };
        fence(Acquire);
        (slot != 0 || flaw == Flaw::NoRecheck || self.entry.load(Acquire) == page).then_some((page, slot))
    }
}

/// A key that is there all the time is found all the time.
fn missed(flaw: Flaw) {
    let index = Index::new();
    let splitter = thread::spawn({
        let index = index.clone();
        move || {
            index.split(flaw);
            // Another split takes the old page, for other keys.
            index.reaches[0].store(0, if flaw == Flaw::RelaxedHeader { Relaxed } else { Release });
        }
    });
    if let Some((_, slot)) = index.find(flaw) {
        assert_eq!(slot, 1, "the key was there");
    }
    splitter.join().unwrap();
}

/// After the split the key moves, and its first segment is used again: nobody may take that for the key's
/// record.
fn changed(flaw: Flaw) {
    let index = Index::new();
    let writer = thread::spawn({
        let index = index.clone();
        move || {
            index.split(flaw);
            index.slots[1].store(2, Release);
            index.generation.store(1, Release);
            fence(Release);
            index.record.iter().for_each(|word| word.store(1, Relaxed));
        }
    });
    if let Some((page, 1)) = index.find(flaw) {
        let generation = index.generation.load(Acquire);
        if index.slots[page].load(Acquire) == 1 {
            let record = [0, 1].map(|word: usize| index.record[word].load(Relaxed));
            fence(Acquire);
            if index.generation.load(Relaxed) == generation {
                assert_eq!(record, [0, 0], "another's record");
            }
        }
    }
    writer.join().unwrap();
}

/// Whoever sees a slot, be it the next owner, sees the reach that covers it.
fn displaced(flaw: Flaw) {
    let [reach, slot] = [0, 0].map(AtomicUsize::new).map(Arc::new);
    let writer = thread::spawn({
        let (reach, slot) = (reach.clone(), slot.clone());
        move || {
            if flaw == Flaw::SlotFirst {
                slot.store(1, Release);
                reach.store(1, Release);
            } else {
                reach.store(1, Release);
                slot.store(1, Release);
            }
        }
    });
    if slot.load(Acquire) == 1 {
        assert_eq!(reach.load(Acquire), 1, "a slot beyond the reach");
    }
    writer.join().unwrap();
}

/// Directories of depth 1 and 2, the pages of prefixes 0 and 1; a hash that begins with 10 belongs to the
/// second.
fn doubled(flaw: Flaw) {
    const GARBAGE: usize = 9;
    let root = Arc::new(AtomicUsize::new(1));
    let entries = |pages: [usize; 4]| Arc::new(pages.map(AtomicUsize::new));
    let directories = [entries([0, 1, GARBAGE, GARBAGE]), entries([GARBAGE; 4])];
    let which = move |depth: usize| usize::from(depth == 2 && flaw != Flaw::InPlace);
    let splitter = thread::spawn({
        let (root, next) = (root.clone(), directories[which(2)].clone());
        move || {
            for (entry, page) in [(3, 1), (2, 1), (1, 0), (0, 0)] {
                next[entry].store(page, Release);
            }
            root.store(2, if flaw == Flaw::RelaxedRoot { Relaxed } else { Release });
        }
    });
    let depth = root.load(Acquire);
    let index = if depth == 1 { 1 } else { 2 };
    assert_eq!(directories[which(depth)][index].load(Acquire), 1, "another prefix's page");
    splitter.join().unwrap();
}

#[test]
fn a_miss_is_true() {
    prove(Flaw::None, &[Flaw::NoRecheck, Flaw::RelaxedHeader], "the key was there", missed);
}

#[test]
fn a_split_leaves_no_slot_that_is_not_true() {
    prove(Flaw::None, &[Flaw::NotEmptied], "another's record", changed);
}

#[test]
fn a_slot_is_within_reach() {
    prove(Flaw::None, &[Flaw::SlotFirst], "a slot beyond the reach", displaced);
}

#[test]
fn a_directory_is_never_seen_half_doubled() {
    prove(Flaw::None, &[Flaw::InPlace, Flaw::RelaxedRoot], "another prefix's page", doubled);
}
