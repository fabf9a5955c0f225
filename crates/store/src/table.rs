//! A handle of a table, and reading by it.
//!
//! A handle remembers its table's number and an even stamp since which it has been the table's, in one word.
//! A verb is done with that number, and counts only if the stamp is still the catalogue's:
//!
//! - *reading* looks at the stamp when it has read. If it is unchanged, the number was the table's all along.
//! - *writing* looks at it under the lock of the key's record, when it decides. A drop changes the stamp
//!   first, and then waits for whoever holds such a lock.
//!
//! Otherwise the name is looked up again. If the table was born no later than the handle learnt its number,
//! what was done with that counts all the same: else whoever takes long would never come to an end where
//! other tables come and go. If not, the verb begins anew. So does a write that finds no room beside a change
//! of the catalogue, when that has come to its end (`changes.rs`).

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use hammerspace_error::Result;
use hammerspace_memory::{Counted, Cursor, Key, TableId, View};
use hammerspace_sketch::hll::Params;

use crate::scan::Scan;
use crate::store::Shared;
use crate::value::{Entry, Meta, Value};

/// What a handle knows: stamp 47 | versioned 1 | number 16.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableBinding(u64);

impl TableBinding {
    fn new(id: TableId, stamp: u64) -> Self {
        Self(stamp << 17 | u64::from(id.is_versioned) << 16 | u64::from(id.number))
    }

    pub(crate) fn id(self) -> TableId {
        TableId { number: self.0 as u16, is_versioned: self.0 >> 16 & 1 != 0 }
    }

    fn stamp(self) -> u64 {
        self.0 >> 17
    }

    /// Whether the catalogue has not changed since, and is not being changed.
    #[inline]
    fn holds(self, view: View<'_>) -> bool {
        self.stamp() == view.catalogue()
    }
}

/// A table of a store. Cheap to clone; each clone keeps the store open.
///
/// It stands for a name: when the table is emptied, or dropped and created again, it goes on with the new
/// one. Where there is no such table any more, each verb is an error,
/// [`Kind::Missing`](crate::Kind::Missing).
///
/// ```
/// use hammerspace_store::{Key, Options, Store, TableOptions, ValueKind};
///
/// let store = Store::anonymous(&Options::with_limit(64 << 20))?;
/// let views = store.create_table("views", TableOptions { versions: false, ..TableOptions::default() })?;
/// assert_eq!(views.add("page 1", 2)?, 2);
///
/// // Many keys wait for memory together.
/// let one = 1_i64.to_le_bytes();
/// let keys = ["page 1", "page 2"].map(Key::from);
/// views.merge_many(ValueKind::Add, &keys.map(|key| (key, one)))?;
/// let mut counts = [None; 2];
/// views.get_many(&keys, |at, found| {
///     counts[at] = found.map(|(_meta, value)| i64::from_le_bytes(value.try_into().unwrap()));
/// })?;
/// assert_eq!(counts, [Some(3), Some(1)]);
///
/// for entry in &views {
///     let entry = entry?;
///     println!("{:?}: {:?}", entry.key, entry.value.number());
/// }
/// # Ok::<(), hammerspace_store::Error>(())
/// ```
pub struct Table {
    pub(crate) shared: Arc<Shared>,
    pub(crate) name: Arc<str>,
    binding: AtomicU64,
    /// The parameters of its HyperLogLogs, as of `known`: two bytes.
    hll: AtomicU16,
}

impl Table {
    pub(crate) fn open(shared: Arc<Shared>, name: &str) -> Result<Self> {
        let table = Self { shared, name: name.into(), binding: AtomicU64::new(0), hll: AtomicU16::new(0) };
        table.rebind()?;
        Ok(table)
    }

    /// Whether it is a handle of the same table.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared) && self.name == other.name
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its records have versions.
    pub fn has_versions(&self) -> Result<bool> {
        self.rebind()?;
        Ok(self.binding().id().is_versioned)
    }

