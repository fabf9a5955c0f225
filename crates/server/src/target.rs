//! A table as commands see it: changed at once, or as a part of a transaction.
//!
//! Outside of a transaction, a change that depends on a value is made on the condition that the record still
//! has the version that was read. Where it has not, another client was faster, and the change is decided
//! anew. So it is one operation to every other client.
//!
//! Inside, nothing is changed until the end. An overlay holds what the commands so far have made of the
//! records that they changed, and becomes one batch (`transaction.rs`). No other command runs meanwhile.

use std::borrow::Cow;
use std::cell::RefCell;
use std::time::SystemTime;

use hammerspace_error::{Kind, Result};
use hammerspace_store::{Batch, Condition, Key, Meta, Operation, Request, Store, Table, ValueKind};
use hashbrown::HashMap;

use crate::failure::{Failure, Outcome};

/// What becomes of a record.
pub(crate) enum Change<'v> {
    Keep,
    Put { kind: ValueKind, value: Cow<'v, [u8]>, expiry: Option<SystemTime> },
    Expire(Option<SystemTime>),
    Delete,
}

impl<'v> Change<'v> {
    /// A string that replaces what there is.
    pub(crate) fn bytes(value: impl Into<Cow<'v, [u8]>>, expiry: Option<SystemTime>) -> Self {
        Self::Put { kind: ValueKind::Bytes, value: value.into(), expiry }
    }

    /// The operation that makes it; `None` where there is nothing to do.
    fn operation(&self) -> Option<Operation<'_>> {
        Some(match self {
            Self::Keep => return None,
            Self::Put { kind, value, expiry } => Operation::Put { kind: *kind, value, expiry: *expiry },
            Self::Expire(expiry) => Operation::Expire(*expiry),
            Self::Delete => Operation::Delete,
        })
    }
}

/// The record that a change is decided on.
#[derive(Clone, Copy)]
pub(crate) struct There<'r> {
    pub(crate) meta: Meta,
    pub(crate) bytes: &'r [u8],
}

/// A record that a transaction has changed.
#[derive(Clone, Debug)]
struct Record {
    kind: ValueKind,
    bytes: Vec<u8>,
    expiry: Option<SystemTime>,
}

/// What a transaction has made of records, by table and key: nothing where it has deleted them.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    records: HashMap<String, HashMap<Vec<u8>, Option<Record>>>,
}

impl Overlay {
    /// The record of a key, if the transaction has changed it.
    #[expect(clippy::option_option, reason = "a record that is unchanged is not one that is deleted")]
    fn get(&self, table: &Table, key: &[u8]) -> Option<Option<&Record>> {
        let record = self.records.get(table.name())?.get(key)?;
        Some(record.as_ref().filter(|record| record.expiry.is_none_or(|expiry| expiry > SystemTime::now())))
    }

    fn set(&mut self, table: &Table, key: &[u8], record: Option<Record>) {
        self.records.entry_ref(table.name()).or_default().insert(key.to_vec(), record);
    }

    /// Makes all changes, as one.
    pub(crate) fn commit(&self, store: &Store) -> Outcome {
        let mut batch = Batch::new();
        for (name, records) in &self.records {
            let table = store.table(name)?;
            for (key, record) in records {
                let operation = match record {
                    Some(Record { kind, bytes, expiry }) => {
                        Operation::Put { kind: *kind, value: bytes, expiry: *expiry }
                    }
                    None => Operation::Delete,
                };
                batch.add(&table, key, operation);
            }
        }
        match store.commit(&batch) {
            Ok(outcome) => outcome.done().map(drop).ok_or(Failure::of("ERR the transaction has no conditions")),
            Err(error) if error.kind() == Kind::Invalid => Err(Failure::new(format!("EXECABORT {error}"))),
            Err(error) => Err(error.into()),
        }
    }
}

/// A table, to read and to change.
#[derive(Clone, Copy)]
pub(crate) struct Target<'t> {
    table: &'t Table,
    overlay: Option<&'t RefCell<Overlay>>,
}

impl<'t> Target<'t> {
    pub(crate) fn new(table: &'t Table, overlay: Option<&'t RefCell<Overlay>>) -> Self {
        Self { table, overlay }
    }

