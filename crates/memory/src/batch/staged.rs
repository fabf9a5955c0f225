//! What the operations of a batch on one key come to: one change of its record.
//!
//! ```text
//! Keep ── operation ──► Net ── operation ──► Net … ──► one Change, which is planned as any other
//! ```
//!
//! An operation sees the record as those before it leave it ([`Staged`]). Nothing of that is written before
//! the batch commits: it is computed from the record there is and the operands.

use std::borrow::Cow;

use hammerspace_error::{Error, Kind, Result};

use crate::read::{Meta, now};
use crate::region::geometry::WORD;
use crate::write::change::{Change, Old, Value};

/// A record that an operation finds: as it lies in the region, or as earlier operations of a batch leave it.
pub trait Present {
    /// What is known beside the value. A record that the batch changes has no version yet.
    fn meta(&self) -> Meta;
    /// What the value is.
    fn kind(&self) -> u8;
    /// Bytes of the value.
    fn len(&self) -> u64;
    /// Whether the value has none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// A value of eight bytes as a little-endian number.
    fn word(&self) -> Option<u64>;
    /// Appends the value to `out`. `false`, and nothing appended, if a part of it cannot be read.
    #[must_use]
    fn read(&self, out: &mut Vec<u8>) -> bool;
}

impl Present for Old<'_> {
    #[inline]
    fn meta(&self) -> Meta {
        self.meta()
    }

    #[inline]
    fn kind(&self) -> u8 {
        self.kind()
    }

    #[inline]
    fn len(&self) -> u64 {
        self.len()
    }

    #[inline]
    fn word(&self) -> Option<u64> {
        self.word()
    }

    #[inline]
    fn read(&self, out: &mut Vec<u8>) -> bool {
        self.read(out)
    }
}

/// What becomes of a record by the operations so far. All but `Put` and `Delete` are of a record that there
/// is.
#[derive(Default)]
pub(crate) enum Net<'c> {
    #[default]
    Keep,
    Delete,
    Put {
        kind: u8,
        value: Cow<'c, [u8]>,
        expiry: Option<u64>,
    },
    Append {
        kind: u8,
        bytes: Cow<'c, [u8]>,
    },
    Expire(Option<u64>),
    Word {
        kind: u8,
        word: u64,
    },
}

impl<'c> Net<'c> {
    /// The same, and then this change. `old` is the record that readers see.
    pub(crate) fn then(self, old: Option<&Old<'_>>, change: Change<'c>) -> Result<Self> {
        let staged = Staged { old, net: &self };
        let (is_there, expiry) = (staged.is_there(), staged.expiry());
        Ok(match (self, change) {
            (net, Change::Keep) => net,
            (_, Change::Delete) => Self::Delete,
            (_, Change::Put { kind, value: Value::Bytes(value), expiry }) => Self::Put { kind, value, expiry },
            (_, Change::Put { value: Value::Parts(_), .. }) => unreachable!("callers put bytes"),
            (net, Change::Expire(_)) if !is_there => net,
            (_, Change::Append { kind, bytes }) if !is_there => Self::Put { kind, value: bytes.into(), expiry: None },
            (_, Change::Word { kind, word }) if !is_there => {
                Self::Put { kind, value: word.to_le_bytes().to_vec().into(), expiry: None }
            }
            (net, Change::Append { bytes: [], .. }) if is_there => net,
            (Self::Keep | Self::Word { .. }, Change::Word { kind, word }) => Self::Word { kind, word },
            (_, Change::Word { kind, word }) => Self::Put { kind, value: word.to_le_bytes().to_vec().into(), expiry },
            (Self::Keep | Self::Expire(_), Change::Expire(expiry)) => Self::Expire(expiry),
            (net, Change::Expire(expiry)) => net.whole(old)?.ending(expiry),
            (Self::Keep, Change::Append { kind, bytes }) => Self::Append { kind, bytes: bytes.into() },
            (net @ (Self::Append { .. } | Self::Put { .. }), Change::Append { bytes, .. }) => net.longer(bytes),
            (net, Change::Append { bytes, .. }) => net.whole(old)?.longer(bytes),
        })
    }

