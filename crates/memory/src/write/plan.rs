//! What a change makes of a record: pure, from the old record and the change to the new record's description.

use std::borrow::Cow;

use hammerspace_error::{Error, Kind, Result};

use crate::record::Record;
use crate::record::header::{Header, INLINE_MAX, Traits};
use crate::record::key::{KEY_LEN_MAX, Key};
use crate::region::Region;
use crate::region::geometry::WORD;
use crate::write::change::{Change, Old, PartsRef, Value};
use crate::write::update::TableId;

/// What is to be done about a key's record.
pub(crate) enum Plan<'c> {
    /// Nothing.
    Keep,
    /// It goes.
    Remove,
    /// Its value grows by these bytes where it lies, and this is its header then.
    Grow(Header, &'c [u8]),
    /// Its value, one aligned word, becomes this.
    Word(u64),
    /// Another record takes its place.
    Write(Draft<'c>),
    /// The value is too long for a record, and has to be put in parts first.
    Long(Box<Change<'c>>),
}

/// A record that is to be written.
pub(crate) struct Draft<'c> {
    pub(crate) header: Header,
    pub(crate) expiry: Option<u64>,
    content: Content<'c>,
}

enum Content<'c> {
    /// This value.
    Value(Cow<'c, [u8]>),
    /// The old record, and these bytes behind its value.
    Longer(Record, &'c [u8]),
}

impl<'c> Plan<'c> {
    /// `old` is the record that callers can see, and `replaced` the size of the one that goes, also where it
    /// has expired.
    #[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
    #[inline(always)]
    pub(crate) fn of(
        table: TableId,
        key: Key<'_>,
        old: Option<&Old<'_>>,
        replaced: u64,
        change: Change<'c>,
    ) -> Result<Self> {
        match (change, old) {
            (Change::Keep, _) | (Change::Expire(_), None) => Ok(Self::Keep),
            (Change::Delete, _) => Ok(Self::Remove),
            (Change::Append { kind, bytes }, Some(old)) => grow(old, kind, bytes),
            (Change::Word { kind, word }, Some(old)) if fits_word(old, kind)? => Ok(Self::Word(word)),
            (Change::Put { kind, value: Value::Bytes(value), expiry }, _) if value.len() > INLINE_MAX => {
                Ok(Self::long(Change::Put { kind, value: Value::Bytes(value), expiry }))
            }
            (Change::Append { kind, bytes }, None) if bytes.len() > INLINE_MAX => {
                Ok(Self::long(Change::Append { kind, bytes }))
            }
            (change, old) => Ok(Self::Write(Draft::new(table, key, old, replaced, change))),
        }
    }
}

impl<'c> Plan<'c> {
    /// In a box, so that a plan is no larger for what is rare.
    #[cold]
    fn long(change: Change<'c>) -> Self {
        Self::Long(Box::new(change))
    }
}

/// Makes the value longer: where it lies, if there is room behind it, or in a record of its own.
#[inline]
fn grow<'c>(old: &Old<'_>, kind: u8, bytes: &'c [u8]) -> Result<Plan<'c>> {
    let record = old.record;
    record.check(old.region)?;
    let len = record.header.value_len() + bytes.len();
    if record.has_room_for(len) {
        return Ok(Plan::Grow(record.header.grown_to(len), bytes));
    }
    if record.header.is_large() || len > INLINE_MAX {
        return Ok(Plan::long(Change::Append { kind, bytes }));
    }
    let (header, expiry) = (record.header.regrown_to(len), record.expiry(old.region));
    Ok(Plan::Write(Draft { header, expiry, content: Content::Longer(record, bytes) }))
}

/// Whether a number of this kind can take the place of the value where it lies, and no reader see half of
/// that.
///
/// A version would have to change in the same instant. And where the value has grown, a reader may have the
/// header of a shorter one, and would take some of these bytes for it.
#[inline]
fn fits_word(old: &Old<'_>, kind: u8) -> Result<bool> {
    let (record, header) = (old.record, old.record.header);
    record.check(old.region)?;
    let is_word = kind == header.kind() && header.value_len() as u64 == WORD && header.is_plain();
    Ok(is_word && !header.is_versioned() && !header.has_grown() && record.value_address().is_multiple_of(WORD))
}

impl<'c> Draft<'c> {
    /// The record that a change asks for which is neither to keep nor to delete what there is.
    #[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
    #[inline(always)]
    fn new(table: TableId, key: Key<'_>, old: Option<&Old<'_>>, replaced: u64, change: Change<'c>) -> Self {
        let mut traits = Traits { sequence: table.is_versioned.then_some(0), ..Traits::default() };
        let value = match change {
            Change::Put { kind, value, expiry } => {
                (traits.kind, traits.expiry) = (kind, expiry);
                match value {
                    Value::Bytes(bytes) => bytes,
                    Value::Parts(large) => {
                        traits.is_large = true;
                        Cow::Owned(large.to_bytes().to_vec())
                    }
                }
            }
            Change::Append { kind, bytes } => {
                traits.kind = kind;
                Cow::Borrowed(bytes)
            }
            Change::Word { kind, word } => {
                (traits.kind, traits.expiry) = (kind, old.and_then(|old| old.meta().expiry));
                Cow::Owned(word.to_le_bytes().to_vec())
            }
            Change::Expire(expiry) => {
                let old = old.expect("an expiry is given to what is there");
                let header = old.record.header;
                (traits.kind, traits.expiry, traits.is_large) = (header.kind(), expiry, header.is_large());
                Cow::Owned(old.value_in_record())
            }
            Change::Keep | Change::Delete => unreachable!("no record"),
        };
        let header = Header::new(table.number, key, value.len(), &traits).within(replaced);
        Self { header, expiry: traits.expiry, content: Content::Value(value) }
    }

    /// Whether it takes no more than comes back by it: so many bytes.
    #[inline]
    pub(crate) fn is_within(&self, freed: u64) -> bool {
        matches!(self.content, Content::Value(_)) && self.header.size() <= freed
    }

    /// Whether it names these parts.
    #[inline]
    pub(crate) fn names(&self, parts: PartsRef) -> bool {
        matches!(&self.content, Content::Value(value) if self.header.is_large() && PartsRef::of(value).id == parts.id)
    }

    /// Writes the record, which nothing names yet, but for its sequence and a value that is new as a whole:
    /// where that goes, and the value.
    #[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
    #[inline(always)]
    pub(crate) fn write(&self, region: &Region, record: Record, key: Key<'_>) -> Option<(u64, &[u8])> {
        match &self.content {
            Content::Value(value) => Some((record.write(region, self.expiry, key), value)),
            Content::Longer(old, bytes) => {
                old.copy(region, record);
                region.write_bytes(record.value_address() + old.header.value_len() as u64, bytes);
                None
            }
        }
    }
}

/// Refuses a key that no record can have.
#[inline]
pub(crate) fn check_key(key: Key<'_>) -> Result<()> {
    if key.len() <= KEY_LEN_MAX {
        return Ok(());
    }
    let finding = format!("a key of {} bytes; keys have at most {KEY_LEN_MAX}", key.len());
    Err(Error::new(Kind::Invalid, finding).remedy("use a shorter key, such as a hash of it"))
}
