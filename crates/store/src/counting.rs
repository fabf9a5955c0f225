//! Kind `hll`: about how many distinct elements a key has seen.
//!
//! ```text
//! hashes ──► an HLL of them ──► merge ──► the key's value: the union of all that was merged into it
//! ```
//! - An operand is an HLL itself: one hash is the HLL of one element. So there is one rule, union.
//! - A union that changes no register writes nothing.
//! - A value's bytes are always as [`HllBuf`] writes them, whichever writer an operand or a put value is by.
//! - The table's parameters are those of a new value. A value carries its own, and `log2m` and `regwidth`
//!   must be the table's.

use std::cell::Cell;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_memory::{Key, OwnedKey, Present};
use hammerspace_sketch::hll::{Hll, HllBuf, Params};

use crate::kind::{Folded, ValueKind};
use crate::table::Table;
use crate::write::Merged;

/// Merges a checked operand into a value, or into none.
#[inline(never)]
pub(crate) fn fold(old: Option<&(impl Present + ?Sized)>, operand: &[u8]) -> Folded<'static> {
    let Some(old) = old else { return Folded::New(canonical(operand)) };
    let mut bytes = Vec::new();
    if !old.read(&mut bytes) {
        return Folded::Damaged;
    }
    let (Ok(mut hll), Ok(operand)) = (HllBuf::open(bytes), Hll::open(operand)) else { return Folded::Damaged };
    match hll.union(&operand) {
        Ok(true) => Folded::New(hll.into_bytes()),
        Ok(false) => Folded::Keep(None),
        Err(_) => Folded::Unlike(hll.as_hll().params()),
    }
}

/// A checked value as we write it.
#[inline(never)]
pub(crate) fn canonical(value: &[u8]) -> Vec<u8> {
    HllBuf::read(value).expect("it is checked").into_bytes()
}

impl Table {
    /// Refuses a value that no record of this kind can have in this table.
    #[inline]
    pub(crate) fn check_value(&self, kind: ValueKind, value: &[u8]) -> Result<()> {
        kind.check(value)?;
        match kind {
            ValueKind::Hll => self.hll_params()?.check_unites(Hll::open(value)?.params()),
            _ => Ok(()),
        }
    }

    /// The parameters of the table's values of kind `hll`.
    pub fn hll_params(&self) -> Result<Params> {
        if !self.is_current(&Cell::new(self.binding())) {
            self.rebind()?;
        }
        Ok(self.known_hll())
    }

    /// Adds hashes to the set that a key counts: a new one, with the table's parameters, where there is none.
    /// [`hll::hash`](crate::hll::hash) has the hashes of PostgreSQL. Writes nothing if no register changes.
    ///
    /// O(hashes + bytes of the value).
    pub fn count_add<'k>(&self, key: impl Into<Key<'k>>, hashes: &[u64]) -> Result<Merged> {
        self.merge(key, ValueKind::Hll, hll_of(self.hll_params()?, hashes))
    }

    /// Adds a hash to the set of each key, with the misses of the cache of many keys at the same time. The
    /// hashes of one key are best beside each other: they are added together. The first error ends it; what
    /// came before is added.
    pub fn count_add_many(&self, hashes: &[(Key<'_>, u64)]) -> Result<()> {
        let params = self.hll_params()?;
        let groups = hashes.chunk_by(|(left, _), (right, _)| left == right);
        let operands: Vec<_> = groups
            .map(|group| {
                let hashes: Vec<u64> = group.iter().map(|(_, hash)| *hash).collect();
                (group[0].0, hll_of(params, &hashes))
            })
            .collect();
        self.merge_many(ValueKind::Hll, &operands)
    }

    /// Adds the elements of another set. [`Kind::Invalid`] if its `log2m` or `regwidth`
    /// are not the table's.
    pub fn count_merge<'k>(&self, key: impl Into<Key<'k>>, hll: &HllBuf) -> Result<Merged> {
        self.merge(key, ValueKind::Hll, hll.as_bytes())
    }

    /// About how many distinct elements a key has seen: exact for as few as its value lists. `None` where
    /// there is no such key, and if its value is UNDEFINED.
    ///
    /// [`Kind::Invalid`] if its value is of another kind. O(bytes of the value): some 2 µs.
    pub fn count<'k>(&self, key: impl Into<Key<'k>>) -> Result<Option<f64>> {
        Ok(self.hll(key)?.and_then(|hll| hll.as_hll().estimate()))
    }

    /// What a key counts, to be counted, united, or sent elsewhere. `None` where there is no such key.
    pub fn hll<'k>(&self, key: impl Into<Key<'k>>) -> Result<Option<HllBuf>> {
        let Some(value) = self.get(key)? else { return Ok(None) };
        opened(value.meta.kind, value.bytes).map(Some)
    }

    /// The union of what these keys count: a week of seven days. A key that is not there adds nothing.
    ///
    /// Each key is read at an instant of its own. O(keys · bytes of a value).
    pub fn count_union(&self, keys: &[Key<'_>]) -> Result<HllBuf> {
        let mut union = HllBuf::new(self.hll_params()?);
        let mut united = Ok(());
        self.get_many(keys, |_, found| {
            if let (Some((meta, value)), Ok(())) = (found, &united) {
                united = opened(meta.kind, value.to_vec()).and_then(|hll| union.union(&hll.as_hll()).map(drop));
            }
        })?;
        united.map(|()| union)
    }

    /// The union of what all keys count that begin so; an integer key begins with nothing. Keys whose values
    /// are of other kinds are left out. Looks at all keys of the table, each at an instant of its own.
    pub fn count_union_prefix(&self, prefix: &[u8]) -> Result<HllBuf> {
        let mut union = HllBuf::new(self.hll_params()?);
        for entry in self {
            let entry = entry?;
            let begins = match &entry.key {
                OwnedKey::Bytes(key) => key.starts_with(prefix),
                OwnedKey::Integer(_) => prefix.is_empty(),
            };
            if begins && entry.value.meta.kind == ValueKind::Hll {
                union.union(&opened(ValueKind::Hll, entry.value.bytes)?.as_hll())?;
            }
        }
        Ok(union)
    }
}

/// An operand of these hashes.
fn hll_of(params: Params, hashes: &[u64]) -> Vec<u8> {
    let mut hll = HllBuf::new(params);
    hll.add_many(hashes);
    hll.into_bytes()
}

/// The value of a record.
fn opened(kind: ValueKind, bytes: Vec<u8>) -> Result<HllBuf> {
    match kind {
        ValueKind::Hll => HllBuf::open(bytes),
        kind => Err(Error::new(Kind::Invalid, format!("a value of kind {kind} counts no distinct elements"))
            .remedy("name a key of kind hll")),
    }
}