    /// The table itself, for what no transaction may do.
    pub(crate) fn table(self) -> &'t Table {
        self.table
    }

    /// Whether this is the same table.
    pub(crate) fn is(self, other: Self) -> bool {
        self.table.name() == other.table.name()
    }

    /// Appends the value of a key to `out`. `None`, and nothing appended, where there is none.
    pub(crate) fn read(self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Meta>> {
        if let Some(overlay) = self.overlay
            && let Some(changed) = overlay.borrow().get(self.table, key)
        {
            return Ok(changed.map(|record| {
                out.extend_from_slice(&record.bytes);
                Meta { kind: record.kind, version: None, expiry: record.expiry }
            }));
        }
        self.table.get_into(key, out)
    }

    /// What is known of a key beside its value.
    pub(crate) fn meta(self, key: &[u8]) -> Result<Option<Meta>> {
        match self.overlay {
            None => self.table.meta(key),
            Some(_) => self.read(key, &mut Vec::new()),
        }
    }

    /// Looks many keys up, and shows each of them in their order.
    pub(crate) fn read_many(self, keys: &[Key<'_>], mut each: impl FnMut(Option<(Meta, &[u8])>)) -> Result<()> {
        if self.overlay.is_none() {
            return self.table.get_many(keys, |_, found| each(found));
        }
        for key in keys {
            let Key::Bytes(key) = key else { unreachable!("keys of clients are bytes") };
            let mut bytes = Vec::new();
            let meta = self.read(key, &mut bytes)?;
            each(meta.map(|meta| (meta, &bytes[..])));
        }
        Ok(())
    }

    /// Puts a value, if this is so. Says whether it did.
    pub(crate) fn put(
        self,
        key: &[u8],
        kind: ValueKind,
        value: &[u8],
        expiry: Option<SystemTime>,
        condition: Condition,
    ) -> Result<bool, Failure> {
        let Some(overlay) = self.overlay else {
            let put = Operation::Put { kind, value, expiry };
            return Ok(self.table.apply(key, &Request::from(put).when(condition))?.is_done);
        };
        let holds = match condition {
            Condition::Absent => self.meta(key)?.is_none(),
            Condition::Present => self.meta(key)?.is_some(),
            _ => true,
        };
        if holds {
            overlay.borrow_mut().set(self.table, key, Some(Record { kind, bytes: value.to_vec(), expiry }));
        }
        Ok(holds)
    }

    /// Deletes a key. Says whether it was there.
    pub(crate) fn delete(self, key: &[u8]) -> Result<bool, Failure> {
        let Some(overlay) = self.overlay else { return Ok(self.table.delete(key)?) };
        let was_there = self.meta(key)?.is_some();
        if was_there {
            overlay.borrow_mut().set(self.table, key, None);
        }
        Ok(was_there)
    }

    /// Merges an operand where that needs no look at the value: O(operand). `None` where it does, since there
    /// is a value of another kind or inside of a transaction.
    pub(crate) fn merge(
        self,
        key: &[u8],
        kind: ValueKind,
        operand: &[u8],
    ) -> Result<Option<hammerspace_store::Merged>, Failure> {
        if self.overlay.is_some() {
            return Ok(None);
        }
        match self.table.merge(key, kind, operand) {
            Ok(merged) => Ok(Some(merged)),
            Err(error) if error.kind() == Kind::Invalid => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Decides what becomes of a record, and makes it so. Gives what `decide` gives beside the change.
    ///
    /// O(bytes of the value), times one and the changes that others make meanwhile.
    pub(crate) fn update<'v, T>(
        self,
        key: &[u8],
        mut decide: impl FnMut(Option<There<'_>>) -> Result<(Change<'v>, T), Failure>,
    ) -> Result<T, Failure> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let meta = self.read(key, &mut bytes)?;
            let (change, result) = decide(meta.map(|meta| There { meta, bytes: &bytes }))?;
            if self.make(key, meta, &mut bytes, &change)? {
                return Ok(result);
            }
        }
    }

    /// Makes a change of a record that was read. Says whether it was still the same.
    fn make(self, key: &[u8], meta: Option<Meta>, bytes: &mut Vec<u8>, change: &Change<'_>) -> Result<bool, Failure> {
        let Some(operation) = change.operation() else { return Ok(true) };
        let Some(overlay) = self.overlay else {
            let condition = meta.and_then(|meta| meta.version).map_or(Condition::Absent, Condition::Version);
            return Ok(self.table.apply(key, &Request::from(operation).when(condition))?.is_done);
        };
        let record = match (change, meta) {
            (Change::Put { kind, value, expiry }, _) => {
                Some(Record { kind: *kind, bytes: value.to_vec(), expiry: *expiry })
            }
            (Change::Expire(expiry), Some(meta)) => {
                Some(Record { kind: meta.kind, bytes: std::mem::take(bytes), expiry: *expiry })
            }
            _ => None,
        };
        overlay.borrow_mut().set(self.table, key, record);
        Ok(true)
    }
}
