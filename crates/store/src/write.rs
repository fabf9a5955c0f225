//! Writing by a table's handle: for the process that owns the store.

use std::cell::Cell;
use std::ops::Range;
use std::time::{Duration, SystemTime};

use hammerspace_error::{Error, Kind, Result};
use hammerspace_memory::{self as memory, Change, Key, Memory, Old, TableId};

use crate::condition::{Condition, Outcome};
use crate::expiry;
use crate::kind::{Rule, ValueKind, number_of};
use crate::table::{Known, Table};

/// How often a change that finds no room is made anew as tables are dropped meanwhile.
const WAITS_MAX: u32 = 16;

/// How a value is put; by default as bytes that never expire, whatever is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Put {
    /// What the value is.
    pub kind: ValueKind,
    /// When the record ends.
    pub expiry: Option<SystemTime>,
    /// What must be there.
    pub condition: Condition,
}

impl Put {
    /// As bytes that never expire, if this is so.
    pub fn when(condition: Condition) -> Self {
        Self { condition, ..Self::default() }
    }

    /// Says what the value is.
    #[must_use]
    pub fn kind(self, kind: ValueKind) -> Self {
        Self { kind, ..self }
    }

    /// Lets the record end at an instant.
    #[must_use]
    pub fn until(self, expiry: SystemTime) -> Self {
        Self { expiry: Some(expiry), ..self }
    }

    /// Lets the record end so long from now.
    #[must_use]
    pub fn ttl(self, ttl: Duration) -> Self {
        self.until(expiry::after(ttl))
    }
}

/// What a value has become by merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The version it has now, in a table that has versions.
    pub version: Option<u64>,
    /// Bytes it has now.
    pub len: u64,
    /// What it is now, if it is a number.
    pub number: Option<i64>,
}

/// What a change is made under: the number is the table's as long as this holds.
struct Turn<'t> {
    handle: &'t Table,
    known: Cell<Known>,
    is_stale: Cell<bool>,
}

impl Turn<'_> {
    fn table(&self) -> TableId {
        self.known.get().id()
    }

    /// Asked under the lock of the key's record.
    #[inline]
    fn holds(&self) -> bool {
        let holds = self.handle.holds(&self.known);
        self.is_stale.set(!holds);
        holds
    }
}

impl Table {
    /// Makes a change until it was made to this table.
    #[inline]
    fn change<T>(&self, mut make: impl FnMut(&Memory, &Turn<'_>) -> Result<T>) -> Result<T> {
        let memory = self.shared.memory()?;
        let mut waits = 0..WAITS_MAX;
        loop {
            let turn = Turn { handle: self, known: Cell::new(self.known()), is_stale: Cell::new(false) };
            let changes = self.shared.changes.count();
            let result = make(memory, &turn);
            let is_over = match &result {
                Ok(_) => !turn.is_stale.get(),
                Err(error) => !self.tries_again(error.kind(), &turn, changes, &mut waits)?,
            };
            if is_over {
                return result;
            }
            self.learn()?;
        }
    }

    /// Whether a change that was refused for this is made anew; waits first where there may come to be room.
    #[cold]
    fn tries_again(&self, why: Kind, turn: &Turn<'_>, changes: u64, waits: &mut Range<u32>) -> Result<bool> {
        Ok(match why {
            // A number that is being dropped is refused before anything is asked. Where the list of tables has it all the same, that is
            // damaged.
            Kind::Missing => self.learn()?.0 != turn.known.get(),
            Kind::Full => waits.next().is_some() && self.shared.changes.wait_for_more(changes),
            _ => turn.is_stale.get(),
        })
    }

    /// Puts bytes, whatever is there, to stay. Gives the version, in a table that has versions.
    ///
    /// [`Kind::Full`] if that takes more room than there is.
    pub fn put<'k>(&self, key: impl Into<Key<'k>>, value: impl AsRef<[u8]>) -> Result<Option<u64>> {
        match self.put_with(key, value, &Put::default())? {
            Outcome::Done { version, .. } => Ok(version),
            Outcome::Refused { .. } => unreachable!("nothing was asked for"),
        }
    }

