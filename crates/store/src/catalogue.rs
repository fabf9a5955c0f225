//! The catalogue: which tables there are, in one record that every process reads.
//!
//! ```text
//! | entry | entry | … | zeros        entry: | number 2 B | flags 1 B | name_len 1 B | born 8 B | name |
//! ```
//!
//! - It is the value of the integer key 0 of table 65534, and replaced as a whole: a table comes, goes, or is emptied in one step.
//! - A table's records carry its number. To empty it is to give it another number; the old one is *dropped* then.
//! - `born` is what CATALOGUE is when the table has got this number. Whoever learnt the number since then knows that it has been the
//!   table's all along, however often other tables came and went.
//! - A dropped number stays listed, without a name and `born`, until nothing is left of its records: a new owner goes on dropping it.
//! - Behind the entries there is room, as zeros. So as a rule the record becomes no longer when a table is dropped or emptied; where it does
//!   in a store that is full, it takes of what users leave to others. (A list of more than 64 KiB, some thousand tables, is there twice for
//!   a moment: one that two segments do not hold may find no room.)
//!
//! The region's CATALOGUE number, the *stamp*, is odd while the list is being changed, and the next even number when it has been. So handles
//! notice, and need no lock to read: as long as an even stamp stays, so does the list; while it is odd they look at the list each time. A change
//! takes effect for all of them in the instant in which the record is replaced.

use std::collections::HashSet;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_memory::{CATALOGUE_MAX, Key, TableId, View};

/// Where the catalogue is.
pub(crate) const TABLE: TableId = TableId { number: u16::MAX - 1, is_versioned: false };
pub(crate) const KEY: Key<'static> = Key::Integer(0);
/// The records it takes, which are nobody's.
pub(crate) const RECORDS: u64 = 1;
/// The longest name of a table, in bytes.
const NAME_LEN_MAX: usize = 255;
/// What a catalogue's length is a multiple of, and the room behind its entries at least.
const ROOM: usize = 256;
const ENTRY: usize = 4;
const BORN: usize = 8;

const VERSIONED: u8 = 1;
const DROPPED: u8 = 2;

/// What a table is created with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// Whether each record has a version, which takes 8 bytes; a number that has one is a new record whenever it changes.
    pub versions: bool,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self { versions: true }
    }
}

/// A table of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// Its name.
    pub name: String,
    /// Whether its records have versions.
    pub versions: bool,
}

/// A table and its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) id: TableId,
    pub(crate) born: u64,
}

/// The tables of a store at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Catalogue {
    /// What the region's CATALOGUE said before it was read.
    stamp: u64,
    pub(crate) tables: Vec<Named>,
    pub(crate) dropped: Vec<u16>,
    /// Bytes of the record it was read from.
    len: usize,
}

impl Catalogue {
    /// The catalogue there is; an empty one in a store that is just being made.
    pub(crate) fn read(view: View<'_>) -> Result<Self> {
        // The stamp first: if the catalogue changes in between, the stamp is old, and whoever uses it will notice.
        let stamp = view.catalogue();
        let mut bytes = Vec::new();
        view.get(TABLE.number, KEY, &mut bytes)?;
        Ok(Self { stamp, ..Self::of_bytes(&bytes)? })
    }

    /// Whether the list is still this one.
    pub(crate) fn is_current(&self, view: View<'_>) -> bool {
        self.stamp.is_multiple_of(2) && self.stamp == view.catalogue()
    }

    /// The stamp from which on, as this list shows, a table has its number: an even one, unless it is of an earlier build.
    pub(crate) fn known_since(&self, table: &Named) -> u64 {
        table.born.max(self.stamp & !1)
    }

    /// The stamp after the change that is under way, or the next one: greater than any that a table or a handle knows, also where damage
    /// has made it less.
    pub(crate) fn next_stamp(&self) -> u64 {
        let newest = self.tables.iter().map(|table| table.born).fold(self.stamp, u64::max);
        ((newest | 1) + 1) & CATALOGUE_MAX
    }

