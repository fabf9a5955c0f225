//! One key of a store as a model of histories: what callers may see of it if each of their calls takes effect at an instant.
//!
//! There is no time here. An expiry is one that nobody lives to see; to give a key one that has passed is to remove it.

use serde::{Deserialize, Serialize};

use crate::history::Model;

/// A value, as far as telling it from others takes: its length, and its FNV-1a hash (Fowler, Noll, Vo), which goes on where bytes are
/// appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// Bytes of the value.
    pub len: u64,
    /// Their hash.
    pub hash: u64,
}

impl Digest {
    /// That of no bytes.
    pub const EMPTY: Self = Self { len: 0, hash: 0xcbf2_9ce4_8422_2325 };

    /// That of a value.
    pub fn of(value: &[u8]) -> Self {
        Self::EMPTY.then(value)
    }

    /// That of the value with these bytes behind it.
    #[must_use]
    pub fn then(self, bytes: &[u8]) -> Self {
        let hash = bytes.iter().fold(self.hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
        Self { len: self.len + bytes.len() as u64, hash }
    }
}

/// What a call saw of the key, at the instant at which it took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Saw {
    /// It did not look.
    Nothing,
    /// That there was none.
    Absent,
    /// That there was one.
    Present {
        /// Its version, if keys have versions here.
        version: Option<u64>,
        /// When it ends.
        expiry: Option<u64>,
        /// Its value, if that was looked at.
        value: Option<Digest>,
    },
}

/// What a call did to the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Did {
    /// Nothing: it only looked, or found that its condition does not hold.
    Nothing,
    /// It gave it this value and this expiry.
    Put(Digest, Option<u64>),
    /// It put these bytes behind its value, or behind none, and left its expiry.
    Append(Vec<u8>),
    /// It gave it this expiry, and left its value.
    Expire(Option<u64>),
    /// It removed it.
    Delete,
}

/// What a call saw, what it then did, and the version that it was given for that. A get sees; a put or an append does; an increment and
/// a conditional put do what hangs on what they saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Op {
    /// What it saw.
    pub saw: Saw,
    /// What it did.
    pub did: Did,
    /// Higher than all versions before.
    pub version: Option<u64>,
}

/// What a key has, and the highest version it has had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Register {
    held: Option<Held>,
    last: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    value: Digest,
    version: Option<u64>,
    expiry: Option<u64>,
}

impl Held {
    fn is(&self, seen: (Option<u64>, Option<u64>), value: Option<Digest>) -> bool {
        seen == (self.version, self.expiry) && value.is_none_or(|value| value == self.value)
    }
}

impl Model for Register {
    type Op = Op;

