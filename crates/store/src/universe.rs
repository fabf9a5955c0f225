//! Universes: tables that give each id the next ordinal, so that sets of ids are sets of small numbers.
//!
//! ```text
//! forward:  an integer id, or "i" and the bytes of an id  ──►  ordinal 4
//! reverse:  "r" and the number of a piece 4 (big-endian)  ──►  up to 1,024 ids: `docs/format/sets.md`
//! count:    "n"                                           ──►  the next ordinal 8
//! ```
//! - Ordinals are dense: the ids of 0 to `len - 1` are all known, in the order in which they came.
//! - Forward, reverse and count change in one batch. So an owner that dies leaves no id without its ordinal,
//!   and no ordinal without its id.
//! - An ordinal is an id's as long as the table is neither dropped nor emptied. The *number* of a universe is
//!   the stamp since which its table has its number; sets remember it, and refuse to be read over another.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_memory::{Key, OwnedKey};

use crate::batch::Batch;
use crate::catalogue::TableOptions;
use crate::condition::Condition;
use crate::kind::ValueKind;
use crate::operation::{Operation, Request};
use crate::store::Store;
use crate::table::Table;

/// Ids in a piece of the reverse.
const PIECE: u64 = 1024;
/// Ids that are added in a batch.
const BATCH: usize = 8192;
/// Bytes of ids that are added in a batch, but for the last.
const BATCH_BYTES: usize = 1 << 20;
/// How many ids there may be.
const LEN_MAX: u64 = 1 << 32;
const COUNT: Key<'static> = Key::Bytes(b"n");

/// A table of ids and their ordinals.
///
/// ```
/// use hammerspace_store::{Key, Options, OwnedKey, Store, Universe};
///
/// let store = Store::anonymous(&Options::with_limit(64 << 20))?;
/// let users = Universe::create(&store, "users")?;
/// assert_eq!(users.assign(&["ada".into(), Key::Integer(7), "ada".into()])?, [0, 1, 0]);
/// assert_eq!(users.ordinals(&["grace".into(), Key::Integer(7)])?, [None, Some(1)]);
/// assert_eq!(users.id(1)?, Some(OwnedKey::Integer(7)));
/// # Ok::<(), hammerspace_store::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Universe {
    store: Store,
    table: Table,
}

impl Universe {
    /// Creates a table for it. [`Kind::Invalid`] where there is one of this name.
    pub fn create(store: &Store, name: &str) -> Result<Self> {
        let table = store.create_table(name, TableOptions { versions: false, ..TableOptions::default() })?;
        Ok(Self { store: store.clone(), table })
    }

    /// The universe of this name. [`Kind::Missing`] where there is no such table.
    pub fn open(store: &Store, name: &str) -> Result<Self> {
        Ok(Self { store: store.clone(), table: store.table(name)? })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.table.name()
    }

    /// What tells it from those that had its name before.
    pub(crate) fn number(&self) -> Result<u64> {
        Ok(self.table.rebind()?.1)
    }