    /// Puts the value that the record then has, which does not depend on the one there is any more.
    pub(crate) fn whole(self, old: Option<&Old<'_>>) -> Result<Self> {
        if let Self::Put { .. } = self {
            return Ok(self);
        }
        let (staged, mut value) = (Staged { old, net: &self }, Vec::new());
        if !staged.read(&mut value) {
            let error = Error::new(Kind::Corrupt, "the value that there is cannot be read");
            return Err(error.remedy("put it anew; `hammerspace store verify` tells what else is damaged"));
        }
        Ok(Self::Put { kind: staged.kind(), value: value.into(), expiry: staged.expiry() })
    }

    fn longer(self, more: &[u8]) -> Self {
        let join = |bytes: Cow<'c, [u8]>| {
            let mut bytes = bytes.into_owned();
            bytes.extend_from_slice(more);
            Cow::Owned(bytes)
        };
        match self {
            Self::Append { kind, bytes } => Self::Append { kind, bytes: join(bytes) },
            Self::Put { kind, value, expiry } => Self::Put { kind, value: join(value), expiry },
            net => net,
        }
    }

    fn ending(self, expiry: Option<u64>) -> Self {
        match self {
            Self::Put { kind, value, .. } => Self::Put { kind, value, expiry },
            net => net,
        }
    }

    /// The change to make.
    pub(crate) fn as_change(&self) -> Change<'_> {
        match self {
            Self::Keep => Change::Keep,
            Self::Delete => Change::Delete,
            Self::Put { kind, value, expiry } => Change::Put { kind: *kind, value: (&**value).into(), expiry: *expiry },
            Self::Append { kind, bytes } => Change::Append { kind: *kind, bytes },
            Self::Expire(expiry) => Change::Expire(*expiry),
            Self::Word { kind, word } => Change::Word { kind: *kind, word: *word },
        }
    }
}

/// The record of a key as the operations so far leave it.
pub(crate) struct Staged<'a> {
    /// The record that readers see.
    pub(crate) old: Option<&'a Old<'a>>,
    pub(crate) net: &'a Net<'a>,
}

impl Staged<'_> {
    /// Whether there is one.
    pub(crate) fn is_there(&self) -> bool {
        let is_one = match self.net {
            Net::Delete => false,
            Net::Put { .. } => true,
            _ => self.old.is_some(),
        };
        is_one && self.expiry().is_none_or(|expiry| expiry > now())
    }

    fn expiry(&self) -> Option<u64> {
        match self.net {
            Net::Put { expiry, .. } | Net::Expire(expiry) => *expiry,
            _ => self.old.and_then(|old| old.meta().expiry),
        }
    }
}

impl Present for Staged<'_> {
    fn meta(&self) -> Meta {
        let version = match self.net {
            Net::Keep => self.old.and_then(|old| old.meta().version),
            _ => None,
        };
        Meta { kind: self.kind(), version, expiry: self.expiry() }
    }

    fn kind(&self) -> u8 {
        match self.net {
            Net::Put { kind, .. } | Net::Word { kind, .. } => *kind,
            _ => self.old.map_or(0, Old::kind),
        }
    }

    fn len(&self) -> u64 {
        let there = || self.old.map_or(0, Old::len);
        match self.net {
            Net::Put { value, .. } => value.len() as u64,
            Net::Append { bytes, .. } => there() + bytes.len() as u64,
            Net::Word { .. } => WORD,
            Net::Keep | Net::Expire(_) | Net::Delete => there(),
        }
    }

    fn word(&self) -> Option<u64> {
        if self.len() != WORD {
            return None;
        }
        let mut value = Vec::new();
        if !self.read(&mut value) {
            return None;
        }
        value.try_into().ok().map(u64::from_le_bytes)
    }

    fn read(&self, out: &mut Vec<u8>) -> bool {
        match self.net {
            Net::Put { value, .. } => out.extend_from_slice(value),
            Net::Word { word, .. } => out.extend_from_slice(&word.to_le_bytes()),
            Net::Append { bytes, .. } if self.old.is_none_or(|old| old.read(out)) => out.extend_from_slice(bytes),
            Net::Keep | Net::Expire(_) if self.old.is_none_or(|old| old.read(out)) => {}
            Net::Delete => {}
            _ => return false,
        }
        true
    }
}
