//! Tidying up after an owner: what is in a region is consistent for readers at every instant, and so it is
//! when its owner dies.
//!
//! - Locks of buckets: open by the new incarnation.
//! - Segments that were being cleaned, or had a hole filled, are closed. What was moved and what was not is
//!   both there; slots say what counts.
//! - A batch that was committed is completed (`intent.rs`). Segments of one that was not are closed, and all
//!   their records counted as dead.
//! - Segments that were open stay so: heads go on in them before they take others. Otherwise each owner would
//!   leave behind some that are nearly empty, and a cleaner would gain nothing from them that it could see.
//! - A split that had begun to show its pages takes that back: the old page has the same keys until the last
//!   entry is changed.
//! - Free segments and free pages are what the segment usage table and the directory do not show in use. Such
//!   pages are emptied, since a reader may still be in one that had been shown; and one that is shown no more
//!   is not used again by this owner, so that a reader who finds an entry as it was can still take it for the
//!   same.
//!
//! Takes time in proportion to segments and directory entries: milliseconds for a hundred million keys.
//! Counts of dead bytes may be off by what was in hand; the cleaner finds out.

use std::collections::HashSet;
use std::ops::Range;

use hammerspace_error::{Error, Kind, Result};

use crate::alloc::pool::Pool;
use crate::batch::intent::Left;
use crate::index::directory::{Entry, Root};
use crate::index::split;
use crate::region::segment::{Segment, SegmentState};
use crate::region::{INCARNATION, LIMIT, Region, SEGMENTS_FRESH};

/// What is added to an incarnation for the next. Odd, so all 2^32 come before one comes again; and not 1, so
/// that a lock's bit that was flipped does not look like a lock of ours, which nobody would open.
const INCARNATION_STEP: u64 = 0x9e37_79b9;

/// Begins the next incarnation of a region whose owner is gone. Gives what is free, and how many bytes of
/// records are live.
///
/// [`Kind::Corrupt`] for a region by whose tables an owner cannot go; nothing of it has changed then.
pub(crate) fn adopt(region: &Region) -> Result<(Pool, u64, Left)> {
    check_tables(region)?;
    let directory = DirectorySnapshot::read(region)?;
    let mut left = Left::read(region)?;
    region.store(INCARNATION, next_incarnation(region.load(INCARNATION)));
    let taken_back: HashSet<u64> = directory.take_back_halves(region).collect();
    left.redo(region);
    let (mut pool, mut live) = (Pool::default(), 0);
    for segment in Segment::all(region) {
        segment.invalidate_bounds();
        match segment.state() {
            // Its owner may have died before it had its memory. What was in use had it, whatever damage has
            // made of the count.
            SegmentState::Free if segment.is_unused() || segment.backed() < region.layout.segment_size => {
                pool.unbacked.push_back(segment.number);
            }
            SegmentState::Free => pool.free.push_back(segment.number),
            SegmentState::Index => {
                pool.index_segments += 1;
                if segment.used() < region.layout.segment_size {
                    pool.growing.push(segment.number);
                }
                for page in index_pages_of(region, segment) {
                    let is_half = taken_back.contains(&page);
                    if is_half || !directory.pages.contains(&page) {
                        split::empty(region, page);
                    }
                    if !is_half && !directory.pages.contains(&page) {
                        pool.pages.push(page);
                    }
                }
            }
            SegmentState::Batch(stream) if !left.is_committed() => {
                // No slot names its records. Its cleaner asks the index all the same, if it comes upon one
                // that is live.
                segment.mark_dead(segment.live());
                segment.set_usage(SegmentState::Closed(stream));
                pool.tails += segment.tail();
            }
            SegmentState::Open(stream) => {
                pool.open.push((stream, segment.number));
                live += segment.live();
            }
            SegmentState::Tail(_) => {}
            SegmentState::Cleaning(stream)
            | SegmentState::Filling(stream)
            | SegmentState::Closed(stream)
            | SegmentState::Batch(stream) => {
                segment.set_usage(SegmentState::Closed(stream));
                live += segment.live();
                pool.tails += segment.tail();
            }
        }
    }
    Ok((pool, live, left))
}

