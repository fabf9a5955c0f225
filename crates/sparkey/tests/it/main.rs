//! The crate from outside: against files of Spotify's writers, against a twin, against damage.

mod golden;
mod model;
