//! Events of a Big Memory profile: appended to stores by windows, and verified by a scan. Records are made window by window, as all
//! of them would be as large as a store.

use hammerspace::store::{Options, OwnedKey, Table};
use hammerspace_workloads::bigmem::{BigMemory, EVENT, Record};

use super::float;
use super::stand::Stand;
use super::windows::{Window, Windows};
use crate::Result;
use crate::report::Row;
use crate::scale::Scale;

/// Most keys have few events, some many.
const SMALL: &str = "1,6000\n2,2000\n3,1000\n40,50\n1000,1\n";

/// Appends a batch of records.
pub(super) type Append = fn(&Table, &[Record]) -> Result;

/// Appends the records of a window, and takes the time.
pub(super) type AppendWindow<'a> = &'a mut dyn FnMut(&[Record]) -> Result<Window>;

/// The events of a profile.
pub(super) struct Events {
    work: BigMemory,
    /// How many come in a window.
    window: u64,
}

impl Events {
    /// Those of a profile, or a few.
    pub(super) fn of(scale: &Scale, profile: &str) -> Self {
        let (profile, window) = if scale.is_full() { (profile, 1_000_000) } else { (SMALL, 6_000) };
        Self { work: BigMemory::parse(profile, 1), window }
    }

    pub(super) fn keys(&self) -> u64 {
        self.work.keys()
    }

    pub(super) fn count(&self) -> u64 {
        self.work.events()
    }

    /// Bytes of all keys and their final values.
    pub(super) fn raw(&self) -> u64 {
        self.keys() * 8 + self.count() * EVENT as u64
    }

    /// A limit that leaves so many bytes for each key, beyond keys and values.
    pub(super) fn limit(&self, scale: &Scale, overhead: u64) -> u64 {
        // A small store has its reserve beside it, which would be most of it.
        self.raw() + self.keys() * overhead + if scale.is_full() { 0 } else { 16 << 20 }
    }

    /// Everything is appended to each of some stores, which take turns window by window, so that what disturbs one disturbs all.
    pub(super) fn append<const N: usize>(&self, mut stores: [AppendWindow<'_>; N]) -> Result<[Windows; N]> {
        let mut records = vec![Record::default(); self.window as usize];
        let mut windows = std::array::from_fn(|_| Windows::default());
        for first in (0..self.count()).step_by(self.window as usize) {
            let records = &mut records[..(self.count() - first).min(self.window) as usize];
            self.work.fill(first, records);
            for (store, windows) in stores.iter_mut().zip(&mut windows) {
                windows.push(store(records)?);
            }
        }
        Ok(windows)
    }

    /// How much of what must be there is there, in hundredths; an error where anything is wrong.
    pub(super) fn verify(&self, table: &Table) -> Result<f64> {
        let (mut is_seen, mut right) = (vec![false; self.keys() as usize], 0);
        for entry in table {
            let entry = entry?;
            let OwnedKey::Integer(key) = entry.key else { return Err("a key that nobody put".into()) };
            self.work.check(key, &entry.value.bytes, 1).map_err(|fault| format!("key {key:016x}: {fault:?}"))?;
            let ordinal = self.work.ordinal(key).expect("just checked") as usize;
            if std::mem::replace(&mut is_seen[ordinal], true) {
                return Err(format!("key {key:016x} was given twice").into());
            }
            right += 1;
        }
        Ok(100.0 * float(right) / float(self.keys()))
    }
}

/// What is asked of a store that all events are appended to.
#[derive(Clone, Copy, Default)]
pub(super) struct Goals {
    pub(super) rate: Option<&'static str>,
    pub(super) steadiness: Option<&'static str>,
    pub(super) slowest: Option<&'static str>,
    pub(super) overhead: Option<&'static str>,
    pub(super) peak: Option<&'static str>,
}

/// A store that events are appended to.
pub(super) struct Target {
    pub(super) stand: Stand,
    append: Append,
    /// The most memory that was taken at the end of a window.
    pub(super) peak: u64,
}

impl Target {
    /// An empty store, its table with or without versions.
    pub(super) fn create(limit: u64, versions: bool, append: Append) -> Result<Self> {
        Ok(Self { stand: Stand::create(&Options::with_limit(limit), versions)?, append, peak: 0 })
    }

    /// Appends the records of a window.
    pub(super) fn append(&mut self, records: &[Record]) -> Result<Window> {
        let window = Window::of(records, |records| (self.append)(&self.stand.table, records))?;
        let usage = self.stand.store.usage();
        self.peak = self.peak.max(usage.in_use() + usage.free);
        Ok(window)
    }

    /// What came of it.
    pub(super) fn rows(
        &self,
        scale: &Scale,
        events: &Events,
        windows: &Windows,
        name: &str,
        goals: Goals,
    ) -> Result<Vec<Row>> {
        let goal = |goal: Option<&'static str>| goal.and_then(|goal| scale.goal(goal));
        let in_use = float(self.stand.store.usage().in_use());
        let overhead = (in_use - float(events.raw())) / float(events.keys());
        let slowest = windows.slowest();
        let [wall, cpu] = [slowest.wall, slowest.cpu].map(|time| time.as_secs_f64() * 1e3);
        Ok(vec![
            Row::alone(name, "M/s", windows.rate()).goal(goal(goals.rate)),
            Row::alone(format!("{name}, cores kept busy, cleaners' among them"), "cores", windows.cores()),
            Row::alone(format!("{name}, slowest window over the median"), "x", windows.steadiness())
                .goal(goal(goals.steadiness)),
            Row::alone(format!("{name}, slowest 64 in processor time"), "ms", cpu).goal(goal(goals.slowest)),
            Row::alone(format!("{name}, slowest 64 by the clock"), "ms", wall),
            Row::alone(format!("{name}, memory beyond keys and values"), "B/key", overhead).goal(goal(goals.overhead)),
            Row::alone(format!("{name}, largest over final memory"), "x", float(self.peak) / in_use)
                .goal(goal(goals.peak)),
            Row::alone(format!("{name}, verified"), "%", events.verify(&self.stand.table)?)
                .goal(scale.goal(">= 100 %")),
        ])
    }
}
