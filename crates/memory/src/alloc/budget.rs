//! The budget: how many segments each purpose leaves to those that come before it, and how many bytes may be
//! live.
//!
//! ```text
//! segments:  | survivors 4.. | overwrites 2 | replacements 2 | a head each | 1 | users …
//! cleaners:  may take all
//! overwrites:                 leave what lies left of them, and so do the others
//! ```
//! Pure numbers: no region and no lock. The pool asks what to leave, admission how much may be live, and a
//! store that is made or opened whether its limit is large enough.
//!
//! - Progress of all depends on cleaners, that of overwrites on the index. So each leaves to those before it
//!   what they need to free more than they take.
//! - Memory can run out before the limit. Users therefore leave one extra segment per open head, because a
//!   head consumes a segment before it adds live bytes. Up to the limit, the cap on live bytes sees to that.

use crate::region::segment::Stream;

/// The purpose that a segment is taken for: the first is refused last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Priority {
    /// Survivors: a cleaner gives back more than it takes.
    Cleaner,
    /// The index, an overwrite that takes no more than it gives back, or the list of tables as one of them
    /// goes.
    Overwrite,
    /// Parts of a value that takes the place of one as long. It gives back what it takes, but both exist
    /// until it is there as a whole.
    Replacement,
    /// What users add.
    User,
}

/// Segments that survivors may take. A pass opens one at most before it gives its victim back, and there may
/// be one for each cleaner; or one for each stream, which stays open.
const FOR_SURVIVORS: u64 = 4;
/// Beyond them, what the index and overwrites may take while users wait.
const FOR_OVERWRITES: u64 = 2;
/// Beyond those, what parts of a long value may take while it and the one that it replaces both exist.
const FOR_REPLACEMENTS: u64 = 2;
/// Segments that are to be ready, beyond those that users leave to others.
const READY: u64 = 16;
/// How many of these the index leaves to records.
const FOR_RECORDS: u64 = 4;
/// Segments beyond those that users leave to others, of which cleaners see to it that they are free.
const AHEAD: u64 = 4;

/// The live bytes of a full store, as a share of what its segments hold.
const LIVE_MAX_PERCENT: u64 = 95;
/// The same while a long value and the one that it replaces both exist. With a fiftieth dead, nothing is
/// worth a pass any more.
const REPLACEMENT_MAX_PERCENT: u64 = 96;

/// What a store's writers and cleaners need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Budget {
    /// Threads that can write without waiting for each other: a power of two.
    pub(crate) writer_slots: u64,
    /// Cleaners that can make passes at the same time.
    pub(crate) cleaners: u64,
}

/// Segments that records may lie in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// How many there are, less those of the index.
    pub(crate) segments: u64,
    /// Bytes of each.
    pub(crate) segment_size: u64,
    /// Bytes at the ends of closed ones that no record fits into.
    pub(crate) tails: u64,
}

impl Budget {
    /// For so many threads that write, and so many that clean. Without any, writers clean, one at a time.
    pub(crate) fn of(writers: usize, cleaners: usize) -> Self {
        Self { writer_slots: writers.max(1).next_power_of_two() as u64, cleaners: cleaners.max(1) as u64 }
    }

    /// Heads that may be open at the same time.
    fn heads(&self) -> u64 {
        Stream::OF_USERS.len() as u64 * self.writer_slots + Stream::SURVIVORS.len() as u64 * self.cleaners
    }

    /// Segments that must stay when one is taken.
    pub(crate) fn reserve(&self, priority: Priority) -> u64 {
        let for_survivors = FOR_SURVIVORS.max(self.cleaners);
        match priority {
            Priority::Cleaner => 0,
            Priority::Overwrite => for_survivors,
            Priority::Replacement => for_survivors + FOR_OVERWRITES,
            Priority::User => for_survivors + FOR_OVERWRITES + FOR_REPLACEMENTS,
        }
    }

    /// Segments that must have their memory when a user takes one, as long as there are some without.
    pub(crate) fn backed_reserve(&self) -> u64 {
        self.reserve(Priority::User) + self.heads()
    }

    /// Segments with their memory below which more are made ready.
    pub(crate) fn ready(&self) -> u64 {
        self.backed_reserve() + READY
    }

    /// Segments with their memory above which the index takes a whole one.
    pub(crate) fn ready_for_index(&self) -> u64 {
        self.backed_reserve() + FOR_RECORDS
    }

    /// Available segments below which cleaners work; more where memory has ended before the limit.
    pub(crate) fn cleaning_below(&self, has_memory_ended: bool) -> u64 {
        AHEAD + if has_memory_ended { self.backed_reserve() } else { self.reserve(Priority::User) }
    }

    /// Segments that count for nothing when it comes to how much may be live.
    fn kept_back(&self) -> u64 {
        self.backed_reserve() + 1
    }

    /// Segments without which writers never find room: those kept back, the first of the index, and one to
    /// fill.
    pub(crate) fn segments_min(&self) -> u64 {
        self.kept_back() + 2
    }

