//! Batches: operations on any keys and tables of a store that take place as one.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_memory::{Change, Key, Present, TableId};

use crate::kind::ValueKind;
use crate::operation::{Done, Operation, Request, Verdict};
use crate::store::Store;
use crate::table::Table;
use crate::value::Meta;
use crate::write::{Reply, WAITS_MAX, damaged};

/// Operations that are to take place as one, in their order. It may be committed again and again.
///
/// ```
/// use hammerspace_store::{Batch, Condition, Operation, Options, Request, Store, TableOptions, ValueKind};
///
/// let store = Store::anonymous(&Options::with_limit(64 << 20))?;
/// let accounts = store.create_table("accounts", TableOptions::default())?;
/// accounts.merge("ada", ValueKind::Add, 100_i64.to_le_bytes())?;
///
/// let mut transfer = Batch::new();
/// transfer
///     .merge(&accounts, "ada", ValueKind::Add, (-30_i64).to_le_bytes())
///     .merge(&accounts, "grace", ValueKind::Add, 30_i64.to_le_bytes())
///     .put(store.default_table(), "last transfer", "ada to grace")
///     .get(&accounts, "ada");
/// let replies = store.commit(&transfer)?.done().expect("it has no conditions");
/// assert_eq!(replies[3].old.as_deref(), Some(&70_i64.to_le_bytes()[..]));
///
/// // A condition that does not hold refuses all of it.
/// let mut claim = Batch::new();
/// let put = Operation::Put { kind: ValueKind::Bytes, value: b"mine", expiry: None };
/// claim.delete(&accounts, "ada").add(
///     store.default_table(),
///     "last transfer",
///     Request::from(put).when(Condition::Absent),
/// );
/// assert!(store.commit(&claim)?.done().is_none());
/// assert!(accounts.contains("ada")?);
/// # Ok::<(), hammerspace_store::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Batch {
    tables: Vec<Table>,
    numbers: HashMap<Arc<str>, usize>,
    entries: Vec<Entry>,
    /// Keys and values, back to back.
    bytes: Vec<u8>,
}

/// An operation, its key and its value among the bytes of the batch.
#[derive(Clone, Debug)]
struct Entry {
    table: usize,
    key: Name,
    value: Range<usize>,
    request: Request<'static>,
}

#[derive(Clone, Debug)]
enum Name {
    Integer(u64),
    Bytes(Range<usize>),
}

/// What came of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum BatchOutcome {
    /// It took place: a reply for each operation, in their order.
    Done(Vec<Reply>),
    /// The condition of an operation did not hold, and nothing was changed.
    Refused {
        /// Which operation, from 0 on: the first of them.
        operation: usize,
        /// What it found.
        there: Option<Meta>,
    },
}

impl BatchOutcome {
    /// The replies; `None` if the batch was refused.
    pub fn done(self) -> Option<Vec<Reply>> {
        match self {
            Self::Done(replies) => Some(replies),
            Self::Refused { .. } => None,
        }
    }
}

impl Batch {
    /// Operations that a batch may have.
    pub const OPERATIONS_MAX: usize = 1 << 16;
    /// Bytes that its keys and values may have together. An integer key has eight.
    pub const BYTES_MAX: usize = 16 << 20;

    /// A batch of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds any operation, with its condition.
    pub fn add<'k, 'o>(
        &mut self,
        table: &Table,
        key: impl Into<Key<'k>>,
        request: impl Into<Request<'o>>,
    ) -> &mut Self {
        let request = request.into();
        let table = self.number(table);
        let key = match key.into() {
            Key::Integer(key) => Name::Integer(key),
            Key::Bytes(bytes) => Name::Bytes(self.keep(bytes)),
        };
        let value = self.keep(request.operation.value());
        self.entries.push(Entry { table, key, value, request: request.with_value(&[]) });
        self
    }