    /// How many ids it has, which is the next ordinal.
    pub fn len(&self) -> Result<u64> {
        let count = self.table.get(COUNT)?;
        count.map_or(Ok(0), |count| <[u8; 8]>::try_from(&count[..]).map(u64::from_le_bytes).map_err(|_| damaged()))
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The ordinals of ids; `None` for those that are not known. The misses of the cache of many ids happen
    /// at the same time.
    pub fn ordinals(&self, ids: &[Key<'_>]) -> Result<Vec<Option<u32>>> {
        let names: Vec<_> = ids.iter().map(forward).collect();
        let keys: Vec<_> = names.iter().map(OwnedKey::as_key).collect();
        let (mut ordinals, mut is_damaged) = (vec![None; ids.len()], false);
        self.table.get_many(&keys, |at, found| {
            let ordinal = found.map(|(_, value)| value.try_into().map(u32::from_le_bytes));
            is_damaged |= matches!(ordinal, Some(Err(_)));
            ordinals[at] = ordinal.and_then(std::result::Result::ok);
        })?;
        if is_damaged { Err(damaged()) } else { Ok(ordinals) }
    }

    /// The ordinals of ids; those that are not known get the next ones, in their order. [`Kind::Full`] if
    /// there are no more of 32 bits; what came before is known then. One caller at a time adds ids.
    pub fn assign(&self, ids: &[Key<'_>]) -> Result<Vec<u32>> {
        loop {
            let binding = self.ordinals(ids)?;
            let unknown: Vec<_> = ids.iter().zip(&binding).filter(|(_, at)| at.is_none()).map(|(id, _)| *id).collect();
            if unknown.is_empty() {
                return Ok(binding.into_iter().flatten().collect());
            }
            self.add(&unknown)?;
        }
    }

    /// Adds what is not known of these, as much as goes into a batch.
    fn add(&self, ids: &[Key<'_>]) -> Result<()> {
        self.store.shared.memory()?.check()?;
        let _turn = self.store.shared.universe_turn();
        // Another thread may have added some meanwhile.
        let ids = &ids[..ids.len().min(BATCH)];
        let binding = self.ordinals(ids)?;
        let len = self.len()?;
        let mut addition = Addition::new(len);
        for (id, _) in ids.iter().zip(binding).filter(|(_, ordinal)| ordinal.is_none()) {
            if addition.bytes > BATCH_BYTES {
                break;
            }
            if addition.next == LEN_MAX {
                return Err(Error::new(Kind::Full, format!("the universe {:?} has 2^32 ids", self.name()))
                    .remedy("divide the ids among several universes"));
            }
            addition.add(id);
        }
        // Refused, if the table was emptied or dropped since its count was read; then it begins anew.
        addition.commit(self).map(drop)
    }

    /// The id of an ordinal.
    pub fn id(&self, ordinal: u32) -> Result<Option<OwnedKey>> {
        let mut found = None;
        self.each_id([ordinal], |id| {
            found = Some(id);
            Ok(())
        })?;
        Ok(found)
    }

    /// Gives the ids of ascending ordinals to `each`, in their order, but for those that are not known.
    pub fn each_id(
        &self,
        ordinals: impl IntoIterator<Item = u32>,
        mut each: impl FnMut(OwnedKey) -> Result<()>,
    ) -> Result<()> {
        let mut piece: (Option<u64>, Vec<OwnedKey>) = (None, Vec::new());
        for ordinal in ordinals {
            let (number, place) = (u64::from(ordinal) / PIECE, u64::from(ordinal) % PIECE);
            if piece.0 != Some(number) {
                let value = self.table.get(reverse(number).as_slice())?;
                piece = (Some(number), value.map_or(Ok(Vec::new()), |value| decode(&value))?);
            }
            if let Some(id) = piece.1.get(place as usize) {
                each(id.clone())?;
            }
        }
        Ok(())
    }
}

/// Ids that are about to get ordinals.
struct Addition {
    first: u64,
    next: u64,
    ordinals: HashMap<OwnedKey, u32>,
    order: Vec<OwnedKey>,
    bytes: usize,
}

impl Addition {
    fn new(first: u64) -> Self {
        Self { first, next: first, ordinals: HashMap::new(), order: Vec::new(), bytes: 0 }
    }

    fn add(&mut self, id: &Key<'_>) {
        let id = owned(id);
        self.bytes += encoded(&id).len();
        if let Entry::Vacant(entry) = self.ordinals.entry(id.clone()) {
            entry.insert(self.next as u32);
            self.order.push(id);
            self.next += 1;
        }
    }

    /// Whether all of it was added.
    fn commit(&self, universe: &Universe) -> Result<bool> {
        let (table, mut batch) = (&universe.table, Batch::new());
        let condition = if self.first == 0 { Condition::Absent } else { Condition::Present };
        let count = Operation::Put { kind: ValueKind::Bytes, value: &self.next.to_le_bytes(), expiry: None };
        batch.add(table, COUNT, Request::from(count).when(condition));
        let mut pieces: Vec<(u64, Vec<u8>)> = Vec::new();
        for (id, ordinal) in self.order.iter().zip(self.first..) {
            batch.put(table, forward(&id.as_key()).as_key(), (ordinal as u32).to_le_bytes());
            match pieces.last_mut() {
                Some((number, ids)) if *number == ordinal / PIECE => ids.extend(encoded(id)),
                _ => pieces.push((ordinal / PIECE, encoded(id))),
            }
        }
        for (number, ids) in &pieces {
            batch.merge(table, reverse(*number).as_slice(), ValueKind::Append, ids);
        }
        Ok(universe.store.commit(&batch)?.done().is_some())
    }
}

fn owned(id: &Key<'_>) -> OwnedKey {
    match id {
        Key::Integer(id) => OwnedKey::Integer(*id),
        Key::Bytes(id) => OwnedKey::Bytes(id.to_vec()),
    }
}

/// The key of an id.
fn forward(id: &Key<'_>) -> OwnedKey {
    match id {
        Key::Integer(id) => OwnedKey::Integer(*id),
        Key::Bytes(id) => OwnedKey::Bytes([b"i", *id].concat()),
    }
}

/// The key of a piece of the reverse.
fn reverse(number: u64) -> Vec<u8> {
    [&b"r"[..], &(number as u32).to_be_bytes()].concat()
}

fn encoded(id: &OwnedKey) -> Vec<u8> {
    match id {
        OwnedKey::Integer(id) => [&[0][..], &id.to_le_bytes()].concat(),
        OwnedKey::Bytes(id) => [&[1][..], &(id.len() as u16).to_le_bytes(), id].concat(),
    }
}

/// The ids of a piece.
fn decode(mut bytes: &[u8]) -> Result<Vec<OwnedKey>> {
    let mut ids = Vec::new();
    while let Some((tag, rest)) = bytes.split_first() {
        let (id, rest) = match tag {
            0 => rest.split_first_chunk().map(|(id, rest)| (OwnedKey::Integer(u64::from_le_bytes(*id)), rest)),
            1 => rest.split_first_chunk().and_then(|(len, rest)| {
                let (id, rest) = rest.split_at_checked(u16::from_le_bytes(*len).into())?;
                Some((OwnedKey::Bytes(id.to_vec()), rest))
            }),
            _ => None,
        }
        .ok_or_else(damaged)?;
        ids.push(id);
        bytes = rest;
    }
    Ok(ids)
}

#[cold]
fn damaged() -> Error {
    Error::new(Kind::Corrupt, "a table holds what no universe does").remedy("name the table of a universe")
}
