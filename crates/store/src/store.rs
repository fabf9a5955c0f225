//! A store, owned or attached to.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use hammerspace_error::{Error, Kind, Result};
use hammerspace_memory::{Memory, Reader, Report, Usage, View};

use crate::catalogue::{self, Catalogue, TableInfo, TableOptions};
use crate::catalogue_lock::CatalogueLock;
use crate::durable::Durable;
use crate::table::Table;

/// The table of those who name none. Every store has it; its records have versions.
pub const DEFAULT_TABLE: &str = "default";

/// A store: tables of keys and values in shared memory, that its one owner changes and any process reads.
///
/// Owner and readers have the same handle. By one that is *attached*, whatever would change the store is an
/// error, [`Kind::Invalid`]. A forked child reads by its parent's handles, and can change nothing by them.
#[derive(Clone)]
pub struct Store {
    pub(crate) shared: Arc<Shared>,
    pub(crate) default: Table,
}

/// What all handles of a store have in common.
pub(crate) struct Shared {
    pub(crate) access: Access,
    pub(crate) durable: Option<Durable>,
    /// The catalogue as it was last read. Readers of it never wait, so a forked child may go on with it.
    pub(crate) catalogue: ArcSwap<Catalogue>,
    pub(crate) changes: CatalogueLock,
    /// Whose turn it is to give ordinals to ids.
    pub(crate) universes: Mutex<()>,
}

#[expect(
    clippy::large_enum_variant,
    reason = "one for each store that is open, and readers go through it all the time"
)]
pub(crate) enum Access {
    Owner(Arc<Memory>),
    Reader(Reader),
}

impl Store {
    /// The table of those who name none.
    pub fn default_table(&self) -> &Table {
        &self.default
    }

    /// A table by its name. [`Kind::Missing`] where there is none.
    pub fn table(&self, name: &str) -> Result<Table> {
        Table::open(self.shared.clone(), name)
    }

    /// The tables there are, by their names.
    pub fn tables(&self) -> Result<Vec<TableInfo>> {
        let catalogue = self.shared.catalogue()?;
        let info = |table: &catalogue::Named| {
            let (name, versions) = (table.name.clone(), table.id.is_versioned);
            TableInfo { name, versions, hll: table.hll }
        };
        let mut tables: Vec<_> = catalogue.tables.iter().map(info).collect();
        tables.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(tables)
    }

    /// Creates a table; its name has 1 to 255 bytes. [`Kind::Invalid`] where there is one of this name.
    /// O(tables).
    pub fn create_table(&self, name: &str, options: TableOptions) -> Result<Table> {
        self.shared.change(|catalogue| {
            catalogue.add(name, options)?;
            Ok(None)
        })?;
        self.table(name)
    }

    /// Drops a table and all that is in it. O(tables + threads); its memory comes back behind. The default
    /// table can only be emptied.
    pub fn drop_table(&self, name: &str) -> Result<()> {
        if name == DEFAULT_TABLE {
            let error = Error::new(Kind::Invalid, "every store has its default table");
            return Err(error.remedy("empty it, or drop another"));
        }
        self.shared.change(|catalogue| catalogue.remove(name).map(Some))
    }

    /// Empties a table in one step. O(tables + threads); its memory comes back behind.
    pub fn empty_table(&self, name: &str) -> Result<()> {
        self.shared.change(|catalogue| catalogue.renumber(name).map(Some))
    }

    /// Whether this handle may change the store.
    pub fn is_owner(&self) -> bool {
        matches!(self.shared.access, Access::Owner(_))
    }

    /// Whether a living process owns the store: to one that was forked from its owner, that one or who came
    /// after. A system call, unless it is this process.
    pub fn has_owner(&self) -> Result<bool> {
        match &self.shared.access {
            Access::Owner(memory) => memory.has_owner(),
            Access::Reader(reader) => reader.has_owner(),
        }
    }

    /// What the store's memory is used for. O(segments).
    pub fn usage(&self) -> Usage {
        self.shared.view().usage()
    }

    /// About how many keys there are, in all tables: exact up to a quarter of a million, within a hundredth
    /// beyond. What has expired or was dropped counts until it is cleared away.
    pub fn keys(&self) -> u64 {
        self.shared.view().keys().saturating_sub(catalogue::RECORDS)
    }

