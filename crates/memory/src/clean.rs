//! What makes memory usable again: segments that are mostly dead, records that have expired, tables that were
//! dropped.

pub(crate) mod cleaner;
pub(crate) mod expiries;
pub(crate) mod passes;
pub(crate) mod purge;
pub(crate) mod threads;
pub(crate) mod victims;
