//! Writing by a table's handle: for the process that owns the store.

use std::cell::Cell;
use std::ops::Range;
use std::time::{Duration, SystemTime};

use hammerspace_error::{Error, Kind, Result};
use hammerspace_memory::{Change, Decision, Key, Old, Updated};

use crate::condition::{Condition, Outcome};
use crate::expiry;
use crate::kind::ValueKind;
use crate::operation::{Done, Operation, Request, Verdict};
use crate::piece::other_universe;
use crate::table::{Table, TableBinding};
use crate::value::{Meta, Value};

/// How often a change that finds no room is made anew as tables are dropped meanwhile.
pub(crate) const WAITS_MAX: u32 = 16;

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

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Whether the operation was made; if not, its condition did not hold, and nothing was changed.
    pub is_done: bool,
    /// The version that the record has now; `None` if it is gone, or its table has no versions.
    pub version: Option<u64>,
    /// What was known of the record before; `None` where there was none.
    pub before: Option<Meta>,
    /// Bytes of the value there is now.
    pub len: u64,
    /// What was merged into a number, that number now.
    pub number: Option<i64>,
    /// The value before, if it was asked for.
    pub old: Option<Vec<u8>>,
}

impl Table {
    /// Makes a request of a key's record. All other changes of a record are short for this one.
    ///
    /// [`Kind::Full`] if it takes more room than there is; [`Kind::Invalid`] if there is a value of another
    /// kind, into which nothing can be merged, or if a sum is beyond 64 bits: the value stays as it was.
    pub fn apply<'k>(&self, key: impl Into<Key<'k>>, request: &Request<'_>) -> Result<Reply> {
        let mut old = None;
        let updated = self.change(key.into(), request, |there| match there.filter(|_| request.wants_old()) {
            Some(there) => {
                let mut bytes = Vec::new();
                let is_read = there.read(&mut bytes);
                old = Some(bytes);
                is_read
            }
            None => true,
        })?;
        let reply = request.reply(updated)?;
        Ok(Reply { old: old.filter(|_| reply.is_done), ..reply })
    }

    /// Makes a request until it was made to this table. `look` sees the record first, and says whether it
    /// could be read.
    #[inline]
    fn change(
        &self,
        key: Key<'_>,
        request: &Request<'_>,
        mut look: impl FnMut(Option<&Old<'_>>) -> bool,
    ) -> Result<Updated<Verdict>> {
        request.check(self)?;
        let memory = self.shared.memory()?;
        let mut waits = 0..WAITS_MAX;
        loop {
            let binding = Cell::new(self.binding());
            let table = binding.get().id();
            request.condition.check(table.is_versioned)?;
            let changes = self.shared.changes.count();
            let updated = memory.update(table, key, |old| {
                if !look(old) {
                    return Decision { change: Change::Keep, result: Verdict::Damaged };
                }
                self.decide(&binding, request, old)
            });
            match updated {
                Ok(updated) if updated.result != Verdict::Stale => {
                    self.shared.settle(memory)?;
                    return Ok(updated);
                }
                Ok(_) => {}
                Err(error) if self.is_retried(error.kind(), binding.get(), changes, &mut waits)? => {}
                Err(error) => return Err(error),
            }
            self.rebind()?;
        }
    }

    /// Decides under the lock of the key's record, where the number is the table's.
    #[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
    #[inline(always)]
    fn decide<'o>(
        &self,
        binding: &Cell<TableBinding>,
        request: &Request<'o>,
        old: Option<&Old<'_>>,
    ) -> Decision<'o, Verdict> {
        if self.is_current(binding) {
            return request.decide(binding.get().id(), old);
        }
        Decision { change: Change::Keep, result: Verdict::Stale }
    }

    /// Whether a change that was refused for this is made anew; waits first where there may come to be room.
    #[cold]
    pub(crate) fn is_retried(
        &self,
        why: Kind,
        binding: TableBinding,
        changes: u64,
        waits: &mut Range<u32>,
    ) -> Result<bool> {
        Ok(match why {
            // A number that is being dropped is refused before anything is asked. If the list of tables has
            // it all the same, the list is damaged.
            Kind::Missing => self.rebind()?.0 != binding,
            Kind::Full => waits.next().is_some() && self.shared.changes.wait_for_more(changes),
            _ => false,
        })
    }

    /// Puts bytes, whatever is there, to stay. Gives the version, in a table that has versions.
    ///
    /// [`Kind::Full`] if that takes more room than there is.
    pub fn put<'k>(&self, key: impl Into<Key<'k>>, value: impl AsRef<[u8]>) -> Result<Option<u64>> {
        let put = Operation::Put { kind: ValueKind::Bytes, value: value.as_ref(), expiry: None };
        Ok(self.change(key.into(), &put.into(), |_| true)?.version)
    }

    /// Puts a value of some kind, with an expiry, under a condition.
    pub fn put_with<'k>(&self, key: impl Into<Key<'k>>, value: impl AsRef<[u8]>, put: &Put) -> Result<Outcome> {
        let operation = Operation::Put { kind: put.kind, value: value.as_ref(), expiry: put.expiry };
        Ok(Outcome::of(&self.apply(key, &Request::from(operation).when(put.condition))?))
    }

    /// Deletes a key. Says whether it was there.
    pub fn delete<'k>(&self, key: impl Into<Key<'k>>) -> Result<bool> {
        Ok(matches!(self.delete_if(key, Condition::Always)?, Outcome::Done { before: Some(_), .. }))
    }

    /// Deletes a key under a condition.
    pub fn delete_if<'k>(&self, key: impl Into<Key<'k>>, condition: Condition) -> Result<Outcome> {
        Ok(Outcome::of(&self.apply(key, &Request::from(Operation::Delete).when(condition))?))
    }

    /// Deletes a key, and gives the value that was there.
    pub fn take<'k>(&self, key: impl Into<Key<'k>>) -> Result<Option<Value>> {
        let reply = self.apply(key, &Request::from(Operation::Delete).returning_old())?;
        Ok(reply.old.zip(reply.before).map(|(bytes, meta)| Value { bytes, meta }))
    }

    /// Lets a record end at `expiry`; an instant that has passed ends it now. Says whether it was there. It
    /// has a new version then.
    pub fn expire<'k>(&self, key: impl Into<Key<'k>>, expiry: SystemTime) -> Result<bool> {
        Ok(self.apply(key, &Operation::Expire(Some(expiry)).into())?.is_done)
    }

    /// Lets a record stay. Says whether it was there. It has a new version then.
    pub fn persist<'k>(&self, key: impl Into<Key<'k>>) -> Result<bool> {
        Ok(self.apply(key, &Operation::Expire(None).into())?.is_done)
    }

    /// Appends bytes to a value of kind append; where there is none, it begins with them. Gives the length it
    /// has now.
    ///
    /// O(bytes appended), amortised.
    pub fn append<'k>(&self, key: impl Into<Key<'k>>, bytes: impl AsRef<[u8]>) -> Result<u64> {
        Ok(self.merge(key, ValueKind::Append, bytes)?.len)
    }

    /// Adds to a number of kind add; where there is none, it begins with 0. [`Kind::Invalid`] if the sum is
    /// beyond 64 bits, and then the number stays. Gives the sum.
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

    /// Merges an operand into the value of a key, as its kind says; where there is none, the value is the
    /// operand. Its expiry stays, but for bytes: to merge those is to put them. A number that stays the same
    /// is not written again, and keeps its version.
    ///
    /// [`Kind::Invalid`] if there is a value of another kind, which stays as it is.
    #[inline]
    pub fn merge<'k>(&self, key: impl Into<Key<'k>>, kind: ValueKind, operand: impl AsRef<[u8]>) -> Result<Merged> {
        let request = Request::from(Operation::Merge { kind, operand: operand.as_ref(), expiry: None });
        let updated = self.change(key.into(), &request, |_| true)?;
        let Done { len, number } = request.done(updated.result)?.unwrap_or_default();
        Ok(Merged { version: updated.version, len, number })
    }

    /// Merges many operands, one after the other, with the misses of the cache of many keys at the same time.
    /// The first error ends it; what came before is merged.
    pub fn merge_many<O: AsRef<[u8]>>(&self, kind: ValueKind, operands: &[(Key<'_>, O)]) -> Result<()> {
        let request =
            |at: usize| Request::from(Operation::Merge { kind, operand: operands[at].1.as_ref(), expiry: None });
        let (memory, done) = (self.shared.to_change()?, Cell::new(0));
        while done.get() < operands.len() {
            let (first, binding) = (done.get(), Cell::new(self.binding()));
            let merged = memory.update_many(
                binding.get().id(),
                operands.len() - first,
                |at| operands[first + at].0,
                |at, old| match self.check_value(kind, operands[first + at].1.as_ref()) {
                    Ok(()) => self.decide(&binding, &request(first + at), old),
                    // Merged below, where it is refused in words.
                    Err(_) => Decision { change: Change::Keep, result: Verdict::Stale },
                },
                |at, updated| match updated.result {
                    Verdict::Stale => Err(Error::new(Kind::Missing, "another number is the table's")),
                    verdict => request(first + at).done(verdict).map(|_| done.set(first + at + 1)),
                },
            );
            if merged.is_err() {
                let (key, operand) = &operands[done.get()];
                self.merge(*key, kind, operand)?;
                done.set(done.get() + 1);
            }
        }
        self.shared.settle(memory)
    }
}

impl Request<'_> {
    /// What the caller is told.
    fn reply(&self, updated: Updated<Verdict>) -> Result<Reply> {
        let (version, before) = (updated.version, updated.before().map(Meta::of));
        let done = self.done(updated.result)?;
        let Done { len, number } = done.unwrap_or_default();
        Ok(Reply { is_done: done.is_some(), version, before, len, number, old: None })
    }

    /// What was done; `None` if the condition did not hold.
    #[inline]
    pub(crate) fn done(&self, verdict: Verdict) -> Result<Option<Done>> {
        match verdict {
            Verdict::Done(done) => Ok(Some(done)),
            Verdict::Refused | Verdict::Absent => Ok(None),
            Verdict::WrongKind(there) => Err(self.wrong_kind(there)),
            Verdict::Overflow => Err(self.overflow()),
            Verdict::OtherUniverse => Err(other_universe()),
            Verdict::Unlike(there) => Err(self.unlike(there)),
            Verdict::Damaged => Err(damaged()),
            Verdict::Stale => unreachable!("a stale decision is made anew"),
        }
    }
}

#[cold]
pub(crate) fn damaged() -> Error {
    let error = Error::new(Kind::Corrupt, "the value that there is cannot be read, or is no value of its kind");
    error.remedy("put it anew; `hammerspace store verify` tells what else is damaged")
}