    /// How many keys each table has, in the order of [`tables`](Self::tables): as exact as
    /// [`Table::len`](crate::Table::len).
    pub fn keys_by_table(&self) -> Result<Vec<(String, u64)>> {
        let (catalogue, view) = (self.shared.catalogue()?, self.shared.view());
        let count = |table: &catalogue::Named| (table.name.clone(), view.counted(table.id.number).keys);
        let mut tables: Vec<_> = catalogue.tables.iter().map(count).collect();
        tables.sort();
        Ok(tables)
    }

    /// The live bytes of each segment, in order; `None` for those that hold no records.
    pub fn segments(&self) -> Vec<Option<u64>> {
        self.shared.view().map()
    }

    /// CatalogueLock the memory limit, in bytes, while everybody goes on. [`Kind::Invalid`] beyond what the
    /// store was made for, which is sixteen times its first limit, 64 GiB at least and 1023 GiB at most, and
    /// below what its writers and cleaners need; [`Kind::Full`] where the file system has no room for it.
    /// Memory that was in use once is not given back, nor is what is live left without room: a lower limit
    /// becomes that much at least.
    pub fn set_limit(&self, limit: u64) -> Result<()> {
        self.shared.memory()?.set_limit(limit)?;
        self.log().map_or(Ok(()), |log| log.set_limit(limit))
    }

    /// Segments whose memory does not come back, since damage hides what is in them: as far as the owner,
    /// which this handle must be of, has met them. [`verify`](Self::verify) tells where it is.
    pub fn damaged(&self) -> Result<u64> {
        Ok(self.shared.memory()?.damaged())
    }

    /// Looks at everything, for the owner; who writes waits until it is done. [`Kind::Invalid`] for anybody
    /// else.
    pub fn verify(&self) -> Result<Report> {
        let memory = self.shared.memory()?;
        memory.check()?;
        let mut report = memory.verify();
        let mut findings = Vec::new();
        match Catalogue::read(memory.view()) {
            Ok(catalogue) => {
                if catalogue.is_ahead() {
                    findings
                        .push("a table came later than the number CATALOGUE allows, which the next owner mends".into());
                }
                for (table, counted) in report.tables.iter().filter(|(table, _)| !catalogue.names(**table)) {
                    let keys = counted.keys;
                    findings.push(format!(
                        "{keys} records belong to table {table}, which the list of tables does not name"
                    ));
                }
                report.records = report.records.saturating_sub(catalogue::RECORDS);
            }
            Err(error) => findings.push(error.to_string()),
        }
        report.faults += findings.len() as u64;
        report.findings.append(&mut findings);
        Ok(report)
    }
}

impl Access {
    pub(crate) fn view(&self) -> View<'_> {
        match self {
            Self::Owner(memory) => memory.view(),
            Self::Reader(reader) => reader.view(),
        }
    }
}

impl Shared {
    #[inline]
    pub(crate) fn view(&self) -> View<'_> {
        self.access.view()
    }

    /// The region, to change a record in it: not while the disk is behind, or cannot follow.
    #[inline]
    pub(crate) fn to_change(&self) -> Result<&Memory> {
        let memory = self.memory()?;
        if let Some(durable) = &self.durable {
            memory.check()?;
            durable.log.admit()?;
        }
        Ok(memory)
    }

    /// Ends a change: it is as durable as the store's changes are.
    #[inline]
    pub(crate) fn settle(&self, memory: &Memory) -> Result<()> {
        match &self.durable {
            Some(durable) => durable.settle(memory, durable.log.durability()),
            None => Ok(()),
        }
    }

    /// The region, as its owner.
    #[inline]
    pub(crate) fn memory(&self) -> Result<&Memory> {
        match &self.access {
            Access::Owner(memory) => Ok(memory),
            Access::Reader(_) => Err(attached()),
        }
    }

    /// Waits for the turn to give ordinals to ids.
    pub(crate) fn universe_turn(&self) -> MutexGuard<'_, ()> {
        self.universes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The catalogue as it is now.
    pub(crate) fn catalogue(&self) -> Result<Arc<Catalogue>> {
        let cached = self.catalogue.load_full();
        if cached.is_current(self.view()) {
            return Ok(cached);
        }
        let fresh = Arc::new(Catalogue::read(self.view())?);
        self.catalogue.store(fresh.clone());
        Ok(fresh)
    }

    /// Changes the catalogue in one step.
    fn change(&self, change: impl FnOnce(&mut Catalogue) -> Result<Option<u16>>) -> Result<()> {
        let memory = self.to_change()?;
        // First: in a forked child the lock may be held for ever, by a thread that only the parent has.
        memory.check()?;
        self.changes.make(|| change_catalogue(memory, change))?;
        self.settle(memory)
    }
}

