//! The crate from outside: against files of Spotify's writers, against a twin, against damage.

mod as_c;
mod cursor;
mod edges;
mod golden;
mod hostile;
mod model;
mod pages;
mod reference;
mod shards;