    /// Puts bytes, whatever is there, to stay.
    pub fn put<'k>(&mut self, table: &Table, key: impl Into<Key<'k>>, value: impl AsRef<[u8]>) -> &mut Self {
        self.add(table, key, Operation::Put { kind: ValueKind::Bytes, value: value.as_ref(), expiry: None })
    }

    /// Merges an operand into a value, as its kind says.
    pub fn merge<'k>(
        &mut self,
        table: &Table,
        key: impl Into<Key<'k>>,
        kind: ValueKind,
        operand: impl AsRef<[u8]>,
    ) -> &mut Self {
        self.add(table, key, Operation::Merge { kind, operand: operand.as_ref(), expiry: None })
    }

    /// Deletes a key.
    pub fn delete<'k>(&mut self, table: &Table, key: impl Into<Key<'k>>) -> &mut Self {
        self.add(table, key, Operation::Delete)
    }

    /// Lets a record end at an instant, or stay.
    pub fn expire<'k>(&mut self, table: &Table, key: impl Into<Key<'k>>, expiry: Option<SystemTime>) -> &mut Self {
        self.add(table, key, Operation::Expire(expiry))
    }

    /// Reads a key, as the operations before leave it: its reply has what is there in `before` and `old`.
    pub fn get<'k>(&mut self, table: &Table, key: impl Into<Key<'k>>) -> &mut Self {
        self.add(table, key, Operation::Get)
    }

    /// How many operations it has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of its keys and values.
    pub fn bytes(&self) -> usize {
        let integers = self.entries.iter().filter(|entry| matches!(entry.key, Name::Integer(_))).count();
        self.bytes.len() + integers * size_of::<u64>()
    }

    /// Takes all operations away.
    pub fn clear(&mut self) {
        self.tables.clear();
        self.numbers.clear();
        self.entries.clear();
        self.bytes.clear();
    }

    /// Which of the batch's tables this is.
    fn number(&mut self, table: &Table) -> usize {
        let is_it = |binding: &Table| binding.is_same(table);
        if let Some(last) = self.entries.last().map(|entry| entry.table).filter(|last| is_it(&self.tables[*last])) {
            return last;
        }
        // A table of another store may have the same name: it is refused when the batch is committed.
        let next = self.tables.len();
        let number = *self.numbers.entry(table.name.clone()).or_insert(next);
        if number < next && is_it(&self.tables[number]) {
            return number;
        }
        self.tables.push(table.clone());
        next
    }

    fn keep(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    fn key(&self, entry: &Entry) -> Key<'_> {
        match &entry.key {
            Name::Integer(key) => Key::Integer(*key),
            Name::Bytes(range) => Key::Bytes(&self.bytes[range.clone()]),
        }
    }

    fn requests(&self) -> impl Iterator<Item = Request<'_>> {
        self.entries.iter().map(|entry| entry.request.with_value(&self.bytes[entry.value.clone()]))
    }

    /// Refuses what is larger than a batch may be, or what no operation can be.
    fn check(&self) -> Result<()> {
        for (what, is, most) in
            [("operations", self.len(), Self::OPERATIONS_MAX), ("bytes", self.bytes(), Self::BYTES_MAX)]
        {
            if is > most {
                let error = Error::new(Kind::Invalid, format!("a batch of {is} {what}; batches have at most {most}"));
                return Err(error.remedy("commit it in several batches"));
            }
        }
        self.requests().zip(&self.entries).enumerate().try_for_each(|(at, (request, entry))| {
            request.check(&self.tables[entry.table]).map_err(|error| of(at, &error))
        })
    }
}

/// The same error of one operation.
#[cold]
fn of(operation: usize, error: &Error) -> Error {
    let told = Error::new(error.kind(), format!("operation {operation} of the batch: {}", error.finding()));
    match error.advice() {
        Some(advice) => told.remedy(advice),
        None => told,
    }
}

/// Why a try ended before its last operation.
enum Stop {
    /// A table has another number.
    Stale,
    Refused(usize, Option<Meta>),
    Error(Error),
}

