//! One key of a store as a model of histories: what callers may see of it if each of their calls takes effect at an instant.

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
    /// That there was one: its version, if keys have versions here, and its value, if that was looked at.
    Present(Option<u64>, Option<Digest>),
}

/// What a call did to the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Did {
    /// Nothing: it only looked, or found that its condition does not hold.
    Nothing,
    /// It gave it this value.
    Put(Digest),
    /// It put these bytes behind its value, or behind none.
    Append(Vec<u8>),
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

/// A key's value and version, and the highest version it has had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Register {
    value: Option<(Digest, Option<u64>)>,
    last: u64,
}

impl Model for Register {
    type Op = Op;

    fn after(&self, op: &Op) -> Option<Self> {
        let is_so = match (op.saw, self.value) {
            (Saw::Nothing, _) | (Saw::Absent, None) => true,
            (Saw::Present(version, value), Some(now)) => version == now.1 && value.is_none_or(|value| value == now.0),
            _ => false,
        };
        if !is_so || op.version.is_some_and(|version| version <= self.last) {
            return None;
        }
        let value = match &op.did {
            Did::Nothing => return Some(*self),
            Did::Put(value) => Some(*value),
            Did::Append(bytes) => Some(self.value.map_or(Digest::EMPTY, |now| now.0).then(bytes)),
            Did::Delete => None,
        };
        Some(Self { value: value.map(|value| (value, op.version)), last: op.version.unwrap_or(self.last) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Call, explain};

    fn put(value: &[u8], version: u64) -> Op {
        Op { saw: Saw::Nothing, did: Did::Put(Digest::of(value)), version: Some(version) }
    }

    fn append(bytes: &[u8], version: u64) -> Op {
        Op { did: Did::Append(bytes.to_vec()), ..put(b"", version) }
    }

    fn get(value: &[u8], version: u64) -> Op {
        Op { saw: Saw::Present(Some(version), Some(Digest::of(value))), did: Did::Nothing, version: None }
    }

    const MISS: Op = Op { saw: Saw::Absent, did: Did::Nothing, version: None };
    const DELETE: Op = Op { saw: Saw::Nothing, did: Did::Delete, version: None };

    /// A conditional put: it puts if the version is the one it wants.
    fn put_if(seen: u64, value: &[u8], version: u64) -> Op {
        Op { saw: Saw::Present(Some(seen), None), ..put(value, version) }
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
            saw: Saw::Present(Some(seen), Some(Digest::of(&[seen as u8]))),
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

    #[test]
    fn canary_a_version_that_comes_again_is_rejected() {
        let again = |version: u64| judge(&[(0, 1, put(b"a", 1)), (2, 3, DELETE), (4, 5, put(b"a", version))]);
        again(2).unwrap();
        again(1).unwrap_err();
        judge(&[(0, 9, put(b"a", 1)), (0, 9, put(b"b", 1))]).unwrap_err();
    }
}
