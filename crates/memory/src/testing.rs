//! What the tests of modules share.

#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod flaw;
#[cfg(test)]
pub(crate) mod schedules;