    /// Whether a table came later than the stamp allows.
    pub(crate) fn is_ahead(&self) -> bool {
        self.tables.iter().any(|table| table.born > (self.stamp | 1) + 1)
    }

    /// Whether there is no list of tables at all, as before the first was put.
    pub(crate) fn is_missing(&self) -> bool {
        self.len == 0
    }

    fn of_bytes(bytes: &[u8]) -> Result<Self> {
        let mut catalogue = Self { len: bytes.len(), ..Self::default() };
        let (mut rest, mut numbers) = (bytes, HashSet::new());
        while let Some((&[low, high, flags, len], behind)) = rest.split_first_chunk::<ENTRY>() {
            let number = u16::from_le_bytes([low, high]);
            if len == 0 && flags & DROPPED == 0 {
                break;
            }
            let born_len = if len == 0 { 0 } else { BORN };
            let (born, behind) = behind.split_at_checked(born_len).ok_or_else(damaged)?;
            let (name, behind) = behind.split_at_checked(usize::from(len)).ok_or_else(damaged)?;
            // What an owner believes of a number that is dropped, it deletes.
            let is_first = numbers.insert(number);
            let flags_max = if name.is_empty() { DROPPED } else { VERSIONED };
            if !is_first || number >= TABLE.number || flags > flags_max {
                return Err(damaged());
            }
            if name.is_empty() {
                catalogue.dropped.push(number);
            } else {
                let name = str::from_utf8(name).map_err(|_| damaged())?.to_owned();
                let born = u64::from_le_bytes(born.try_into().expect("eight"));
                if born > CATALOGUE_MAX {
                    return Err(damaged());
                }
                let id = TableId { number, is_versioned: flags & VERSIONED != 0 };
                catalogue.tables.push(Named { name, id, born });
            }
            rest = behind;
        }
        Ok(catalogue)
    }

    /// As the record holds it; not longer than it was, if it need not be.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len);
        let mut entry = |number: u16, flags: u8, born: &[u8], name: &str| {
            bytes.extend_from_slice(&number.to_le_bytes());
            bytes.extend_from_slice(&[flags, name.len() as u8]);
            bytes.extend_from_slice(born);
            bytes.extend_from_slice(name.as_bytes());
        };
        for Named { name, id, born } in &self.tables {
            entry(id.number, if id.is_versioned { VERSIONED } else { 0 }, &born.to_le_bytes(), name);
        }
        for &number in &self.dropped {
            entry(number, DROPPED, &[], "");
        }
        let room = if bytes.len() <= self.len { self.len } else { (bytes.len() + ROOM).next_multiple_of(ROOM) };
        bytes.resize(room, 0);
        bytes
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Named> {
        self.tables.iter().find(|table| table.name == name)
    }

    pub(crate) fn add(&mut self, name: &str, options: TableOptions) -> Result<()> {
        check_name(name)?;
        if self.find(name).is_some() {
            let error = Error::new(Kind::Invalid, format!("there is a table {name:?} already"));
            return Err(error.remedy("use it, or choose another name"));
        }
        let id = TableId { number: self.free_number()?, is_versioned: options.versions };
        self.tables.push(Named { name: name.to_owned(), id, born: self.next_stamp() });
        Ok(())
    }

    /// Forgets a table; gives the number that is to be dropped.
    pub(crate) fn remove(&mut self, name: &str) -> Result<u16> {
        let at = self.tables.iter().position(|table| table.name == name).ok_or_else(|| missing(name))?;
        let number = self.tables.swap_remove(at).id.number;
        self.dropped.push(number);
        Ok(number)
    }

    /// Gives a table another number; gives the old one, which is to be dropped.
    pub(crate) fn renumber(&mut self, name: &str) -> Result<u16> {
        let (number, born) = (self.free_number()?, self.next_stamp());
        let table = self.tables.iter_mut().find(|table| table.name == name).ok_or_else(|| missing(name))?;
        table.born = born;
        let old = std::mem::replace(&mut table.id.number, number);
        self.dropped.push(old);
        Ok(old)
    }