/// Never 0, which is an open lock.
fn next_incarnation(last: u64) -> u64 {
    let next = last.wrapping_add(INCARNATION_STEP) & 0xffff_ffff;
    if next == 0 { INCARNATION_STEP } else { next }
}

/// The pages of a segment of the index that have their memory.
fn index_pages_of<'r>(region: &'r Region, segment: Segment<'_>) -> impl Iterator<Item = u64> + use<'r> {
    let start = segment.start();
    (0..segment.used() / region.layout.index_page_size).map(move |page| start + page * region.layout.index_page_size)
}

fn corrupt(at: u64, finding: String) -> Error {
    let error = Error::new(Kind::Corrupt, finding).at(at);
    error.remedy("attach to it and save what can be read, then remove the store and create it anew")
}

/// Refuses a region whose superblock or usage table an owner could not go by.
fn check_tables(region: &Region) -> Result<()> {
    for (at, name) in [(LIMIT, "LIMIT"), (SEGMENTS_FRESH, "SEGMENTS_FRESH")] {
        let (segments, most) = (region.load(at), region.layout.segments_max);
        if segments > most {
            return Err(corrupt(at, format!("{name} is {segments}, and there are {most} segments at most")));
        }
    }
    let (fresh, limit) = (region.load(SEGMENTS_FRESH), region.load(LIMIT));
    if fresh > limit {
        return Err(corrupt(SEGMENTS_FRESH, format!("{fresh} segments were used, and {limit} may be")));
    }
    Root::check(region)?;
    if let Some(number) = (fresh..limit).find(|number| !Segment::new(region, *number).is_unused()) {
        let finding = format!("SEGMENTS_FRESH is {fresh}, and segment {number} was used");
        return Err(corrupt(SEGMENTS_FRESH, finding));
    }
    for number in 0..fresh {
        if let Some(finding) = Segment::new(region, number).fault() {
            return Err(corrupt(region.layout.usage(number), finding));
        }
    }
    Ok(())
}

/// What the directory shows.
struct DirectorySnapshot {
    pages: HashSet<u64>,
    /// The entries of a page that show its halves already, and what they showed before.
    half_shown: Option<(Range<u64>, Entry)>,
}

impl DirectorySnapshot {
    /// Reads the directory. A page has all entries of its prefix, and no other; but one may be about to be
    /// split. Then the last of them show it, and those in front its halves, since halves are shown from the
    /// first entry on.
    fn read(region: &Region) -> Result<Self> {
        let root = Root::load(region);
        let entry = |index: u64| Entry(region.load(root.address(region, index)));
        let (mut shown, mut index) = (Self { pages: HashSet::new(), half_shown: None }, 0);
        while index < 1 << root.depth() {
            let mine = entry(index);
            let at = root.address(region, index);
            if !mine.is_page_of(region, root) {
                return Err(corrupt(at, format!("the directory's entry {:#x} names no page of the index", mine.0)));
            }
            let span = 1 << (root.depth() - mine.depth());
            let first = index & !(span - 1);
            let run = (index..first + span).take_while(|index| entry(*index) == mine).count() as u64;
            let (is_first, is_last) = (first == index, index + run == first + span);
            let is_begun = is_first && !is_last && entry(index + run).depth() + 1 == mine.depth();
            let is_rest = !is_first && is_last && shown.half_shown.is_none();
            let is_whole = is_first && is_last;
            let is_sound = is_whole || is_begun || is_rest && are_halves(region, (first..index).map(entry), mine);
            if !is_sound || !shown.pages.insert(mine.page(region)) {
                return Err(corrupt(at, format!("entry {index} of the directory contradicts the others")));
            }
            if is_rest {
                shown.half_shown = Some((first..index, mine));
            }
            index += run;
        }
        Ok(shown)
    }

