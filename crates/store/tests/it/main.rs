//! The store beside a twin, its verbs one by one, its errors, and other processes that look at it.
mod batches;
mod counting;
mod durable;
mod errors;
mod forks;
mod golden;
mod model;
mod sets;
mod sound;
mod tables;
mod verbs;
mod witnesses;

use hammerspace_store::Options;

use crate::sound::Store;

/// A small store of this process alone.
fn small() -> Store {
    Store::anonymous(&Options { cleaners: 1, ..Options::with_limit(32 << 20) }).unwrap()
}
