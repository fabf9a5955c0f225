//! Operations: every change of a record as data, and the pure function that decides what it comes to.
//!
//! ```text
//! Request (operation, condition) ──► decide(the record there is) ──► memory::Change, and a Verdict for the caller
//! ```
//!
//! A request goes down once. Memory may ask for a decision several times, under the lock of the key's home,
//! and commits the last one.

use std::time::SystemTime;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_memory::{Change, Decision, Present, TableId, Value};
use hammerspace_sketch::hll::{Hll, Params};

use crate::condition::Condition;
use crate::expiry;
use crate::kind::{Folded, ValueKind};
use crate::piece;
use crate::table::Table;

/// What is to become of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'o> {
    /// It becomes this value, whatever it was.
    Put {
        /// What the value is.
        kind: ValueKind,
        /// The value.
        value: &'o [u8],
        /// When the record ends.
        expiry: Option<SystemTime>,
    },
    /// An operand is merged into its value, as the kind says. Where there is none, the value is the operand.
    Merge {
        /// What the value is, and how such values merge.
        kind: ValueKind,
        /// What is merged.
        operand: &'o [u8],
        /// When a record ends that this creates. One that is there keeps its own.
        expiry: Option<SystemTime>,
    },
    /// It goes.
    Delete,
    /// It ends at this instant, or stays; an instant that has passed ends it now. Where there is none,
    /// nothing happens.
    Expire(Option<SystemTime>),
    /// It is read: the reply says what is there. For batches; to read a key by itself,
    /// [`Table::get`](crate::Table::get) takes no lock.
    Get,
}

/// An operation on one record, and what must be so for it to be made. The condition is checked and the
/// operation made in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'o> {
    /// What is to be done.
    pub operation: Operation<'o>,
    /// What must be there.
    pub condition: Condition,
    /// Whether the reply carries the value that was there before.
    pub returns_old: bool,
}

/// What a decision tells the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The operation is made.
    Done(Done),
    /// The condition does not hold.
    Refused,
    /// There is nothing that could end.
    Absent,
    /// The value there is of another kind, by this code.
    WrongKind(u8),
    /// Merging gives a number beyond 64 bits.
    Overflow,
    /// The piece of a set there is of another universe.
    OtherUniverse,
    /// The HyperLogLog there has other parameters, these.
    Unlike(Params),
    /// The value there lacks a part.
    Damaged,
    /// The number is not the table's any more.
    Stale,
}

/// An operation that is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Bytes of the value that there is now.
    pub(crate) len: u64,
    /// That value, if it is a number that was merged.
    pub(crate) number: Option<i64>,
}

impl<'o> From<Operation<'o>> for Request<'o> {
    fn from(operation: Operation<'o>) -> Self {
        Self { operation, condition: Condition::Always, returns_old: false }
    }
}

impl<'o> Request<'o> {
    /// Makes the operation only if this holds.
    #[must_use]
    pub fn when(self, condition: Condition) -> Self {
        Self { condition, ..self }
    }

    /// Lets the reply carry the value that was there before.
    #[must_use]
    pub fn returning_old(self) -> Self {
        Self { returns_old: true, ..self }
    }

    /// The same with this value or operand.
    pub(crate) fn with_value<'v>(&self, value: &'v [u8]) -> Request<'v> {
        Request {
            operation: self.operation.with_value(value),
            condition: self.condition,
            returns_old: self.returns_old,
        }
    }

    /// Whether the reply is to have the value that was there.
    #[inline]
    pub(crate) fn wants_old(&self) -> bool {
        self.returns_old || matches!(self.operation, Operation::Get)
    }

    /// Refuses a value that no record of its kind can have in this table.
    #[inline]
    pub(crate) fn check(&self, table: &Table) -> Result<()> {
        match self.operation {
            // Any bytes are values of these kinds.
            Operation::Put { kind: ValueKind::Bytes | ValueKind::Append, .. }
            | Operation::Merge { kind: ValueKind::Bytes | ValueKind::Append, .. }
            | Operation::Delete
            | Operation::Expire(_)
            | Operation::Get => Ok(()),
            Operation::Put { kind, value, .. } => {
                table.check_value(kind, value)?;
                if kind == ValueKind::Set { piece::check_value(value) } else { Ok(()) }
            }
            Operation::Merge { kind, operand, .. } => table.check_value(kind, operand),
        }
    }

    /// Decides what becomes of a record.
    #[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
    #[inline(always)]
    pub(crate) fn decide(&self, table: TableId, old: Option<&(impl Present + ?Sized)>) -> Decision<'o, Verdict> {
        let is_wanted = match self.condition {
            Condition::Always => true,
            condition => condition.holds(table, old.map(Present::meta).as_ref()),
        };
        if !is_wanted {
            return Decision { change: Change::Keep, result: Verdict::Refused };
        }
        self.operation.decide(old)
    }

    /// Says why a number is beyond 64 bits.
    #[cold]
    pub(crate) fn overflow(&self) -> Error {
        let operand = match self.operation {
            Operation::Merge { kind, operand, .. } => kind.show(operand),
            _ => "this".into(),
        };
        let error = Error::new(Kind::Invalid, format!("merging {operand} gives a number beyond 64 bits"));
        error.remedy("the value stays as it was; count in larger units, or in several keys")
    }

    /// Says that a HyperLogLog has other parameters than the one there.
    #[cold]
    pub(crate) fn unlike(&self, there: Params) -> Error {
        let refused = Hll::open(self.operation.value()).and_then(|operand| there.check_unites(operand.params()));
        refused.expect_err("it was refused")
    }

    /// Says that there is a value of another kind.
    #[cold]
    pub(crate) fn wrong_kind(&self, there: u8) -> Error {
        match self.operation {
            Operation::Merge { kind, .. } => kind.refused_by(there),
            _ => unreachable!("only what is merged depends on the kind there is"),
        }
    }
}