    fn free_number(&self) -> Result<u16> {
        let taken: HashSet<u16> =
            self.tables.iter().map(|table| table.id.number).chain(self.dropped.iter().copied()).collect();
        (0..TABLE.number).find(|number| !taken.contains(number)).ok_or_else(|| {
            let error = Error::new(Kind::Full, "the store has as many tables as there are numbers for, 65534");
            error.remedy("drop tables, or wait until what is left of dropped ones is cleared away")
        })
    }
}

fn check_name(name: &str) -> Result<()> {
    if (1..=NAME_LEN_MAX).contains(&name.len()) {
        return Ok(());
    }
    let error = Error::new(Kind::Invalid, format!("a table's name of {} bytes", name.len()));
    Err(error.remedy(format!("choose one of 1 to {NAME_LEN_MAX} bytes")))
}

#[cold]
pub(crate) fn missing(name: &str) -> Error {
    Error::new(Kind::Missing, format!("there is no table {name:?}")).remedy("create it, or correct the name")
}

#[cold]
fn damaged() -> Error {
    Error::new(Kind::Corrupt, "the record that lists the store's tables is damaged").remedy("create the store anew")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue() -> Catalogue {
        let mut catalogue = Catalogue::default();
        for name in ["default", "words", "ß"] {
            catalogue.add(name, TableOptions { versions: name != "words" }).unwrap();
        }
        catalogue
    }

    #[test]
    fn a_catalogue_comes_back() {
        let mut catalogue = catalogue();
        catalogue.remove("words").unwrap();
        let bytes = catalogue.to_bytes();
        assert_eq!(Catalogue::of_bytes(&bytes).unwrap(), Catalogue { len: bytes.len(), ..catalogue });
        assert_eq!(Catalogue::of_bytes(b"").unwrap(), Catalogue::default());
    }

    #[test]
    fn dropping_and_emptying_take_no_room() {
        let mut catalogue = Catalogue::of_bytes(&catalogue().to_bytes()).unwrap();
        let len = catalogue.len;
        for _ in 0..40 {
            catalogue.renumber("words").unwrap();
            assert_eq!(catalogue.to_bytes().len(), len);
        }
        catalogue.remove("default").unwrap();
        assert_eq!(catalogue.to_bytes().len(), len);
    }

    #[test]
    fn a_number_is_used_again_when_nothing_is_left_of_it() {
        let mut catalogue = catalogue();
        assert_eq!(catalogue.renumber("words").unwrap(), 1);
        assert_eq!(catalogue.find("words").unwrap().id, TableId { number: 3, is_versioned: false }, "the same options");
        catalogue.dropped.clear();
        catalogue.add("new", TableOptions::default()).unwrap();
        assert_eq!(catalogue.find("new").unwrap().id.number, 1);
    }

    /// In a time that grows with their number, and not with its square.
    #[test]
    fn numbers_are_given_out_to_the_last() {
        let mut catalogue = catalogue();
        let numbers = catalogue.tables.len() as u16..TABLE.number - 1;
        catalogue.dropped.extend(numbers);
        catalogue.add("last", TableOptions::default()).unwrap();
        assert_eq!(catalogue.find("last").unwrap().id.number, TABLE.number - 1);
        assert_eq!(catalogue.add("one more", TableOptions::default()).unwrap_err().kind(), Kind::Full);
    }

    #[test]
    fn damage_is_an_error_and_never_more() {
        let mut catalogue = catalogue();
        catalogue.remove("words").unwrap();
        let (bytes, tables) = (catalogue.to_bytes(), catalogue.tables);
        assert_eq!(Catalogue::of_bytes(&bytes[..9]).unwrap_err().kind(), Kind::Corrupt);
        for (at, bit) in (0..40).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            match Catalogue::of_bytes(&damaged) {
                Err(error) => assert_eq!(error.kind(), Kind::Corrupt),
                // What is dropped is deleted: no table must come to that. And a handle has room for no greater stamp.
                Ok(found) => assert!(
                    tables.iter().all(|table| !found.dropped.contains(&table.id.number))
                        && found.tables.iter().all(|table| table.born <= CATALOGUE_MAX),
                    "bit {bit} of byte {at} makes {found:?}"
                ),
            }
        }
    }
}