impl Store {
    /// Makes all operations of a batch as one, or none of them.
    ///
    /// Other writers see all of it or nothing, and so does the next owner if this process dies, and a log.
    /// Its reads see one instant, that at which it takes place, and what its operations before them did.
    /// Readers of the store see each key as before or as after, but not all keys at one instant.
    ///
    /// [`Kind::Invalid`] if it is larger than [`OPERATIONS_MAX`](Batch::OPERATIONS_MAX) or
    /// [`BYTES_MAX`](Batch::BYTES_MAX), and where an operation by itself would be an error; [`Kind::Full`] if
    /// it takes more room than there is, where what it writes exists beside what it replaces. Nothing is
    /// changed then. O(operations), and O(value) where something is appended to a value over 64 KiB. Batches
    /// are made one at a time; changes of single keys go on beside them.
    pub fn commit(&self, batch: &Batch) -> Result<BatchOutcome> {
        let memory = self.shared.to_change()?;
        if !batch.tables.iter().all(|table| Arc::ptr_eq(&table.shared, &self.shared)) {
            let error = Error::new(Kind::Invalid, "a table of the batch is of another store");
            return Err(error.remedy("commit it to the store of its tables; a batch is of one store"));
        }
        batch.check()?;
        let mut waits = 0..WAITS_MAX;
        loop {
            let binding: Vec<_> = batch.tables.iter().map(|table| Cell::new(table.binding())).collect();
            let ids: Vec<_> = binding.iter().map(|binding| binding.get().id()).collect();
            let changes = self.shared.changes.count();
            let mut run = Run { batch, binding: &binding, replies: Vec::with_capacity(batch.len()), stop: None };
            let keys = batch.check_conditions(&ids)?;
            let requests: Vec<_> = batch.requests().collect();
            match (
                memory.batch(&keys, |at, there| run.decide(at, &requests[at], ids[batch.entries[at].table], there)),
                run.stop,
            ) {
                (Ok(Some(versions)), _) => {
                    self.shared.settle(memory)?;
                    let replies = run.replies.into_iter().zip(versions);
                    return Ok(BatchOutcome::Done(
                        replies.map(|(reply, version)| Reply { version, ..reply }).collect(),
                    ));
                }
                (Ok(None), Some(Stop::Refused(operation, there))) => {
                    return Ok(BatchOutcome::Refused { operation, there });
                }
                (Ok(None), Some(Stop::Error(error))) => return Err(error),
                (Ok(None), _) => {}
                (Err(error), _) => {
                    let mut is_retried = |(table, binding): (&Table, &Cell<_>)| {
                        table.is_retried(error.kind(), binding.get(), changes, &mut waits)
                    };
                    let mut again = false;
                    for of_table in batch.tables.iter().zip(&binding) {
                        again |= is_retried(of_table)?;
                    }
                    if !again {
                        return Err(error);
                    }
                }
            }
            batch.tables.iter().try_for_each(|table| table.rebind().map(drop))?;
        }
    }
}

impl Batch {
    /// The keys of all operations, whose conditions their tables can answer.
    fn check_conditions(&self, ids: &[TableId]) -> Result<Vec<(TableId, Key<'_>)>> {
        let check = |(at, entry): (usize, &Entry)| {
            let id = ids[entry.table];
            entry.request.condition.check(id.is_versioned).map_err(|error| of(at, &error))?;
            Ok((id, self.key(entry)))
        };
        self.entries.iter().enumerate().map(check).collect()
    }
}

/// One try to make a batch.
struct Run<'b> {
    batch: &'b Batch,
    binding: &'b [Cell<crate::table::TableBinding>],
    replies: Vec<Reply>,
    stop: Option<Stop>,
}

impl Run<'_> {
    /// Decides about an operation, under the locks of all keys. `None` ends the try.
    fn decide<'o>(
        &mut self,
        at: usize,
        request: &Request<'o>,
        id: TableId,
        there: Option<&dyn Present>,
    ) -> Option<Change<'o>> {
        self.replies.truncate(at);
        let table = self.batch.entries[at].table;
        if !self.batch.tables[table].is_current(&self.binding[table]) {
            self.stop = Some(Stop::Stale);
            return None;
        }
        let decision = request.decide(id, there);
        let before = there.map(|there| Meta::of(there.meta()));
        if decision.result == Verdict::Refused {
            self.stop = Some(Stop::Refused(at, before));
            return None;
        }
        let (mut old, mut done) = (None, request.done(decision.result));
        if let Some(there) = there.filter(|_| request.wants_old()) {
            let mut bytes = Vec::new();
            if there.read(&mut bytes) {
                old = Some(bytes);
            } else {
                done = Err(damaged());
            }
        }
        match done {
            Err(error) => {
                self.stop = Some(Stop::Error(of(at, &error)));
                None
            }
            Ok(done) => {
                let Done { len, number } = done.unwrap_or_default();
                self.replies.push(Reply { is_done: done.is_some(), version: None, before, len, number, old });
                Some(decision.change)
            }
        }
    }
}