    /// The parameters of its HyperLogLogs, as the handle knows them.
    pub(crate) fn known_hll(&self) -> Params {
        let bytes = self.hll.load(Ordering::Relaxed).to_le_bytes();
        Params::from_bytes(bytes).expect("they are a table's")
    }

    #[inline]
    pub(crate) fn binding(&self) -> TableBinding {
        TableBinding(self.binding.load(Ordering::Relaxed))
    }

    /// Looks the name up again. Gives what is known now, and when the table was born.
    #[cold]
    pub(crate) fn rebind(&self) -> Result<(TableBinding, u64)> {
        let catalogue = self.shared.catalogue()?;
        let table = catalogue.known(&self.name)?;
        let binding = TableBinding::new(table.id, catalogue.known_since(table));
        self.hll.store(u16::from_le_bytes(table.hll.to_bytes()), Ordering::Relaxed);
        self.binding.store(binding.0, Ordering::Relaxed);
        Ok((binding, table.born))
    }

    /// Whether the number has been the table's since it was learnt; then it is known as of now.
    #[inline]
    pub(crate) fn is_current(&self, binding: &Cell<TableBinding>) -> bool {
        binding.get().holds(self.shared.view()) || self.was_stable(binding)
    }

    /// Where that cannot be told, it did not: who begins anew is told why.
    #[cold]
    fn was_stable(&self, binding: &Cell<TableBinding>) -> bool {
        let before = binding.get();
        let Ok((now, born)) = self.rebind() else { return false };
        binding.set(now);
        now.id() == before.id() && born <= before.stamp()
    }

    /// Reads until what was read is this table's.
    #[inline]
    fn read<T>(&self, mut read: impl FnMut(View<'_>, u16) -> Result<T>) -> Result<T> {
        let view = self.shared.view();
        loop {
            let binding = Cell::new(self.binding());
            let found = read(view, binding.get().id().number)?;
            if self.is_current(&binding) {
                return Ok(found);
            }
            self.rebind()?;
        }
    }

    /// A copy of the value of a key; `None` where there is none, or where it has expired. Two misses of the
    /// cache.
    pub fn get<'k>(&self, key: impl Into<Key<'k>>) -> Result<Option<Value>> {
        let mut bytes = Vec::new();
        let meta = self.get_into(key, &mut bytes)?;
        Ok(meta.map(|meta| Value { bytes, meta }))
    }

