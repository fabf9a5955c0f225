//! Flaws that tests plant: each takes one step out of a protocol, and schedules must notice that it is
//! missing (`schedules.rs`). Outside of tests there are none, and no trace of them is left in the code.

#[cfg(not(test))]
use crate::region::Region;

/// A step that is left out, or an instant at which an owner dies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flaw {
    /// A reader does not look at the slot again once it has the generation.
    SlotOnce,
    /// A reader does not look at the generation again once it has the bytes.
    GenerationOnce,
    /// Who finds nothing does not look at the directory again.
    DirectoryOnce,
    /// The cleaner moves a record without the lock of its home.
    NotLocked,
    /// The cleaner frees a segment before the slots that name it have changed.
    FreeBeforeSwing,
    /// Whoever drops a table does not wait for the changes under way.
    NotAwaited,
    /// Who fills a hole does not change the generation of its segment.
    NotRenewed,
    /// Who fills a hole does not claim its segment.
    NotClaimed,
    /// Who writes notes an expiry before the record counts as used.
    NotedEarly,
    /// A batch opens the homes of its keys before it has changed its words.
    OpenedEarly,
    /// A batch changes the first half of its words alone.
    Halved,
    /// An owner dies when it has written parts of a long value of a batch.
    DiedOverParts,
    /// An owner dies when it has written all of a batch.
    DiedBeforeCommit,
    /// An owner dies when it has changed the first word of a batch.
    DiedHalfway,
    /// An owner dies when it has changed all words of a batch.
    DiedAtTheEnd,
    /// An owner dies when its batch has taken place, and the locks are open.
    DiedBehindIt,
}

impl Flaw {
    /// An instant at which an owner may die: keeps the region as it is then, if this one was planted.
    #[cfg(not(test))]
    #[inline]
    #[expect(clippy::unused_self, reason = "nobody dies")]
    pub(crate) const fn strike(self, _region: &Region) {}

    /// Whether this one was planted.
    #[cfg(not(test))]
    #[inline]
    #[expect(clippy::unused_self, reason = "there are none")]
    pub(crate) const fn is_planted(self) -> bool {
        false
    }
}

#[cfg(test)]
mod initialized {
    use std::cell::{Cell, RefCell};

    use super::Flaw;
    use crate::region::Region;

    thread_local! {
        static PLANTED: Cell<Option<Flaw>> = const { Cell::new(None) };
        static LEFT: RefCell<Option<Region>> = const { RefCell::new(None) };
    }

    impl Flaw {
        pub(crate) fn is_planted(self) -> bool {
            PLANTED.get() == Some(self)
        }

        pub(crate) fn strike(self, region: &Region) {
            if self.is_planted() {
                LEFT.with_borrow_mut(|left| left.get_or_insert_with(|| region.copy()).layout);
            }
        }

        /// What an owner has left that died.
        pub(crate) fn left() -> Option<Region> {
            LEFT.take()
        }

        /// Has this flaw, or none, from here on.
        pub(crate) fn inject(flaw: Option<Self>) {
            PLANTED.set(flaw);
        }
    }
}
