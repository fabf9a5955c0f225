//! Databases by number: tables of the store first, spaces behind them.
//!
//! A numbered database is a table: 0 is the default table, and N the table named N, which the first `SELECT
//! N` creates. A space is read-only and follows `current`: each command reads the version that is current
//! when it begins.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use hammerspace_space::{Address, Snapshot, Space};
use hammerspace_store::{
    Cursor, DEFAULT_TABLE, Error, Key, Kind, Meta, OwnedKey, Result, Store, Table, TableOptions, ValueKind,
};

use crate::target::{Overlay, Target};

/// The databases of a server.
pub(crate) struct Databases {
    store: Store,
    tables: Box<[OnceLock<Table>]>,
    spaces: Vec<Served>,
}

/// A database, to be read.
#[derive(Clone, Copy)]
pub(crate) enum Database<'d> {
    Table(Target<'d>),
    Space(&'d Served),
}

impl Databases {
    pub(crate) fn new(store: Store, tables: usize, spaces: Vec<(String, Space)>) -> Result<Self> {
        let spaces = spaces.into_iter().map(Served::new).collect();
        let databases = Self { store, tables: (0..tables.max(1)).map(|_| OnceLock::new()).collect(), spaces };
        for number in 0..databases.tables.len() {
            if number == 0 || databases.store.table(&number.to_string()).is_ok() {
                databases.table(number)?;
            }
        }
        Ok(databases)
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Numbers of databases, tables and spaces alike.
    pub(crate) fn len(&self) -> usize {
        self.tables.len() + self.spaces.len()
    }

    /// How many of them are tables: those with the lowest numbers.
    pub(crate) fn tables(&self) -> usize {
        self.tables.len()
    }

    /// The number of a space by its name.
    pub(crate) fn space_number(&self, name: &[u8]) -> Option<usize> {
        let at = self.spaces.iter().position(|served| served.name.as_bytes() == name)?;
        Some(self.tables.len() + at)
    }

    /// The names of spaces, with their numbers.
    pub(crate) fn spaces(&self) -> impl Iterator<Item = (usize, &str, &Space)> {
        let numbers = self.tables.len()..;
        numbers.zip(&self.spaces).map(|(number, served)| (number, served.name.as_str(), &served.space))
    }

    /// The table of this number, which is created where there is none; `None` for a space.
    pub(crate) fn table(&self, number: usize) -> Result<Option<&Table>> {
        let Some(slot) = self.tables.get(number) else { return Ok(None) };
        if let Some(table) = slot.get() {
            return Ok(Some(table));
        }
        let table = self.open(number)?;
        Ok(Some(slot.get_or_init(|| table)))
    }

    /// The tables that were used since the server started, with their numbers.
    pub(crate) fn opened_by_number(&self) -> impl Iterator<Item = (usize, &Table)> {
        self.tables.iter().enumerate().filter_map(|(number, table)| Some((number, table.get()?)))
    }

    /// The table that a number stands for. Its records need versions, which changes depend on.
    fn open(&self, number: usize) -> Result<Table> {
        let name = if number == 0 { DEFAULT_TABLE.to_owned() } else { number.to_string() };
        let table = match self.store.table(&name) {
            Err(error) if error.kind() == Kind::Missing => {
                // Another loop may create it meanwhile.
                self.store.create_table(&name, TableOptions::default()).or_else(|_| self.store.table(&name))?
            }
            table => table?,
        };
        if !table.has_versions()? {
            let error = Error::new(Kind::Invalid, format!("the records of table {name:?} have no versions"));
            return Err(error.remedy(format!("drop the table; database {number} of a server needs one with versions")));
        }
        Ok(table)
    }

    /// A database to read, as the transaction that is executed has made it. A space moves on to its current
    /// version first.
    pub(crate) fn get<'d>(&'d self, number: usize, overlay: Option<&'d RefCell<Overlay>>) -> Result<Database<'d>> {
        if let Some(table) = self.table(number)? {
            return Ok(Database::Table(Target::new(table, overlay)));
        }
        let served = &self.spaces[number - self.tables.len()];
        served.space.refresh()?;
        Ok(Database::Space(served))
    }
}

/// What is known of a value of a space.
const OF_SPACE: Meta = Meta { kind: ValueKind::Bytes, version: None, expiry: None };

impl Database<'_> {
    /// The space, if it is one.
    pub(crate) fn space(&self) -> Option<&Space> {
        match self {
            Self::Table(_) => None,
            Self::Space(served) => Some(&served.space),
        }
    }

    /// Appends the value of a key to `out`. `None`, and nothing appended, where there is none.
    pub(crate) fn read(self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Meta>> {
        match self {
            Self::Table(table) => table.read(key, out),
            Self::Space(Served { space, .. }) => {
                Ok(space.get_with(key, |value| out.extend_from_slice(value))?.map(|()| OF_SPACE))
            }
        }
    }

    /// What is known of a key beside its value.
    pub(crate) fn meta(self, key: &[u8]) -> Result<Option<Meta>> {
        match self {
            Self::Table(table) => table.meta(key),
            Self::Space(Served { space, .. }) => Ok(space.contains(key)?.then_some(OF_SPACE)),
        }
    }

    /// Looks many keys up, and shows each of them in their order.
    pub(crate) fn read_many(self, keys: &[Key<'_>], mut each: impl FnMut(Option<(Meta, &[u8])>)) -> Result<()> {
        match self {
            Self::Table(table) => table.read_many(keys, each),
            Self::Space(Served { space, .. }) => {
                let keys = keys.iter().map(|key| match key {
                    Key::Bytes(key) => *key,
                    Key::Integer(_) => unreachable!("keys of clients are bytes"),
                });
                let snapshot = space.snapshot();
                let values = snapshot.get_many(&keys.collect::<Vec<_>>())?;
                for value in &values {
                    each(value.as_deref().map(|value| (OF_SPACE, value)));
                }
                Ok(())
            }
        }
    }

    /// Shows some keys from a cursor on, and gives the next one: 0 at the end, as at the beginning. Any
    /// number is a cursor.
    pub(crate) fn scan(self, cursor: u64, count: usize, mut show: impl FnMut(&[u8], Meta)) -> Result<u64> {
        match self {
            Self::Table(table) => {
                let (entries, next) = table.table().scan(Cursor::from_word(cursor), count)?;
                for entry in entries {
                    if let OwnedKey::Bytes(key) = entry.key {
                        show(&key, entry.value.meta);
                    }
                }
                Ok(next.map_or(0, Cursor::to_word))
            }
            Self::Space(served) => served.scan(cursor, count, show),
        }
    }

    /// Somewhere among the keys.
    pub(crate) fn random_cursor(self) -> u64 {
        match self {
            Self::Table(_) => fastrand::u64(..) >> 32 << 32,
            Self::Space(Served { space, .. }) => fastrand::u64(..space.len().max(1)),
        }
    }

    /// How many keys there are; in a table, with those that have expired and are not cleared away.
    pub(crate) fn len(self) -> Result<u64> {
        match self {
            Self::Table(table) => table.table().len(),
            Self::Space(Served { space, .. }) => Ok(space.len()),
        }
    }
}

/// Places that are remembered for cursors that clients hold.
const PLACES_MAX: usize = 256;

/// A space, by its name, and where enumerations of it have come to.
pub(crate) struct Served {
    name: String,
    space: Space,
    places: Mutex<VecDeque<Place>>,
}

/// Where the pairs behind a cursor begin, in a version.
struct Place {
    uid: Option<String>,
    cursor: u64,
    address: Address,
}

impl Served {
    pub(crate) fn new((name, space): (String, Space)) -> Self {
        Self { name, space, places: Mutex::default() }
    }

    /// As [`Database::scan`]. A cursor is a number of pairs, in the order in which they were last written.
    fn scan(&self, cursor: u64, count: usize, mut show: impl FnMut(&[u8], Meta)) -> Result<u64> {
        let snapshot = self.space.snapshot();
        let Some(from) = self.place(&snapshot, cursor)? else { return Ok(0) };
        let (page, next) = snapshot.page(from, count)?;
        for (key, _) in &page {
            show(key, OF_SPACE);
        }
        let Some(address) = next else { return Ok(0) };
        let cursor = cursor + page.len() as u64;
        let mut places = self.places();
        places.push_front(Place { uid: snapshot.uid().map(str::to_owned), cursor, address });
        places.truncate(PLACES_MAX);
        Ok(cursor)
    }

    /// Where a cursor's pairs begin: remembered, or found from the first pair on. `None` where there are
    /// none.
    #[expect(clippy::option_option, reason = "the first pair has no address yet")]
    fn place(&self, snapshot: &Snapshot, cursor: u64) -> Result<Option<Option<Address>>> {
        if cursor == 0 {
            return Ok(Some(None));
        }
        let is_it = |place: &&Place| place.cursor == cursor && place.uid.as_deref() == snapshot.uid();
        if let Some(place) = self.places().iter().find(is_it) {
            return Ok(Some(Some(place.address)));
        }
        if cursor >= snapshot.len() {
            return Ok(None);
        }
        let (_, next) = snapshot.page(None, cursor as usize)?;
        Ok(next.map(Some))
    }

    fn places(&self) -> MutexGuard<'_, VecDeque<Place>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
