//! What reads give.

use std::ops::Deref;
use std::time::SystemTime;

use hammerspace_memory::{self as memory, OwnedKey};

use crate::expiry;
use crate::kind::{ValueKind, number_of};

/// What is known about a record beside its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// What the value is.
    pub kind: ValueKind,
    /// The version, in a table that has versions. It never repeats, not even after a key was deleted.
    pub version: Option<u64>,
    /// When the record ends, if it does.
    pub expiry: Option<SystemTime>,
}

impl Meta {
    pub(crate) fn of(meta: memory::Meta) -> Self {
        let kind = ValueKind::of(meta.kind);
        Self { kind, version: meta.version, expiry: meta.expiry.map(expiry::to_time) }
    }
}

/// A copy of a value, as it was at one instant. As a slice, its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What is known beside them.
    pub meta: Meta,
}

impl Value {
    /// The number, where values of its kind are numbers.
    pub fn number(&self) -> Option<i64> {
        if self.meta.kind.is_number() { number_of(self.meta.kind, &self.bytes).ok() } else { None }
    }
}

impl Deref for Value {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AsRef<[u8]> for Value {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A record as enumeration gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: OwnedKey,
    /// The value.
    pub value: Value,
}

impl Entry {
    pub(crate) fn of(item: memory::Item) -> Self {
        let meta = Meta::of(item.meta);
        Self { key: item.key, value: Value { bytes: item.value, meta } }
    }
}