impl<'o> Operation<'o> {
    /// Its value or operand.
    pub(crate) fn value(&self) -> &'o [u8] {
        match *self {
            Self::Put { value, .. } => value,
            Self::Merge { operand, .. } => operand,
            Self::Delete | Self::Expire(_) | Self::Get => &[],
        }
    }

    fn with_value<'v>(&self, value: &'v [u8]) -> Operation<'v> {
        match *self {
            Self::Put { kind, expiry, .. } => Operation::Put { kind, value, expiry },
            Self::Merge { kind, expiry, .. } => Operation::Merge { kind, operand: value, expiry },
            Self::Delete => Operation::Delete,
            Self::Expire(expiry) => Operation::Expire(expiry),
            Self::Get => Operation::Get,
        }
    }

    #[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
    #[inline(always)]
    fn decide(&self, old: Option<&(impl Present + ?Sized)>) -> Decision<'o, Verdict> {
        let (change, done) = match *self {
            Self::Put { kind, value, expiry } => {
                let (value, expiry) = (kind.canonical(value), millis(expiry));
                let len = value.len() as u64;
                let change = Change::Put { kind: kind.code(), value: Value::Bytes(value), expiry };
                (change, Done { len, ..Done::default() })
            }
            Self::Merge { kind, operand, expiry } => return merge(old, kind, operand, expiry),
            Self::Delete => (Change::Delete, Done::default()),
            Self::Expire(_) if old.is_none() => return Decision { change: Change::Keep, result: Verdict::Absent },
            // What has passed is deleted, which takes no memory.
            Self::Expire(Some(expiry)) if expiry <= SystemTime::now() => (Change::Delete, Done::default()),
            Self::Expire(expiry) => {
                (Change::Expire(millis(expiry)), Done { len: old.map_or(0, Present::len), ..Done::default() })
            }
            Self::Get => (Change::Keep, Done { len: old.map_or(0, Present::len), ..Done::default() }),
        };
        Decision { change, result: Verdict::Done(done) }
    }
}

#[inline]
fn merge<'o>(
    old: Option<&(impl Present + ?Sized)>,
    kind: ValueKind,
    operand: &'o [u8],
    expiry: Option<SystemTime>,
) -> Decision<'o, Verdict> {
    let refused = |result| Decision { change: Change::Keep, result };
    if let Some(old) = old.filter(|old| old.kind() != kind.code()) {
        return refused(Verdict::WrongKind(old.kind()));
    }
    let code = kind.code();
    let expiry = || old.map_or_else(|| millis(expiry), |old| old.meta().expiry);
    let len = old.map_or(0, Present::len);
    let done = |change, len, number| Decision { change, result: Verdict::Done(Done { len, number }) };
    match kind.fold(old, operand) {
        Folded::Overflow => refused(Verdict::Overflow),
        Folded::OtherUniverse => refused(Verdict::OtherUniverse),
        Folded::Delete => done(Change::Delete, 0, None),
        Folded::Unlike(there) => refused(Verdict::Unlike(there)),
        Folded::Damaged => refused(Verdict::Damaged),
        Folded::Keep(number) => done(Change::Keep, len, number),
        Folded::Append(bytes) if old.is_some() => {
            done(Change::Append { kind: code, bytes }, len + bytes.len() as u64, None)
        }
        Folded::Number(number) if old.is_some() => {
            done(Change::Word { kind: code, word: number.cast_unsigned() }, size_of::<i64>() as u64, Some(number))
        }
        Folded::Append(bytes) => done(put(code, bytes, expiry()), bytes.len() as u64, None),
        Folded::Number(number) => done(put(code, operand, expiry()), size_of::<i64>() as u64, Some(number)),
        Folded::New(bytes) => {
            let len = bytes.len() as u64;
            done(Change::Put { kind: code, value: bytes.into(), expiry: expiry() }, len, None)
        }
        Folded::Replace(bytes) => {
            // To merge bytes is to put them, which ends no sooner for what was there.
            let expiry = if old.is_none() { expiry() } else { None };
            done(put(code, bytes, expiry), bytes.len() as u64, None)
        }
    }
}

fn put(kind: u8, value: &[u8], expiry: Option<u64>) -> Change<'_> {
    Change::Put { kind, value: value.into(), expiry }
}

#[inline]
fn millis(expiry: Option<SystemTime>) -> Option<u64> {
    expiry.map(expiry::to_millis)
}
