//! A store as tests own it: whatever a test was about, its invariants are looked at when the test is done
//! with it.

use std::ops::Deref;
use std::path::Path;

use hammerspace_memory::{Memory, TableId};
use hammerspace_store::{Key, Kind, Options, Report, Result};
use hammerspace_testkit::checked::Checked;

/// In place of the one that users have.
#[derive(Debug)]
pub(crate) struct Store(Checked<hammerspace_store::Store>);

impl Store {
    pub(crate) fn create(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        hammerspace_store::Store::create(path, options).map(Self::of_one_owner)
    }

    pub(crate) fn anonymous(options: &Options) -> Result<Self> {
        hammerspace_store::Store::anonymous(options).map(Self::of_one_owner)
    }

    pub(crate) fn open(path: impl AsRef<Path>) -> Result<Self> {
        hammerspace_store::Store::open(path).map(Self::of_many_owners)
    }

    pub(crate) fn open_with(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        hammerspace_store::Store::open_with(path, options).map(Self::of_many_owners)
    }

    pub(crate) fn open_or_create(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        hammerspace_store::Store::open_or_create(path, options).map(Self::of_many_owners)
    }

    pub(crate) fn attach(path: impl AsRef<Path>) -> Result<Self> {
        hammerspace_store::Store::attach(path).map(Self::of_many_owners)
    }

    pub(crate) fn remove(path: impl AsRef<Path>) -> Result<()> {
        hammerspace_store::Store::remove(path)
    }

    fn of_one_owner(store: hammerspace_store::Store) -> Self {
        Self(Checked::new(store, |store| look(store, 0)))
    }

    /// The last one may have been killed before it had counted all that is dead.
    fn of_many_owners(store: hammerspace_store::Store) -> Self {
        Self(Checked::new(store, |store| look(store, i64::MAX)))
    }
}

/// What is wrong, where so many dead bytes may have been left uncounted.
fn look(store: &hammerspace_store::Store, uncounted_max: i64) -> Vec<String> {
    match store.verify() {
        Ok(Report { mut findings, miscounted, miscounted_tables, .. }) => {
            if uncounted_max == 0 && !miscounted_tables.is_empty() {
                findings.push(format!("tables {miscounted_tables:?} are not as they are counted"));
            }
            if !(0..=uncounted_max).contains(&miscounted) {
                findings.push(format!("{miscounted} bytes more are counted as live than are"));
            }
            findings
        }
        // Of whoever reads, and of a child that was forked from the owner: it is for the owner to look.
        Err(error) if error.kind() == Kind::Invalid => Vec::new(),
        Err(error) => vec![error.to_string()],
    }
}

impl Deref for Store {
    type Target = hammerspace_store::Store;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// A harness that cannot see this cannot see anything.
#[test]
#[should_panic(expected = "no key of theirs")]
fn canary_damage_is_noticed_when_its_test_is_done() {
    const PARTS: TableId = TableId { number: u16::MAX, is_versioned: false };
    let scratch = tempfile::tempdir().unwrap();
    let options = Options { region: Some(scratch.path().into()), ..Options::with_limit(32 << 20) };
    let path = scratch.path().join("store");
    drop(Store::create(&path, &options).unwrap());
    let memory = Memory::open(&path, &options).unwrap();
    memory.put(PARTS, Key::Bytes(b"a part nobody"), b"names").unwrap();
    drop(memory);
    drop(Store::open(&path).unwrap());
}
