//! The processes that are killed: an owner that writes from two threads, readers that believe nothing.

use std::io::{self, Read};
use std::path::Path;
use std::process;
use std::thread;

use fastrand::Rng;
use hammerspace::Store;
use hammerspace::store::Table;
use hammerspace_error::{Error, Kind, Result};

use super::values::{self, advance, progress};
use super::{Role, TABLES};
use crate::exit::Outcome;

/// Threads of an owner; each has keys of its own.
const WRITERS: u64 = 2;
/// Bytes of memory for each key: with values of some 300 bytes, the store is three quarters full.
const BYTES_PER_KEY: u64 = 1000;

pub(super) fn run(role: Role, path: &Path, seed: u64) -> Result<Outcome> {
    thread::spawn(|| {
        // The end of the input is the end of whoever started us.
        io::stdin().lock().read_to_end(&mut Vec::new()).ok();
        process::exit(0);
    });
    match role {
        Role::Owner => own(&Store::open(path)?, seed),
        Role::Reader => read(&Store::attach(path)?, seed),
    }
}

fn tables(store: &Store) -> Result<Vec<Table>> {
    TABLES.iter().map(|name| store.table(name)).collect()
}

fn keys(store: &Store) -> u64 {
    store.usage().limit / BYTES_PER_KEY / TABLES.len() as u64
}

fn own(store: &Store, seed: u64) -> Result<Outcome> {
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(store, seed, writer))).collect();
        for writer in writers {
            writer.join().expect("no writer panics")?;
        }
        Ok(Outcome::Found)
    })
}

fn write(store: &Store, seed: u64, writer: u64) -> Result<()> {
    let (tables, keys, mut rng) = (tables(store)?, keys(store), Rng::with_seed(seed ^ writer));
    loop {
        let table = &tables[rng.usize(..tables.len())];
        let key = rng.u64(..keys / WRITERS) * WRITERS + writer;
        let before = table.get(values::key(key))?;
        if let Some(before) = &before
            && progress(key, before).is_none()
        {
            return Err(wrong(table, key, "is not whole"));
        }
        advance(table, key, before.as_ref())?;
    }
}

fn read(store: &Store, seed: u64) -> Result<Outcome> {
    let (tables, keys, mut rng) = (tables(store)?, keys(store), Rng::with_seed(seed));
    let mut rounds = vec![vec![0; keys as usize]; tables.len()];
    loop {
        let at = rng.usize(..tables.len());
        let key = rng.u64(..keys);
        let last = &mut rounds[at][key as usize];
        *last = check(&tables[at], key, *last)?;
    }
}

/// Looks at a value that had come as far as `last`; says how far it is now.
fn check(table: &Table, key: u64, last: u64) -> Result<u64> {
    let Some(value) = table.get(values::key(key))? else {
        return if last == 0 { Ok(0) } else { Err(wrong(table, key, "is gone")) };
    };
    let now = progress(key, &value).ok_or_else(|| wrong(table, key, "is not whole"))?;
    if now < last { Err(wrong(table, key, "has gone back")) } else { Ok(now) }
}

/// Looks at every value.
pub(super) fn check_all(store: &Store) -> Result<()> {
    for table in tables(store)? {
        (0..keys(store)).try_for_each(|key| check(&table, key, 0).map(drop))?;
    }
    Ok(())
}

fn wrong(table: &Table, key: u64, finding: &str) -> Error {
    Error::new(Kind::Corrupt, format!("the value of key {key} of table {} {finding}", table.name()))
}
