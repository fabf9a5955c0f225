//! The face, as its users see it.

mod spec;