    /// Bytes of records that may be live when one is added for this purpose, if they are bounded.
    pub(crate) fn live_max(&self, priority: Priority, extent: Extent) -> Option<u64> {
        match priority {
            Priority::Cleaner | Priority::Overwrite => None,
            // The value that it replaces had its tails.
            Priority::Replacement => {
                let kept_back = self.kept_back() - FOR_REPLACEMENTS;
                Some(Extent { tails: 0, ..extent }.share(REPLACEMENT_MAX_PERCENT, kept_back))
            }
            Priority::User => Some(self.users_max(extent)),
        }
    }

    /// Bytes of records that users may fill.
    pub(crate) fn users_max(&self, extent: Extent) -> u64 {
        extent.share(LIVE_MAX_PERCENT, self.kept_back())
    }

    /// Whether these threads leave room for so many live bytes, and half of a region's segments to users.
    /// With the cap in force each writer may have filled a segment beyond it.
    pub(crate) fn fits(&self, segments: u64, extent: Extent, live: u64) -> bool {
        let beyond = self.writer_slots * extent.segment_size;
        2 * self.segments_min() <= segments && live <= extent.share(100, self.kept_back()) + beyond
    }

    /// Live bytes up to which records may grow in holes, where each writer slot may have added so many that
    /// are not counted yet.
    pub(crate) fn growth_max(&self, live_max: u64, uncounted: u64) -> u64 {
        live_max.saturating_sub(self.writer_slots * uncounted)
    }
}

impl Extent {
    /// This share of what the segments hold, and nothing in those that are kept back.
    fn share(self, percent: u64, kept_back: u64) -> u64 {
        let bytes = |segments: u64| (segments * self.segment_size).saturating_sub(self.tails);
        (bytes(self.segments) / 100 * percent).min(bytes(self.segments.saturating_sub(kept_back)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For writers and cleaners: what each purpose leaves, what must be backed, and the least store.
    #[test]
    fn each_purpose_leaves_what_those_before_it_need() {
        let priorities = [Priority::Cleaner, Priority::Overwrite, Priority::Replacement, Priority::User];
        for (writers, cleaners, reserves, backed, least) in [
            (0, 0, [0, 4, 6, 8], 14, 17),
            (1, 1, [0, 4, 6, 8], 14, 17),
            (3, 2, [0, 4, 6, 8], 24, 27),
            (16, 1, [0, 4, 6, 8], 44, 47),
            (1, 10, [0, 10, 12, 14], 56, 59),
        ] {
            let budget = Budget::of(writers, cleaners);
            assert_eq!(priorities.map(|priority| budget.reserve(priority)), reserves, "{writers}, {cleaners}");
            assert!(reserves[1] >= budget.cleaners, "a segment for the survivors of each cleaner");
            assert_eq!((budget.backed_reserve(), budget.segments_min()), (backed, least), "{writers}, {cleaners}");
            let thresholds = (budget.ready(), budget.ready_for_index(), budget.cleaning_below(true));
            assert_eq!(thresholds, (backed + 16, backed + 4, backed + 4), "{writers}, {cleaners}");
            assert_eq!(budget.cleaning_below(false), reserves[3] + 4, "{writers}, {cleaners}");
        }
    }

    /// For segments of 1,000 bytes: what users may fill, and a long value that takes the place of another.
    #[test]
    fn live_bytes_are_bounded_by_a_share_and_by_what_is_kept_back() {
        let budget = Budget::of(1, 1);
        for (segments, tails, users, replacements) in [
            (10, 0, 0, 0),
            (20, 0, 5_000, 7_000),
            (20, 2_000, 3_000, 7_000),
            (1_000, 0, 950_000, 960_000),
            (1_000, 100_000, 855_000, 960_000),
        ] {
            let extent = Extent { segments, segment_size: 1_000, tails };
            assert_eq!(budget.live_max(Priority::Cleaner, extent), None);
            assert_eq!(budget.live_max(Priority::Overwrite, extent), None);
            assert_eq!(budget.live_max(Priority::User, extent), Some(users), "{segments} with {tails}");
            assert_eq!(budget.live_max(Priority::Replacement, extent), Some(replacements), "{segments} with {tails}");
        }
    }

    #[test]
    fn threads_fit_into_a_store_that_they_have_filled_and_not_into_half_of_it() {
        let (budget, extent) = (Budget::of(8, 2), |segments| Extent { segments, segment_size: 1_000, tails: 0 });
        let (least, full) = (budget.segments_min(), budget.users_max(extent(100)));
        assert!(budget.fits(100, extent(100), full + 8_000), "each may have filled one beyond");
        assert!(!budget.fits(100, extent(100), 100_000));
        assert!(budget.fits(2 * least, extent(2 * least), 0) && !budget.fits(2 * least - 1, extent(2 * least), 0));
        assert_eq!((budget.growth_max(1_000, 100), budget.growth_max(700, 100)), (200, 0));
    }
}
