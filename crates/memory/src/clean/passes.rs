//! Passes: what is under way to gain segments, for those who wait for one.
//!
//! A cleaner's pass is one, and so is giving a segment its memory.

use std::time::Duration;

use hammerspace_error::Result;

use crate::sync::{Condvar, Mutex, lock, wait_while};

/// What a pass takes at most, where nothing delays it.
const PASS: Duration = Duration::from_millis(20);

/// How many there were, and who waits for the next.
#[derive(Default)]
pub(crate) struct Passes {
    counts: Mutex<PassCounts>,
    ended: Condvar,
}

/// The passes so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct PassCounts {
    pub(crate) under_way: u64,
    ended: u64,
    /// Those that made a segment to be had.
    pub(crate) gained: u64,
}

impl PassCounts {
    /// Whether more is known than `before`: a segment was gained, or there is nobody left who could.
    fn tell(self, before: Self) -> bool {
        self.gained != before.gained || (self.ended != before.ended && self.under_way == 0)
    }
}

impl Passes {
    pub(crate) fn counts(&self) -> PassCounts {
        *lock(&self.counts)
    }

    pub(crate) fn begin(&self) {
        lock(&self.counts).under_way += 1;
    }

    /// Tells those who wait whether a pass has gained a segment, and gives that back.
    pub(crate) fn end(&self, has_gained: Result<bool>) -> Result<bool> {
        let mut counts = lock(&self.counts);
        counts.under_way -= 1;
        counts.ended += 1;
        counts.gained += u64::from(matches!(has_gained, Ok(true)));
        drop(counts);
        self.ended.notify_all();
        has_gained
    }

    /// Waits for somebody's pass to gain a segment, or for all of them to end, but no longer than one may
    /// take; not for a turn to make one: what is needed may be there by then, and a cleaner's thread that
    /// takes its lock again at once would let nobody else have it.
    ///
    /// Where several clean, one that finds nothing says little: what is worth a pass may be what another is
    /// at.
    pub(crate) fn wait(&self, before: PassCounts) {
        drop(wait_while(&self.counts, &self.ended, PASS, |counts| !counts.tell(before)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_ends_in_vain_tells_little_while_another_is_under_way() {
        let passes = Passes::default();
        passes.begin();
        passes.begin();
        let before = passes.counts();
        assert!(!passes.end(Ok(false)).unwrap());
        assert!(!passes.counts().tell(before));
        passes.end(Ok(true)).unwrap();
        assert!(passes.counts().tell(before) && passes.counts().gained == 1);
        let before = passes.counts();
        passes.begin();
        passes.end(Ok(false)).unwrap();
        assert!(passes.counts().tell(before), "there is nobody left who could");
    }
}