    /// Makes all entries of a page show it again, where a split had begun to show its halves. Gives the
    /// halves that were shown, as it goes: from the last on, so that at any instant it is a split that has
    /// begun, which the next owner can take back.
    fn take_back_halves(&self, region: &Region) -> impl Iterator<Item = u64> {
        let root = Root::load(region);
        self.half_shown.clone().into_iter().flat_map(|(entries, page)| entries.rev().zip(std::iter::repeat(page))).map(
            move |(index, page)| {
                let at = root.address(region, index);
                let half = Entry(region.load(at)).page(region);
                region.store(at, page.0);
                half
            },
        )
    }
}

/// Whether these entries show halves of a page: one bit deeper, and with nothing in them that it has not. It
/// is not emptied before all of its entries show its halves.
fn are_halves(region: &Region, mut entries: impl Iterator<Item = Entry>, whole: Entry) -> bool {
    let slots: HashSet<u64> = whole.slots(region).map(|slot| slot.displaced(0).0).collect();
    let mut last = whole;
    entries.all(|half| {
        let is_known = half == last;
        last = half;
        let is_within = |half: Entry| half.slots(region).all(|slot| slots.contains(&slot.displaced(0).0));
        is_known || half.depth() == whole.depth() + 1 && is_within(half)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::directory::Place;
    use crate::read::scan::Cursor;
    use crate::record::Record;
    use crate::record::header::{Header, Traits};
    use crate::record::key::Key;
    use crate::recover::verify::verify;
    use crate::region::ROOT;
    use crate::region::geometry::WORD;
    use crate::region::segment::Stream;
    use crate::sound::Memory;
    use crate::testing::fixture::{TABLE, small};

    fn filled() -> Memory {
        let memory = small(100, 8 << 10);
        for key in 0..400 {
            memory.put(TABLE, Key::Integer(key), b"value").unwrap();
        }
        memory
    }

    /// The first entry of a page that has several, and an index page that nothing shows.
    fn about_to_split(region: &Region) -> (u64, Entry, u64) {
        let root = Root::load(region);
        let entry = |index: u64| Entry(region.load(root.address(region, index)));
        let first = (0..1 << root.depth()).find(|index| entry(*index).depth() < root.depth()).expect("some are behind");
        let shown = DirectorySnapshot::read(region).unwrap().pages;
        let free = (0..region.load(SEGMENTS_FRESH))
            .map(|number| Segment::new(region, number))
            .filter(|segment| segment.state() == SegmentState::Index)
            .flat_map(|segment| index_pages_of(region, segment))
            .find(|page| !shown.contains(page))
            .expect("a free page");
        (root.address(region, first), entry(first), free)
    }

    #[test]
    fn a_split_that_was_half_shown_is_taken_back() {
        let memory = filled();
        let region = memory.view().region;
        let (at, old, half) = about_to_split(region);
        region.store(at, Entry::new(region, half, old.depth() + 1).0);
        // Of the old one's slots any may be there by now.
        let slot = old.slots(region).next().expect("it is not empty");
        region.store(half + WORD, slot.displaced(1).0);
        assert!(verify(region).faults > 0);
        let (pool, live, _) = adopt(region).unwrap();
        assert_eq!((region.load(at), region.load(half + WORD)), (old.0, 0), "shown again, and emptied");
        assert!(!pool.pages.contains(&half) && live > 0);
        assert_eq!(verify(region).findings, Vec::<String>::new());
    }

    /// The owner that takes it back may die as well.
    #[test]
    fn a_split_is_taken_back_in_steps_that_can_be_taken_back() {
        let memory = filled();
        let region = memory.view().region;
        // Two deeper, so that a page has four entries.
        for _ in 0..2 {
            let root = Root::load(region);
            let deeper = Root::new(root.which() + 1, root.depth() + 1);
            for index in 0..1 << deeper.depth() {
                region.store(deeper.address(region, index), region.load(root.address(region, index / 2)));
            }
            region.store(ROOT, deeper.0);
        }
        let (at, old, half) = about_to_split(region);
        for entry in 0..2 {
            region.store(at + entry * WORD, Entry::new(region, half, old.depth() + 1).0);
        }
        for left in (0..2).rev() {
            let shown = DirectorySnapshot::read(region).unwrap();
            assert_eq!(shown.half_shown.as_ref().map(|(entries, _)| entries.end - entries.start), Some(left + 1));
            shown.take_back_halves(region).next();
        }
        assert!(DirectorySnapshot::read(region).unwrap().half_shown.is_none());
    }

    /// What the directory cannot say is refused, before anything is changed.
    #[test]
    fn a_directory_that_contradicts_itself_is_refused() {
        let memory = filled();
        let region = memory.view().region;
        let (root, incarnation) = (Root::load(region), region.load(INCARNATION));
        let entries: Vec<u64> = (0..1 << root.depth()).map(|index| region.load(root.address(region, index))).collect();
        for (index, &entry) in entries.iter().enumerate() {
            let other = *entries.iter().find(|other| **other != entry).expect("there are several pages");
            for word in [0, other, entry + 1, entry - 1, entry | 1 << 63, entry | 1 << 7, entry & 0xff, u64::MAX] {
                let at = root.address(region, index as u64);
                region.store(at, word);
                let refused = adopt(region).map(drop).expect_err(&format!("entry {index} of {entry:#x} is {word:#x}"));
                assert_eq!((refused.kind(), region.load(INCARNATION)), (Kind::Corrupt, incarnation), "{refused}");
                region.store(at, entry);
            }
        }
        adopt(region).unwrap();
        assert_ne!(region.load(INCARNATION), incarnation);
    }

    /// To walk over it or to empty its pages would be to touch what has no memory.
    #[test]
    fn a_use_without_memory_is_refused() {
        let memory = filled();
        let region = memory.view().region;
        let fresh = region.load(SEGMENTS_FRESH);
        let segment = Segment::new(region, fresh);
        region.store(SEGMENTS_FRESH, fresh + 1);
        for (usage, used) in [
            (SegmentState::Closed(Stream::LONG), 0),
            (SegmentState::Index, 8 << 10),
            (SegmentState::Open(Stream::LONG), 64),
        ] {
            segment.set_usage(usage);
            segment.set_used(used);
            let refused = adopt(region).map(drop).unwrap_err();
            assert_eq!(refused.kind(), Kind::Corrupt, "{usage:?}: {refused}");
        }
        segment.set_usage(SegmentState::Free);
        segment.set_used(0);
        adopt(region).unwrap();
        region.store(SEGMENTS_FRESH, 1);
        assert_eq!(adopt(region).map(drop).unwrap_err().kind(), Kind::Corrupt, "a segment in use that was never used");
        region.store(SEGMENTS_FRESH, fresh + 1);
    }

    #[test]
    fn no_lock_of_the_dead_looks_like_ours() {
        assert_eq!(next_incarnation(u64::MAX), INCARNATION_STEP - 1, "no more bits than a lock has");
        assert_eq!(next_incarnation(INCARNATION_STEP.wrapping_neg()), INCARNATION_STEP, "never 0");
        let mut incarnations = vec![0, 1];
        for _ in 0..200 {
            let next = next_incarnation(*incarnations.last().unwrap());
            assert!(
                incarnations.iter().all(|before| (before ^ next).count_ones() > 1),
                "a flipped bit makes {next:#x}"
            );
            incarnations.push(next);
        }
    }

    /// Somebody was about to get it, and died: to touch what has no memory could end the process.
    #[test]
    fn what_may_have_no_memory_gets_it_before_it_is_used() {
        let memory = filled();
        // The first segment of the index has all its memory at once, a later one page by page.
        (400..2000).for_each(|key| assert!(memory.put(TABLE, Key::Integer(key), b"value").is_ok()));
        let region = memory.view().region;
        let fresh = region.load(SEGMENTS_FRESH);
        region.store(SEGMENTS_FRESH, fresh + 1);
        let index = (0..fresh)
            .map(|number| Segment::new(region, number))
            .find(|one| one.state() == SegmentState::Index && one.is_unused())
            .unwrap();
        assert!(index.used() < region.layout.segment_size);
        let (pool, ..) = adopt(region).unwrap();
        assert!(pool.unbacked.contains(&fresh) && !pool.free.contains(&fresh));
        assert_eq!(pool.growing, [index.number]);
        assert!(pool.pages.iter().all(|page| *page < index.start() + index.used()));
    }

    /// Its owner died before it was committed: nothing names its records.
    #[test]
    fn what_a_batch_has_left_is_a_cleaners() {
        let memory = filled();
        let region = memory.view().region;
        let segment = Segment::all(region).find(|one| one.state() == SegmentState::Free).unwrap();
        segment.begin(SegmentState::Batch(Stream::LONG), 0);
        let header = Header::new(TABLE.number, Key::Integer(1), 100, &Traits::default());
        let record = Record::new(segment.start(), header);
        record.write(region, None, Key::Integer(1));
        segment.set_used(record.size);
        let (_, live, _) = adopt(region).unwrap();
        assert_eq!((segment.state(), segment.live()), (SegmentState::Closed(Stream::LONG), 0));
        assert_eq!(live, memory.view().usage().live);
    }

    /// As when a bit of its state was flipped.
    #[test]
    fn what_is_named_in_a_segment_of_a_batch_is_not_lost() {
        let memory = filled();
        let region = memory.view().region;
        let segment = Segment::all(region).find(|one| one.is_full()).unwrap();
        segment.set_usage(SegmentState::Batch(Stream::LONG));
        adopt(region).unwrap();
        while memory.clean().unwrap() {}
        let is_there = |key| memory.view().get(1, Key::Integer(key), &mut Vec::new()).unwrap().is_some();
        assert!((0..400).all(is_there));
    }

    /// This build has no log whose changes would be in it.
    #[test]
    fn the_tail_of_a_log_is_refused() {
        let memory = filled();
        let region = memory.view().region;
        let segment = Segment::all(region).find(|one| one.state() == SegmentState::Free).unwrap();
        segment.set_usage(SegmentState::Tail(Stream::SHORT));
        let refused = adopt(region).map(drop).unwrap_err();
        assert!(refused.kind() == Kind::Corrupt && refused.to_string().contains("use 0x7"), "{refused}");
        segment.set_usage(SegmentState::Free);
    }

    /// What says that a page has no memory must not have it given out twice.
    #[test]
    fn a_page_in_use_that_has_no_memory_is_refused() {
        let memory = filled();
        let region = memory.view().region;
        let segment = Segment::of(region, Place::of(region, 0).entry.page(region)).unwrap();
        for used in [0, region.layout.index_page_size, segment.used() - 1, u64::MAX] {
            let sound = segment.used();
            segment.set_used(used);
            assert_eq!(adopt(region).map(drop).unwrap_err().kind(), Kind::Corrupt, "{used} of {sound}");
            segment.set_used(sound);
        }
    }

    /// A cursor that was made while the halves were shown goes on in the whole.
    #[test]
    fn a_scan_goes_on_after_a_split_was_taken_back() {
        let memory = filled();
        let region = memory.view().region;
        let (at, old, half) = about_to_split(region);
        for word in 0..region.layout.index_page_size / WORD {
            region.store(half + word * WORD, region.load(old.page(region) + word * WORD));
        }
        let (mut items, mut next) = (Vec::new(), Some(Cursor::START));
        let shown = Entry::new(region, half, old.depth() + 1);
        region.store(at, shown.0);
        let mut steps = 0;
        while let Some(cursor) = next {
            next = memory.view().scan(1, cursor, 1, &mut items).unwrap();
            steps += 1;
            // In the middle of the half, wherever that is.
            let index = next.map_or(0, |next| Root::load(region).index(next.to_word() >> 32 << 32));
            let is_inside = next.is_some_and(|next| next.to_word() & 0xff_ffff == 2);
            if is_inside && Root::load(region).address(region, index) == at {
                adopt(region).unwrap();
            }
        }
        let keys: HashSet<_> = items.iter().map(|item| item.key.clone()).collect();
        assert_eq!((items.len(), keys.len()), (400, 400), "in {steps} steps");
        assert_eq!(region.load(at), old.0, "taken back meanwhile");
    }
}
