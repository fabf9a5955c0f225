//! The catalogue: which tables there are, in one record that every process reads.
//!
//! ```text
//! | checksum 8 B | entry | entry | … | zeros
//! entry: | length 2 B | number 2 B | flags 2 B | name_len 2 B | born 8 B | name | attributes |
//! ```
//!
//! - It is the value of the integer key 0 of table 65534, and replaced as a whole: a table comes, goes, or is
//!   emptied in one step.
//! - The list decides whose a record is. So it has a checksum, XXH3 of everything behind it; an owner never
//!   makes a new one in a store that has lost it, since that would turn every record into nobody's.
//! - What a later build adds to an entry, this one keeps as it is: attributes behind the name, and flags. A
//!   table with a flag that it does not know it lists, and refuses to use.
//! - A table's records carry its number. To empty it is to give it another number; the old one is *dropped*
//!   then.
//! - `born` is what CATALOGUE is when the table has got this number. Whoever learnt the number since then
//!   knows that it has been the table's all along, however often other tables came and went.
//! - A dropped number stays listed, without a name and `born`, until nothing is left of its records: a new
//!   owner goes on dropping it.
//! - Behind the entries there is room, as zeros. So as a rule the record becomes no longer when a table is
//!   dropped or emptied; where it does in a store that is full, it takes of what users leave to others. (A
//!   list of more than 64 KiB, some thousand tables, is there twice for a moment: one that two segments do
//!   not hold may find no room.)
//!
//! The region's CATALOGUE number, the *stamp*, is odd while the list is being changed, and the next even
//! number when it has been. So handles notice, and need no lock to read: as long as an even stamp stays, so
//! does the list; while it is odd they look at the list each time. A change takes effect for all of them in
//! the instant in which the record is replaced.

use std::collections::HashSet;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_memory::{CATALOGUE_MAX, INTERNAL_TABLES, Key, TableId, View};
use hammerspace_sketch::hll::Params;
use twox_hash::XxHash3_64;

use crate::store::DEFAULT_TABLE;

/// Where the catalogue is.
pub(crate) const TABLE: TableId = TableId { number: u16::MAX - 1, is_versioned: false };
pub(crate) const KEY: Key<'static> = Key::Integer(0);
/// The records it takes, which are nobody's.
pub(crate) const RECORDS: u64 = 1;
/// The longest name of a table, in bytes.
const NAME_LEN_MAX: usize = 255;
/// What a catalogue's length is a multiple of, and the room behind its entries at least.
const ROOM: usize = 1024;
const CHECKSUM: usize = 8;
/// Bytes of an entry in front of its name.
const ENTRY: usize = 16;

const VERSIONED: u16 = 1;
const DROPPED: u16 = 2;
/// The attribute [`PARAMETERS`] is there, and must be understood.
const PARAMETERIZED: u16 = 4;
const KNOWN_FLAGS: u16 = VERSIONED | DROPPED | PARAMETERIZED;
/// The tag of the attribute that has the parameters of a table's HyperLogLogs, in two bytes.
const PARAMETERS: u8 = 1;

/// What a table is created with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// Whether each record has a version, which takes 8 bytes; a number that has one is a new record whenever
    /// it changes.
    pub versions: bool,
    /// The parameters of its values of kind [`hll`](crate::ValueKind::Hll), by default PostgreSQL's.
    pub hll: Params,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self { versions: true, hll: Params::default() }
    }
}

/// A table of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// Its name.
    pub name: String,
    /// Whether its records have versions.
    pub versions: bool,
    /// The parameters of its values of kind [`hll`](crate::ValueKind::Hll).
    pub hll: Params,
}

/// A table and its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) id: TableId,
    pub(crate) born: u64,
    /// The parameters of its HyperLogLogs.
    pub(crate) hll: Params,
    /// Flags that this build does not know.
    unknown: u16,
    /// What a later build says of it.
    attributes: Vec<u8>,
}

impl Named {
    /// Refuses a table that is not for this build.
    fn check(&self) -> Result<()> {
        if self.unknown == 0 {
            return Ok(());
        }
        let finding =
            format!("the table {:?} has flags {:#x}, which this build does not know", self.name, self.unknown);
        Err(Error::new(Kind::Unsupported, finding).remedy("use a build that knows them"))
    }
}