    /// Appends the value of a key to `out`: without allocating, where there is room. `None`, and nothing
    /// appended, where there is none.
    #[inline]
    pub fn get_into<'k>(&self, key: impl Into<Key<'k>>, out: &mut Vec<u8>) -> Result<Option<Meta>> {
        let (key, start) = (key.into(), out.len());
        let meta = self.read(|view, table| {
            out.truncate(start);
            view.get(table, key, out)
        })?;
        Ok(meta.map(Meta::of))
    }

    /// What is known about a key beside its value, if it is there.
    pub fn meta<'k>(&self, key: impl Into<Key<'k>>) -> Result<Option<Meta>> {
        let key = key.into();
        Ok(self.read(|view, table| view.meta(table, key))?.map(Meta::of))
    }

    /// Whether a key is there.
    pub fn contains<'k>(&self, key: impl Into<Key<'k>>) -> Result<bool> {
        Ok(self.meta(key)?.is_some())
    }

    /// How many keys there are, with those that have expired and are not cleared away. O(1): 65 words are
    /// added up.
    ///
    /// Exact, unless an owner of the store was killed: of the change that each of its threads was making
    /// then, it may not have counted any.
    #[expect(clippy::len_without_is_empty, reason = "what is there now need not be in an instant")]
    pub fn len(&self) -> Result<u64> {
        Ok(self.counted()?.keys)
    }

    /// Bytes of keys and values, to be had as [`len`](Self::len) is; an integer key has eight. Their records
    /// take some more.
    pub fn bytes(&self) -> Result<u64> {
        Ok(self.counted()?.bytes)
    }

    fn counted(&self) -> Result<Counted> {
        self.read(|view, table| Ok(view.counted(table)))
    }

    /// Looks many keys up, their misses of the cache at the same time. `each` is given the place of the key
    /// among `keys`, and what is known and the value if it is there. Each key is read at an instant of its
    /// own, not in their order: one that is put while the call is under way, by `each` too, may be given as
    /// absent.
    pub fn get_many(&self, keys: &[Key<'_>], mut each: impl FnMut(usize, Option<(Meta, &[u8])>)) -> Result<()> {
        let view = self.shared.view();
        let mut done = 0;
        while done < keys.len() {
            let (binding, first) = (Cell::new(self.binding()), done);
            view.get_many(binding.get().id().number, &keys[first..], |at, found| {
                if first + at == done && self.is_current(&binding) {
                    each(done, found.map(|(meta, value)| (Meta::of(meta), value)));
                    done += 1;
                }
            })?;
            if done < keys.len() {
                self.rebind()?;
            }
        }
        Ok(())
    }

    /// Some records from `cursor` on: about `count`, fewer at the end, and where their values come to some
    /// megabytes. Gives where to go on, `None` at the end.
    ///
    /// A record that is there from the first call to the last is given exactly once, whatever is written or
    /// cleaned meanwhile, and even if another process goes on with the cursor. O(index) altogether: a store's
    /// tables share it.
    pub fn scan(&self, cursor: Cursor, count: usize) -> Result<(Vec<Entry>, Option<Cursor>)> {
        let (items, next) = self.read(|view, table| {
            let mut items = Vec::new();
            let next = view.scan(table, cursor, count, &mut items)?;
            Ok((items, next))
        })?;
        Ok((items.into_iter().map(Entry::of).collect(), next))
    }

    /// Every record, as [`scan`](Self::scan) gives them.
    pub fn iter(&self) -> Scan<'_> {
        Scan::new(self)
    }
}

impl<'t> IntoIterator for &'t Table {
    type Item = Result<Entry>;
    type IntoIter = Scan<'t>;

    fn into_iter(self) -> Scan<'t> {
        self.iter()
    }
}

impl Clone for Table {
    fn clone(&self) -> Self {
        let (shared, name) = (self.shared.clone(), self.name.clone());
        let (binding, hll) = (self.binding.load(Ordering::Relaxed).into(), self.hll.load(Ordering::Relaxed).into());
        Self { shared, name, binding, hll }
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({:?})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::{Options, Store, TableOptions};

    fn store() -> Store {
        Store::anonymous(&Options { cleaners: 1, ..Options::with_limit(32 << 20) }).unwrap()
    }

    /// Or else whoever takes long would begin anew each time that another table comes or goes.
    #[test]
    fn a_number_that_stays_holds_whatever_becomes_of_other_tables() {
        let store = store();
        let table = store.create_table("words", TableOptions::default()).unwrap();
        let other = store.create_table("other", TableOptions::default()).unwrap();
        let [binding, of_other] = [&table, &other].map(|table| Cell::new(table.binding()));
        store.empty_table("other").unwrap();
        assert!(!binding.get().holds(store.default_table().shared.view()));
        assert!(table.is_current(&binding) && binding.get() == table.binding(), "binding as of now");
        assert!(!other.is_current(&of_other));
        store.drop_table("words").unwrap();
        assert!(!table.is_current(&binding));
    }

    #[test]
    fn a_number_that_came_back_does_not_hold() {
        let store = store();
        let table = store.create_table("words", TableOptions::default()).unwrap();
        let (first, started) = (Cell::new(table.binding()), Instant::now());
        let mut numbers = 0;
        while numbers == 0 || table.binding().id() != first.get().id() {
            assert!(started.elapsed() < Duration::from_mins(1), "{numbers} other numbers");
            // A number is free when its records have been removed.
            thread::sleep(Duration::from_millis(1));
            store.empty_table("words").unwrap();
            table.rebind().unwrap();
            numbers += 1;
        }
        assert!(!table.is_current(&first));
    }
}
