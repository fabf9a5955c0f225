//! Flaws that tests plant: each takes one step out of a protocol, and schedules must notice that it is missing (`schedules.rs`).
//! Outside of tests there are none, and no trace of them is left in the code.

/// A step that is left out.
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
}

impl Flaw {
    /// Whether this one was planted.
    #[cfg(not(test))]
    #[inline]
    #[expect(clippy::unused_self, reason = "there are none")]
    pub(crate) const fn is_planted(self) -> bool {
        false
    }
}

#[cfg(test)]
mod planted {
    use std::cell::Cell;

    use super::Flaw;

    thread_local! {
        static PLANTED: Cell<Option<Flaw>> = const { Cell::new(None) };
    }

    impl Flaw {
        pub(crate) fn is_planted(self) -> bool {
            PLANTED.get() == Some(self)
        }

        /// Has this flaw, or none, from here on.
        pub(crate) fn plant(flaw: Option<Self>) {
            PLANTED.set(flaw);
        }
    }
}