/// An entry of the list, taken apart.
struct Entry<'b> {
    number: u16,
    flags: u16,
    born: u64,
    name: &'b [u8],
    attributes: &'b [u8],
}

impl<'b> Entry<'b> {
    /// Takes the next entry off the list; `None` at its end.
    fn split_off(list: &mut &'b [u8]) -> Result<Option<Self>> {
        let word =
            |bytes: &[u8], at: usize| bytes.get(at..at + 2).map_or(0, |word| u16::from_le_bytes([word[0], word[1]]));
        let len = usize::from(word(list, 0));
        if len == 0 {
            return Ok(None);
        }
        let cut_off = || damaged("has an entry that is cut off");
        let (entry, rest) = list.split_at_checked(len).ok_or_else(cut_off)?;
        let (fixed, behind) = entry.split_at_checked(ENTRY).ok_or_else(cut_off)?;
        let (name, attributes) = behind.split_at_checked(usize::from(word(fixed, 6))).ok_or_else(cut_off)?;
        *list = rest;
        let born = u64::from_le_bytes(fixed[8..].try_into().expect("eight"));
        Ok(Some(Self { number: word(fixed, 2), flags: word(fixed, 4), born, name, attributes }))
    }

    fn append_to(&self, list: &mut Vec<u8>) {
        let Self { number, flags, born, name, attributes } = self;
        let len = ENTRY + name.len() + attributes.len();
        for word in [len as u16, *number, *flags, name.len() as u16] {
            list.extend_from_slice(&word.to_le_bytes());
        }
        list.extend_from_slice(&born.to_le_bytes());
        list.extend_from_slice(name);
        list.extend_from_slice(attributes);
    }

    /// The table that it lists.
    fn table(&self) -> Result<Named> {
        let Self { number, flags, born, name, attributes } = *self;
        let name = str::from_utf8(name).map_err(|_| damaged("has a name that is not UTF-8"))?.to_owned();
        if born > CATALOGUE_MAX {
            return Err(damaged("has a table from the future"));
        }
        let id = TableId { number, is_versioned: flags & VERSIONED != 0 };
        let (hll, attributes) = match flags & PARAMETERIZED {
            0 => (Params::default(), attributes),
            _ => split_parameters(attributes).ok_or_else(|| damaged("has a table of no known parameters"))?,
        };
        Ok(Named { name, id, born, hll, unknown: flags & !KNOWN_FLAGS, attributes: attributes.to_vec() })
    }
}

/// The parameters of a table's HyperLogLogs, which are its first attribute, and the attributes behind them.
fn split_parameters(attributes: &[u8]) -> Option<(Params, &[u8])> {
    match attributes.split_first_chunk()? {
        ([PARAMETERS, 2, 0, size, storage], rest) => Some((Params::from_bytes([*size, *storage]).ok()?, rest)),
        _ => None,
    }
}

