//! Looking at a region as a whole: the next owner adopts it, and `verify` says whether it is sound.

pub(crate) mod adopt;
pub(crate) mod verify;