impl Drop for Shared {
    /// Closes the log, when nobody changes anything any more.
    fn drop(&mut self) {
        let (Access::Owner(memory), Some(durable)) = (&mut self.access, &mut self.durable) else { return };
        if !memory.is_here() {
            return durable.leave();
        }
        durable.stop();
        let Some(memory) = Arc::get_mut(memory) else { return };
        memory.stop();
        if durable.log.close().is_ok() {
            memory.close_log();
        }
    }
}

/// Goes on with a list of tables: the last owner may have died while it changed it.
pub(crate) fn adopt_catalogue(memory: &Memory) -> Result<()> {
    let catalogue = Catalogue::read(memory.view())?;
    memory.end_catalogue(catalogue.next_stamp())?;
    catalogue.dropped.into_iter().try_for_each(|number| memory.drop_table(number))
}

/// Gives a store that is being made its list of tables.
pub(crate) fn write_catalogue(memory: &Memory) -> Result<()> {
    let mut catalogue = Catalogue::default();
    let stamp = catalogue.next_stamp();
    catalogue.add(DEFAULT_TABLE, TableOptions::default())?;
    replace_catalogue(memory, &catalogue, stamp, None)
}

/// CatalogueLock the catalogue, then drops the number that `change` gives.
fn change_catalogue(memory: &Memory, change: impl FnOnce(&mut Catalogue) -> Result<Option<u16>>) -> Result<()> {
    let mut catalogue = Catalogue::read(memory.view())?;
    catalogue.dropped.retain(|&number| memory.is_dropping(number));
    let stamp = catalogue.next_stamp();
    let dropped = change(&mut catalogue)?;
    replace_catalogue(memory, &catalogue, stamp, dropped)
}

/// Replaces the list of tables, which has this stamp from then on, and drops the number that is none's any
/// more.
fn replace_catalogue(memory: &Memory, catalogue: &Catalogue, stamp: u64, dropped: Option<u16>) -> Result<()> {
    let bytes = catalogue.to_bytes();
    memory.begin_catalogue()?;
    let put = match dropped {
        None => memory.put(catalogue::TABLE, catalogue::KEY, &bytes),
        Some(_) => memory.put_to_give_back(catalogue::TABLE, catalogue::KEY, &bytes),
    };
    memory.end_catalogue(stamp)?;
    put?;
    dropped.map_or(Ok(()), |number| memory.drop_table(number))
}

