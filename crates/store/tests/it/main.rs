//! The store beside a twin, its verbs one by one, its errors, and other processes that look at it.
mod errors;
mod forks;
mod model;
mod tables;
mod verbs;

use hammerspace_store::{Options, Store};
use hammerspace_testkit::checked::Checked;

/// A small store of this process alone.
fn small() -> Checked<Store> {
    sound(Store::anonymous(&Options { cleaners: 1, ..Options::with_limit(32 << 20) }).unwrap())
}

/// A store whose invariants are looked at when its test is done with it, if it can be.
fn sound(store: Store) -> Checked<Store> {
    Checked::new(store, |store| {
        if store.is_owner() {
            assert_eq!(store.verify().unwrap().findings, Vec::<String>::new());
        }
    })
}