/// Parameters as an attribute: none if they are the default.
fn parameters(hll: Params) -> Vec<u8> {
    if hll == Params::default() {
        return Vec::new();
    }
    [&[PARAMETERS, 2, 0][..], &hll.to_bytes()].concat()
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
    /// The catalogue there is.
    pub(crate) fn read(view: View<'_>) -> Result<Self> {
        // The stamp first: if the catalogue changes in between, the stamp is old, and whoever uses it will
        // notice.
        let stamp = view.catalogue();
        let mut bytes = Vec::new();
        if view.get(TABLE.number, KEY, &mut bytes)?.is_none() {
            return Err(damaged("is missing"));
        }
        let catalogue = Self { stamp, ..Self::of_bytes(&bytes)? };
        // Every store is made with it, and it cannot be dropped.
        if catalogue.find(DEFAULT_TABLE).is_none() {
            return Err(damaged("does not name the default table"));
        }
        Ok(catalogue)
    }

    /// Whether the list is still this one.
    pub(crate) fn is_current(&self, view: View<'_>) -> bool {
        self.stamp.is_multiple_of(2) && self.stamp == view.catalogue()
    }

    /// The stamp from which on, as this list shows, a table has its number: an even one.
    pub(crate) fn known_since(&self, table: &Named) -> u64 {
        table.born.max(self.stamp & !1)
    }

    /// The stamp after the change that is under way, or the next one: greater than any that a table or a
    /// handle knows, also where damage has made it less.
    pub(crate) fn next_stamp(&self) -> u64 {
        let newest = self.tables.iter().map(|table| table.born).fold(self.stamp, u64::max);
        ((newest | 1) + 1) & CATALOGUE_MAX
    }

    /// Whether a table came later than the stamp allows.
    pub(crate) fn is_ahead(&self) -> bool {
        self.tables.iter().any(|table| table.born > (self.stamp | 1) + 1)
    }

    fn of_bytes(bytes: &[u8]) -> Result<Self> {
        let (checksum, mut rest) = bytes.split_first_chunk().ok_or_else(|| damaged("is too short"))?;
        if u64::from_le_bytes(*checksum) != XxHash3_64::oneshot(rest) {
            return Err(damaged("has a wrong checksum"));
        }
        let mut catalogue = Self { len: bytes.len(), ..Self::default() };
        let mut numbers = HashSet::new();
        while let Some(entry) = Entry::split_off(&mut rest)? {
            // An owner deletes what belongs to a number that it takes for dropped.
            let is_dropped = entry.flags & DROPPED != 0;
            if !numbers.insert(entry.number) || entry.number >= INTERNAL_TABLES || is_dropped != entry.name.is_empty() {
                return Err(damaged("contradicts itself"));
            }
            if is_dropped {
                catalogue.dropped.push(entry.number);
            } else {
                catalogue.tables.push(entry.table()?);
            }
        }
        Ok(catalogue)
    }

    /// As the record holds it; not longer than it was, if it need not be.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len);
        bytes.resize(CHECKSUM, 0);
        for Named { name, id, born, hll, unknown, attributes } in &self.tables {
            let mut flags = unknown | if id.is_versioned { VERSIONED } else { 0 };
            let parameters = parameters(*hll);
            flags |= if parameters.is_empty() { 0 } else { PARAMETERIZED };
            let (number, name) = (id.number, name.as_bytes());
            let attributes = &[&parameters, &attributes[..]].concat();
            Entry { number, flags, born: *born, name, attributes }.append_to(&mut bytes);
        }
        for &number in &self.dropped {
            Entry { number, flags: DROPPED, born: 0, name: &[], attributes: &[] }.append_to(&mut bytes);
        }
        let room = if bytes.len() <= self.len { self.len } else { (bytes.len() + ROOM).next_multiple_of(ROOM) };
        bytes.resize(room, 0);
        let checksum = XxHash3_64::oneshot(&bytes[CHECKSUM..]);
        bytes[..CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Whether records of this number are somebody's: of a table, of one that was dropped, or the store's
    /// own.
    pub(crate) fn names(&self, number: u16) -> bool {
        number >= INTERNAL_TABLES
            || self.dropped.contains(&number)
            || self.tables.iter().any(|table| table.id.number == number)
    }

    /// The table of this name, if there is one and this build knows what it is.
    pub(crate) fn known(&self, name: &str) -> Result<&Named> {
        let table = self.find(name).ok_or_else(|| missing(name))?;
        table.check()?;
        Ok(table)
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
        let (name, born) = (name.to_owned(), self.next_stamp());
        let hll = options.hll;
        self.tables.push(Named { name, id, born, hll, unknown: 0, attributes: Vec::new() });
        Ok(())
    }

    /// Forgets a table; gives the number that is to be dropped.
    pub(crate) fn remove(&mut self, name: &str) -> Result<u16> {
        let number = self.known(name)?.id.number;
        self.tables.retain(|table| table.id.number != number);
        self.dropped.push(number);
        Ok(number)
    }

    /// Gives a table another number; gives the old one, which is to be dropped.
    pub(crate) fn renumber(&mut self, name: &str) -> Result<u16> {
        self.known(name)?;
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
        (0..INTERNAL_TABLES).find(|number| !taken.contains(number)).ok_or_else(|| {
            let error = Error::new(Kind::Full, "the store has as many tables as there are numbers for, 65533");
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
fn damaged(finding: &str) -> Error {
    Error::new(Kind::Corrupt, format!("the list of the store's tables {finding}")).remedy("create the store anew")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue() -> Catalogue {
        let mut catalogue = Catalogue::default();
        for name in ["default", "words", "ß"] {
            let hll = Params::new(if name == "words" { 14 } else { 11 }, 5, -1, true).unwrap();
            catalogue.add(name, TableOptions { versions: name != "words", hll }).unwrap();
        }
        catalogue
    }

    #[test]
    fn a_catalogue_comes_back() {
        let mut catalogue = catalogue();
        catalogue.remove("words").unwrap();
        let bytes = catalogue.to_bytes();
        assert_eq!(Catalogue::of_bytes(&bytes).unwrap(), Catalogue { len: bytes.len(), ..catalogue });
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
        let numbers = catalogue.tables.len() as u16..INTERNAL_TABLES - 1;
        catalogue.dropped.extend(numbers);
        catalogue.add("last", TableOptions::default()).unwrap();
        assert_eq!(catalogue.find("last").unwrap().id.number, INTERNAL_TABLES - 1);
        assert_eq!(catalogue.add("one more", TableOptions::default()).unwrap_err().kind(), Kind::Full);
    }

    /// Gives the list its checksum, whatever is in it.
    fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
        let checksum = XxHash3_64::oneshot(&bytes[CHECKSUM..]);
        bytes[..CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let mut catalogue = catalogue();
        catalogue.remove("words").unwrap();
        let bytes = catalogue.to_bytes();
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Catalogue::of_bytes(&damaged).unwrap_err().kind(), Kind::Corrupt, "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert_eq!(Catalogue::of_bytes(&bytes[..len]).unwrap_err().kind(), Kind::Corrupt, "{len} bytes");
        }
        assert!(Catalogue::of_bytes(&[&bytes[..], &[0]].concat()).is_err());
    }

    /// As a build would write it that is wrong, or means harm.
    #[test]
    fn a_list_that_contradicts_itself_is_refused() {
        let entry = |number, flags, born, name| {
            let mut bytes = vec![0; CHECKSUM];
            Entry { number, flags, born, name, attributes: &[] }.append_to(&mut bytes);
            bytes
        };
        let good = entry(3, VERSIONED, 2, b"a");
        assert_eq!(Catalogue::of_bytes(&signed(good.clone())).unwrap().tables.len(), 1);
        for bad in [
            entry(3, DROPPED, 2, b"a"),
            entry(3, 0, 0, b""),
            entry(INTERNAL_TABLES, 0, 2, b"a"),
            entry(3, 0, 2, b"\xff"),
            entry(3, 0, CATALOGUE_MAX + 1, b"a"),
            [&good[..], &good[CHECKSUM..]].concat(),
            good[..good.len() - 1].to_vec(),
            [&good[..], &[ENTRY as u8 - 1], &[0; 30]].concat(),
        ] {
            assert_eq!(Catalogue::of_bytes(&signed(bad.clone())).unwrap_err().kind(), Kind::Corrupt, "{bad:x?}");
        }
    }

    #[test]
    fn what_a_later_build_says_of_a_table_stays() {
        let mut later = catalogue();
        let attributes = b"\x07\x02\x00ab".to_vec();
        (later.tables[0].attributes, later.tables[1].unknown) = (attributes.clone(), 1 << 9);
        let mut read = Catalogue::of_bytes(&later.to_bytes()).unwrap();
        assert_eq!(read.tables, later.tables);
        read.renumber("default").unwrap();
        assert_eq!(read.known("default").unwrap().attributes, attributes);
        assert_eq!(read.find("words").unwrap().hll.log2m(), 14);
        let of_words = |read: &mut Catalogue| {
            [read.known("words").map(drop), read.remove("words").map(drop), read.renumber("words").map(drop)]
        };
        assert!(of_words(&mut read).iter().all(|done| done.as_ref().unwrap_err().kind() == Kind::Unsupported));
        assert_eq!(Catalogue::of_bytes(&read.to_bytes()).unwrap().find("words"), later.find("words"));
    }

    #[test]
    fn an_entry_is_what_its_page_says() {
        let page = include_str!("../../../docs/format/region.md");
        for line in [
            "| checksum 8 | entry | entry | … | zeros |",
            "| length 2 | number 2 | flags 2 | name_len 2 | born 8 | name | attributes |",
        ] {
            assert!(page.contains(line), "{line}");
        }
        let mut bytes = Vec::new();
        Entry { number: 0x0102, flags: 0x0304, born: 5, name: b"ab", attributes: b"c" }.append_to(&mut bytes);
        assert_eq!(bytes, [&[19, 0, 2, 1, 4, 3, 2, 0, 5, 0, 0, 0, 0, 0, 0, 0][..], b"abc"].concat());
    }
}
