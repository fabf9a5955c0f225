//! Writing: a change is a value that goes down once, and is committed in one place.
//!
//! ```text
//! update ── locks the home, decides ──► plan ──► writes where `alloc` says ──► commit
//! ```

pub(crate) mod change;
pub(crate) mod commit;
pub(crate) mod plan;
pub(crate) mod update;
pub(crate) mod writer_slot;