    fn after(&self, op: &Op) -> Option<Self> {
        let is_so = match (op.saw, self.held) {
            (Saw::Nothing, _) | (Saw::Absent, None) => true,
            (Saw::Present { version, expiry, value }, Some(now)) => now.is((version, expiry), value),
            _ => false,
        };
        if !is_so || op.version.is_some_and(|version| version <= self.last) {
            return None;
        }
        let held = match &op.did {
            Did::Nothing => return Some(*self),
            Did::Put(value, expiry) => Some((*value, *expiry)),
            Did::Append(bytes) => {
                let (value, expiry) = self.held.map_or((Digest::EMPTY, None), |now| (now.value, now.expiry));
                Some((value.then(bytes), expiry))
            }
            Did::Expire(expiry) => self.held.map(|now| (now.value, *expiry)),
            Did::Delete => None,
        };
        let held = held.map(|(value, expiry)| Held { value, version: op.version, expiry });
        Some(Self { held, last: op.version.unwrap_or(self.last) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Call, explain};

    fn put(value: &[u8], version: u64) -> Op {
        Op { saw: Saw::Nothing, did: Did::Put(Digest::of(value), None), version: Some(version) }
    }

    fn append(bytes: &[u8], version: u64) -> Op {
        Op { did: Did::Append(bytes.to_vec()), ..put(b"", version) }
    }

    fn get(value: &[u8], version: u64) -> Op {
        get_until(None, value, version)
    }

    fn get_until(expiry: Option<u64>, value: &[u8], version: u64) -> Op {
        Op { saw: present(expiry, Some(value), version), did: Did::Nothing, version: None }
    }

    fn present(expiry: Option<u64>, value: Option<&[u8]>, version: u64) -> Saw {
        Saw::Present { version: Some(version), expiry, value: value.map(Digest::of) }
    }

    const MISS: Op = Op { saw: Saw::Absent, did: Did::Nothing, version: None };
    const DELETE: Op = Op { saw: Saw::Nothing, did: Did::Delete, version: None };

    /// A conditional put: it puts if the version is the one it wants.
    fn put_if(seen: u64, value: &[u8], version: u64) -> Op {
        Op { saw: present(None, None, seen), ..put(value, version) }
    }

    /// Calls with the times at which they begin and end.
    fn judge(calls: &[(u64, u64, Op)]) -> Result<(), String> {
        let call = |(start, end, op): &(u64, u64, Op)| Call { start: *start, end: Some(*end), op: op.clone() };
        explain(Register::default(), &calls.iter().map(call).collect::<Vec<_>>())
    }

    #[test]
    fn what_two_writers_and_a_reader_may_see_is_explained() {
        judge(&[
            (0, 5, put(b"a", 2)),
            (0, 5, put(b"b", 1)),
            (3, 9, append(b"c", 3)),
            (6, 7, get(b"a", 2)),
            (8, 9, get(b"ac", 3)),
            (10, 12, put_if(3, b"d", 5)),
            (10, 12, DELETE),
            (13, 14, MISS),
            (15, 16, append(b"e", 6)),
            (17, 18, get(b"e", 6)),
        ])
        .unwrap();
    }

    #[test]
    fn canary_a_stale_read_is_rejected() {
        let read = |op: Op| judge(&[(0, 1, put(b"a", 1)), (2, 3, put(b"b", 2)), (4, 5, op)]);
        read(get(b"b", 2)).unwrap();
        read(get(b"a", 1)).unwrap_err();
        read(MISS).unwrap_err();
    }

    /// Two that both saw the same number and both added one to it.
    #[test]
    fn canary_a_lost_update_is_rejected() {
        let add = |seen: u64, version: u64| Op {
            saw: present(None, Some(&[seen as u8]), seen),
            ..put(&[seen as u8 + 1], version)
        };
        let race = |first: Op, second: Op| judge(&[(0, 1, put(&[1], 1)), (2, 9, first), (2, 9, second)]);
        race(add(1, 2), add(2, 3)).unwrap();
        race(add(1, 2), add(1, 3)).unwrap_err();
        race(put_if(1, b"a", 2), put_if(1, b"b", 3)).unwrap_err();
        race(append(b"a", 2), append(b"b", 3)).unwrap();
    }

    #[test]
    fn canary_a_torn_append_is_rejected() {
        let read = |value: &[u8]| judge(&[(0, 1, put(b"a", 1)), (2, 9, append(b"bc", 2)), (3, 4, get(value, 2))]);
        read(b"abc").unwrap();
        read(b"ab").unwrap_err();
        read(b"acb").unwrap_err();
    }

    /// What is appended to keeps its expiry; what is put loses it.
    #[test]
    fn canary_a_lost_expiry_is_rejected() {
        let expire = |version: u64| Op { did: Did::Expire(Some(9)), ..put(b"", version) };
        let end = |last: Op, read: Op| judge(&[(0, 1, put(b"a", 1)), (2, 3, expire(2)), (4, 5, last), (6, 7, read)]);
        end(append(b"b", 3), get_until(Some(9), b"ab", 3)).unwrap();
        end(append(b"b", 3), get_until(None, b"ab", 3)).unwrap_err();
        end(put(b"b", 3), get_until(None, b"b", 3)).unwrap();
        end(put(b"b", 3), get_until(Some(9), b"b", 3)).unwrap_err();
        end(DELETE, MISS).unwrap();
    }

    #[test]
    fn canary_a_version_that_comes_again_is_rejected() {
        let again = |version: u64| judge(&[(0, 1, put(b"a", 1)), (2, 3, DELETE), (4, 5, put(b"a", version))]);
        again(2).unwrap();
        again(1).unwrap_err();
        judge(&[(0, 9, put(b"a", 1)), (0, 9, put(b"b", 1))]).unwrap_err();
    }
}