#[cold]
fn attached() -> Error {
    let error = Error::new(Kind::Invalid, "the store is attached to, which is for reading");
    error.remedy("open it as its owner to change it; if another process owns it, let that one make the change")
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = if self.is_owner() { "owner" } else { "reader" };
        write!(f, "Store({role}, {:?})", self.usage())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use hammerspace_memory::Options;
    use hammerspace_os::process::fork::fork;

    use super::*;

    /// And not when that is announced: who comes new reads the list.
    #[test]
    fn a_table_is_emptied_for_all_handles_in_the_instant_in_which_the_list_is_replaced() {
        let store = Store::anonymous(&Options { cleaners: 0, ..Options::with_limit(64 << 20) }).unwrap();
        let words = store.create_table("words", TableOptions::default()).unwrap();
        words.put("a", "1").unwrap();
        let memory = store.shared.memory().unwrap();
        let mut list = Catalogue::read(memory.view()).unwrap();
        let old = list.renumber("words").unwrap();
        memory.begin_catalogue().unwrap();
        words.put("b", "2").unwrap();
        assert!(words.contains("a").unwrap() && words.contains("b").unwrap());
        memory.put_to_give_back(catalogue::TABLE, catalogue::KEY, &list.to_bytes()).unwrap();
        for handle in [&words, &store.table("words").unwrap()] {
            assert!(!handle.contains("a").unwrap() && !handle.contains("b").unwrap());
            handle.put("c", "3").unwrap();
        }
        memory.end_catalogue(list.next_stamp()).unwrap();
        memory.drop_table(old).unwrap();
        assert_eq!(words.iter().map(|entry| entry.unwrap().value.bytes).collect::<Vec<_>>(), [b"3"]);
    }

    /// Whoever finds no room while a table is emptied knows before its records are gone that it is.
    #[test]
    fn who_finds_no_room_waits_for_a_change_of_the_list() {
        let store = Store::anonymous(&Options { cleaners: 1, ..Options::with_limit(64 << 20) }).unwrap();
        let words = store.create_table("words", TableOptions::default()).unwrap();
        let full = (0_u64..1 << 20).find(|key| words.put(*key, [7; 1000]).is_err()).unwrap();
        let memory = store.shared.memory().unwrap();
        let mut list = Catalogue::read(memory.view()).unwrap();
        let old = list.renumber("words").unwrap();
        thread::scope(|scope| {
            let waiting = store.shared.changes.make(|| {
                memory.begin_catalogue().unwrap();
                memory.put_to_give_back(catalogue::TABLE, catalogue::KEY, &list.to_bytes()).unwrap();
                let waiting = scope.spawn(|| words.put(full, [7; 1000]).map(drop));
                thread::sleep(Duration::from_millis(300));
                memory.end_catalogue(list.next_stamp()).unwrap();
                memory.drop_table(old).unwrap();
                waiting
            });
            waiting.join().unwrap().unwrap();
        });
    }

    /// Or else every read would look at the list.
    #[test]
    fn an_owner_ends_the_change_over_which_the_last_one_died() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("store");
        let options = Options { region: Some(scratch.path().into()), ..Options::with_limit(64 << 20) };
        let store = Store::create(&path, &options).unwrap();
        store.shared.memory().unwrap().begin_catalogue().unwrap();
        let reader = Store::attach(&path).unwrap();
        drop(store);
        assert_eq!(reader.default_table().get("a").unwrap(), None);
        let _store = Store::open(&path).unwrap();
        assert_eq!(reader.shared.view().catalogue() % 2, 0);
    }

    /// Damage that made the stamp less.
    #[test]
    fn who_sees_a_table_that_came_later_than_now_goes_on() {
        let store = Store::anonymous(&Options { cleaners: 0, ..Options::with_limit(64 << 20) }).unwrap();
        let (memory, table) = (store.shared.memory().unwrap(), store.default_table());
        let faults = || store.verify().unwrap().faults;
        for name in ["words", "numbers"] {
            store.create_table(name, TableOptions::default()).unwrap();
        }
        for stamp in [0, 1] {
            memory.end_catalogue(stamp).unwrap();
            table.put("a", "1").unwrap();
            assert!(table.contains("a").unwrap() && faults() == 1);
        }
        store.create_table("more", TableOptions::default()).unwrap();
        assert!(table.contains("a").unwrap() && faults() == 0);
    }

    /// As when it was forked while a table was being made: in the child nobody opens the lock.
    #[test]
    fn a_forked_child_waits_for_nobody() {
        let store = Store::anonymous(&Options { cleaners: 0, ..Options::with_limit(64 << 20) }).unwrap();
        let child = store.shared.changes.make(|| {
            fork(|| {
                let (end, is_over) = mpsc::channel();
                let store = store.clone();
                thread::spawn(move || {
                    let made = store.create_table("words", TableOptions::default()).map(drop);
                    end.send([made, store.verify().map(drop)].map(|refused| refused.unwrap_err().kind())).ok()
                });
                i32::from(is_over.recv_timeout(Duration::from_secs(10)) != Ok([Kind::Invalid; 2]))
            })
        });
        assert_eq!(child.wait(), Some(0));
        assert_eq!(store.verify().unwrap().findings, Vec::<String>::new());
    }
}
