//! The index: from a key's hash to the address of its record. Extendible hashing (Fagin et al., TODS 1979)
//! over pages of 64 KiB.
//!
//! ```text
//! hash, from its highest bit on:  | prefix: entry of the directory … tag: its first 22 bits … | … | home bucket: its lowest bits |
//!
//! root ──► directory entry ──► page ──► home bucket, and as many to its right as the home's `reach` says
//! ```
//!
//! What always holds:
//! 1. A key has one slot at most, in the page that the directory shows for it, at most [`REACH_MAX`] buckets
//!    right of its home.
//! 2. A slot that is not empty names a whole record of its key, and the segment of that record is not used
//!    for anything else before the slot has changed.
//! 3. A key's slot changes under the lock of its home bucket, and stays where it is until the page is split.
//!    An empty slot of a page that is shown is taken by an exchange, since keys of several homes may want it.
//! 4. A page is split into two new ones. The directory shows them before any of their keys can change, and
//!    the old page is emptied before that too. So whoever is still looking at the old one finds nothing there
//!    that is not true.
//! 5. The buckets of a page that the directory does not show are locked.

pub(crate) mod bucket;
pub(crate) mod directory;
pub(crate) mod names;
pub(crate) mod slot;
pub(crate) mod split;

/// How many buckets a slot may lie away from its home. A page is split when a key finds no room that near;
/// that happens when 66 to 88 of 100 slots are taken, at 81 on average (simulated), and differs from page to
/// page, so that they do not all split at once.
pub(crate) const REACH_MAX: u64 = 15;
