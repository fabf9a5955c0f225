//! What is seen of a store from outside: its memory, its tables, who owns it.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use hammerspace::Store;
use hammerspace::store::{LogInfo, TableInfo, log_info};
use hammerspace_error::Result;
use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Overview {
    store: String,
    owned: bool,
    /// What segments may take.
    limit: u64,
    /// What they take: all of them, those of the index among them.
    in_use: u64,
    /// What else is in memory for them: segments that are free or made ready.
    ready: u64,
    index: u64,
    /// Records that something names.
    live: u64,
    keys: u64,
    /// Live bytes of full segments, as a share of them.
    utilisation: f64,
    /// What users have written, what cleaners have moved, and the second for each of the first.
    written: u64,
    moved: u64,
    cleaning_cost: f64,
    /// Bytes in use for each key, `None` without any.
    bytes_per_key: Option<u64>,
    log: Option<Log>,
    tables: Vec<Table>,
}

#[derive(Serialize)]
struct Log {
    durability: &'static str,
    bytes: u64,
    segments: u64,
    /// The number of the last change, and up to which changes are on disk.
    last_change: u64,
    durable: u64,
}

impl Log {
    fn of(path: &Path, store: &Store) -> Result<Option<Self>> {
        // The number on disk first: it never overtakes the other.
        let (durable, last_change) = (store.durable(), store.last_change());
        let log = log_info(path)?;
        Ok(log.map(|LogInfo { durability, bytes, segments, .. }| Self {
            durability: durability.name(),
            bytes,
            segments,
            last_change,
            durable,
        }))
    }
}

#[derive(Serialize)]
struct Table {
    name: String,
    versions: bool,
    keys: u64,
}

impl Overview {
    pub(super) fn of(path: &Path, store: &Store) -> Result<Self> {
        let (usage, keys) = (store.usage(), store.keys());
        let counts: HashMap<_, _> = store.keys_by_table()?.into_iter().collect();
        let tables = store.tables()?.into_iter().map(|TableInfo { name, versions, .. }| {
            let keys = counts.get(&name).copied().unwrap_or(0);
            Table { name, versions, keys }
        });
        Ok(Self {
            store: path.to_string_lossy().into_owned(),
            owned: store.has_owner()?,
            limit: usage.limit,
            in_use: usage.in_use(),
            ready: usage.free,
            index: usage.index,
            live: usage.live,
            keys,
            utilisation: usage.utilisation(),
            written: usage.written,
            moved: usage.moved,
            cleaning_cost: usage.cleaning_cost(),
            bytes_per_key: usage.in_use().checked_div(keys),
            log: Log::of(path, store)?,
            tables: tables.collect(),
        })
    }
}

impl fmt::Display for Overview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "store        {}, {}", self.store, if self.owned { "owned" } else { "without an owner" })?;
        let [in_use, limit, ready] = [self.in_use, self.limit, self.ready].map(HumanBytes);
        writeln!(f, "memory       {in_use} of {limit} in use, {ready} ready beside")?;
        writeln!(f, "index        {}", HumanBytes(self.index))?;
        writeln!(f, "live         {} of {} keys", HumanBytes(self.live), HumanCount(self.keys))?;
        writeln!(f, "utilisation  {:.1} % of full segments", self.utilisation * 100.0)?;
        if let Some(bytes) = self.bytes_per_key {
            writeln!(f, "per key      {bytes} bytes of memory in use")?;
        }
        let (moved, written) = (HumanBytes(self.moved), HumanBytes(self.written));
        writeln!(f, "cleaning     {moved} moved for {written} written, {:.2} for 1", self.cleaning_cost)?;
        match &self.log {
            None => writeln!(f, "durability   none: it ends with the next restart of the machine")?,
            Some(Log { durability, bytes, segments, last_change, durable }) => {
                writeln!(f, "durability   {durability}: change {durable} of {last_change} is on disk")?;
                writeln!(f, "log          {} in {segments} segments", HumanBytes(*bytes))?;
            }
        }
        for Table { name, versions, keys } in &self.tables {
            let versions = if *versions { "with versions" } else { "without versions" };
            writeln!(f, "table        {name}, {} keys, {versions}", HumanCount(*keys))?;
        }
        Ok(())
    }
}