    /// Puts a value of some kind, with an expiry, under a condition.
    pub fn put_with<'k>(&self, key: impl Into<Key<'k>>, value: impl AsRef<[u8]>, put: &Put) -> Result<Outcome> {
        let (key, value) = (key.into(), value.as_ref());
        put.kind.check(value)?;
        let (kind, expiry) = (put.kind.code(), put.expiry.map(expiry::to_millis));
        self.change(|memory, turn| {
            put.condition.check(turn.table().is_versioned)?;
            let mut is_wanted = false;
            let outcome = memory.put(turn.table(), key, kind, value, expiry, |old| {
                is_wanted = turn.holds() && put.condition.holds(meta_of(old).as_ref());
                is_wanted
            })?;
            Ok(Outcome::of(outcome, is_wanted))
        })
    }

    /// Deletes a key. Says whether it was there.
    pub fn delete<'k>(&self, key: impl Into<Key<'k>>) -> Result<bool> {
        Ok(matches!(self.delete_if(key, Condition::Always)?, Outcome::Done { before: Some(_), .. }))
    }

    /// Deletes a key under a condition.
    pub fn delete_if<'k>(&self, key: impl Into<Key<'k>>, condition: Condition) -> Result<Outcome> {
        self.update_if(key.into(), condition, || Change::Delete)
    }

    /// Lets a record end at `expiry`; an instant that has passed ends it now. Says whether it was there. It has a new version then.
    pub fn expire<'k>(&self, key: impl Into<Key<'k>>, expiry: SystemTime) -> Result<bool> {
        self.set_expiry(key.into(), Some(expiry::to_millis(expiry)))
    }

    /// Lets a record stay. Says whether it was there. It has a new version then.
    pub fn persist<'k>(&self, key: impl Into<Key<'k>>) -> Result<bool> {
        self.set_expiry(key.into(), None)
    }

    fn set_expiry(&self, key: Key<'_>, expiry: Option<u64>) -> Result<bool> {
        // What has passed is deleted, which takes no memory.
        let is_over = expiry.is_some_and(|expiry| expiry <= expiry::to_millis(SystemTime::now()));
        let change = || if is_over { Change::Delete } else { Change::Expire(expiry) };
        Ok(self.update_if(key, Condition::Present, change)?.is_done())
    }

    fn update_if<'c>(&self, key: Key<'_>, condition: Condition, change: impl Fn() -> Change<'c>) -> Result<Outcome> {
        self.change(|memory, turn| {
            condition.check(turn.table().is_versioned)?;
            let mut is_wanted = false;
            let outcome = memory.update(turn.table(), key, |old| {
                is_wanted = turn.holds() && condition.holds(meta_of(old).as_ref());
                if is_wanted { change() } else { Change::Keep }
            })?;
            Ok(Outcome::of(outcome, is_wanted))
        })
    }

    /// Appends bytes to a value of kind append; where there is none, it begins with them. Gives the length it has now.
    ///
    /// O(bytes appended), amortised.
    pub fn append<'k>(&self, key: impl Into<Key<'k>>, bytes: impl AsRef<[u8]>) -> Result<u64> {
        Ok(self.merge(key, ValueKind::Append, bytes)?.len)
    }

    /// Adds to a number of kind add; where there is none, it begins with 0. [`Kind::Invalid`] if the sum is beyond 64 bits, and then
    /// the number stays. Gives the sum.
    pub fn add<'k>(&self, key: impl Into<Key<'k>>, number: i64) -> Result<i64> {
        self.merge_number(key.into(), ValueKind::Add, number)
    }

    /// Keeps the lesser of a number of kind min and this one. Gives it.
    pub fn min<'k>(&self, key: impl Into<Key<'k>>, number: i64) -> Result<i64> {
        self.merge_number(key.into(), ValueKind::Min, number)
    }

    /// Keeps the greater of a number of kind max and this one. Gives it.
    pub fn max<'k>(&self, key: impl Into<Key<'k>>, number: i64) -> Result<i64> {
        self.merge_number(key.into(), ValueKind::Max, number)
    }

    fn merge_number(&self, key: Key<'_>, kind: ValueKind, number: i64) -> Result<i64> {
        let merged = self.merge(key, kind, number.to_le_bytes())?;
        Ok(merged.number.expect("values of this kind are numbers"))
    }

    /// Merges an operand into the value of a key, as its kind says; where there is none, the value is the operand. Its expiry
    /// stays, but for bytes: to merge those is to put them. A number that stays the same is not written again, and keeps its version.
    ///
    /// [`Kind::Invalid`] if there is a value of another kind, which stays as it is.
    #[inline]
    pub fn merge<'k>(&self, key: impl Into<Key<'k>>, kind: ValueKind, operand: impl AsRef<[u8]>) -> Result<Merged> {
        let (key, operand) = (key.into(), operand.as_ref());
        self.change(|memory, turn| merge(memory, turn, key, kind, operand))
    }

    /// Merges many operands, one after the other, with the misses of the cache of many keys at the same time. The first error ends
    /// it; what came before is merged.
    pub fn merge_many<O: AsRef<[u8]>>(&self, kind: ValueKind, operands: &[(Key<'_>, O)]) -> Result<()> {
        let memory = self.shared.memory()?;
        memory.in_turn(
            self.known().id(),
            operands.len(),
            |at| operands[at].0,
            |at| {
                let (key, operand) = &operands[at];
                self.merge(*key, kind, operand).map(drop)
            },
        )
    }
}

fn meta_of(old: Option<&Old<'_>>) -> Option<memory::Meta> {
    old.map(Old::meta)
}

fn merge(memory: &Memory, turn: &Turn<'_>, key: Key<'_>, kind: ValueKind, operand: &[u8]) -> Result<Merged> {
    match kind.rule() {
        Rule::Replace => replace(memory, turn, key, kind, operand),
        Rule::Append => append(memory, turn, key, kind, operand),
        Rule::Number(combine) => combine_numbers(memory, turn, key, kind, number_of(kind, operand)?, combine),
        Rule::Unknown => Err(kind.unknown()),
    }
}

/// Refuses to merge into another kind.
fn check(kind: ValueKind, old: Option<memory::Meta>) -> Result<()> {
    match old {
        Some(old) if old.kind != kind.code() => Err(kind.refused_by(old.kind)),
        _ => Ok(()),
    }
}

fn replace(memory: &Memory, turn: &Turn<'_>, key: Key<'_>, kind: ValueKind, operand: &[u8]) -> Result<Merged> {
    let outcome = memory.put(turn.table(), key, kind.code(), operand, None, |old| {
        turn.holds() && old.is_none_or(|old| old.meta().kind == kind.code())
    })?;
    check(kind, outcome.before())?;
    Ok(Merged { version: outcome.version, len: operand.len() as u64, number: None })
}

fn append(memory: &Memory, turn: &Turn<'_>, key: Key<'_>, kind: ValueKind, operand: &[u8]) -> Result<Merged> {
    let mut len = 0;
    let outcome = memory.append_if(turn.table(), key, kind.code(), operand, |old| {
        len = old.map_or(0, Old::len) + operand.len() as u64;
        turn.holds() && old.is_none_or(|old| old.meta().kind == kind.code())
    })?;
    check(kind, outcome.before())?;
    Ok(Merged { version: outcome.version, len, number: None })
}

fn combine_numbers(
    memory: &Memory,
    turn: &Turn<'_>,
    key: Key<'_>,
    kind: ValueKind,
    operand: i64,
    combine: fn(i64, i64) -> Option<i64>,
) -> Result<Merged> {
    let mut number = Some(operand);
    let outcome = memory.update(turn.table(), key, |old| {
        if !turn.holds() || old.is_some_and(|old| old.meta().kind != kind.code()) {
            return Change::Keep;
        }
        let there = old.and_then(Old::word).map(u64::cast_signed);
        number = there.map_or(Some(operand), |there| combine(there, operand));
        match number {
            Some(number) if Some(number) != there => Change::Word { kind: kind.code(), word: number.cast_unsigned() },
            _ => Change::Keep,
        }
    })?;
    check(kind, outcome.before())?;
    let number = number.ok_or_else(|| {
        let error = Error::new(Kind::Invalid, format!("merging {operand} gives a number beyond 64 bits"));
        error.remedy("the value stays as it was; count in larger units, or in several keys")
    })?;
    Ok(Merged { version: outcome.version, len: size_of::<i64>() as u64, number: Some(number) })
}
