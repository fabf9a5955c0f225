//! A memory as tests own it: whatever a test was about, its invariants are looked at when the test is done
//! with it.

use std::ops::Deref;
use std::path::Path;

use hammerspace_error::Result;
use hammerspace_memory::{Geometry, Key, Options, Report, TableId};
use hammerspace_testkit::checked::Checked;

/// In place of the one that users have.
#[derive(Debug)]
pub(crate) struct Memory(Checked<hammerspace_memory::Memory>);

impl Memory {
    pub(crate) fn create(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        hammerspace_memory::Memory::create(path, options).map(Self::of_one_owner)
    }

    pub(crate) fn anonymous(options: &Options) -> Result<Self> {
        hammerspace_memory::Memory::anonymous(options).map(Self::of_one_owner)
    }

    /// Its last owner may have been killed before it had counted all that is dead.
    pub(crate) fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        hammerspace_memory::Memory::open(path, options).map(Self::of_many_owners)
    }

    /// For what has had many owners: their last changes may not be counted.
    pub(crate) fn of_many_owners(memory: hammerspace_memory::Memory) -> Self {
        Self(Checked::new(memory, |memory| look(memory, i64::MAX)))
    }

    pub(crate) fn remove(path: impl AsRef<Path>) -> Result<()> {
        hammerspace_memory::Memory::remove(path)
    }

    fn of_one_owner(memory: hammerspace_memory::Memory) -> Self {
        Self(Checked::new(memory, |memory| look(memory, 0)))
    }

    /// For a test that damages it: in the end that must be seen.
    pub(crate) fn broken(self) -> Self {
        Self(self.0.broken())
    }
}

/// What is wrong, where so many dead bytes may have been left uncounted.
fn look(memory: &hammerspace_memory::Memory, uncounted_max: i64) -> Vec<String> {
    // In a forked child others may be at work: it is for the parent to look.
    if memory.check().is_err() {
        return Vec::new();
    }
    let Report { mut findings, miscounted, miscounted_tables, .. } = memory.verify();
    if uncounted_max == 0 && !miscounted_tables.is_empty() {
        findings.push(format!("tables {miscounted_tables:?} are not as they are counted"));
    }
    if !(0..=uncounted_max).contains(&miscounted) {
        findings.push(format!("{miscounted} bytes more are counted as live than are"));
    }
    findings
}

impl Deref for Memory {
    type Target = hammerspace_memory::Memory;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// A harness that cannot see this cannot see anything.
#[test]
#[should_panic(expected = "no key of theirs")]
fn canary_damage_is_noticed_when_its_test_is_done() {
    let geometry = Geometry { segment_size: 4096, segments_max: 32, buckets: 4 };
    let options = Options { geometry: Some(geometry), cleaners: 0, writers: 1, ..Options::with_limit(32 * 4096) };
    let memory = Memory::anonymous(&options).unwrap();
    let parts = TableId { number: u16::MAX, is_versioned: false };
    memory.put(parts, Key::Bytes(b"a part nobody"), b"names").unwrap();
}
