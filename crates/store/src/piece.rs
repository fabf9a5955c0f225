//! Kind `set`: a piece of an exact set, up to 65,536 ordinals of one universe.
//!
//! ```text
//! value:    | universe 7 B | 0 | portable Roaring bytes: ordinals that share their upper 16 bits |
//! operand:  | universe 7 B | 0 to add, 1 to remove | the same |
//! ```
//! - A piece takes 8 KiB and a header at most, so one bit never rewrites more.
//! - An operand of another universe is refused: its ordinals are those of other ids.
//! - A piece that loses its last ordinal is deleted.

use hammerspace_error::{Error, Kind, Result};
use hammerspace_memory::Present;
use hammerspace_sketch::set::RoaringBitmap;

use crate::kind::Folded;

/// Bytes in front of the bitmap.
const HEADER: usize = 8;
/// The largest number of a universe.
const UNIVERSE_MAX: u64 = (1 << 56) - 1;

/// What becomes of the ordinals of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Add,
    Remove,
}

/// A value or an operand, taken apart.
pub(crate) struct Piece {
    pub(crate) universe: u64,
    action: Action,
    pub(crate) ordinals: RoaringBitmap,
}

impl Piece {
    /// An operand. The ordinals share their upper 16 bits.
    pub(crate) fn operand(universe: u64, action: Action, ordinals: RoaringBitmap) -> Vec<u8> {
        Self { universe, action, ordinals }.to_bytes()
    }

    /// Reads a value or an operand. `Corrupt`, if it is none.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        let (header, mut body) = bytes.split_first_chunk().ok_or_else(|| corrupt("is too short"))?;
        let header: [u8; HEADER] = *header;
        let action = match header[HEADER - 1] {
            0 => Action::Add,
            1 => Action::Remove,
            _ => return Err(corrupt("has an unknown action")),
        };
        let universe = u64::from_le_bytes(header) & UNIVERSE_MAX;
        let ordinals = RoaringBitmap::deserialize_from(&mut body).map_err(|_| corrupt("has no Roaring bitmap"))?;
        if !body.is_empty() {
            return Err(corrupt("has bytes behind its bitmap"));
        }
        match (ordinals.min(), ordinals.max()) {
            (Some(min), Some(max)) if min >> 16 != max >> 16 => Err(corrupt("has ordinals of several pieces")),
            _ => Ok(Self { universe, action, ordinals }),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.ordinals.serialized_size());
        bytes.extend_from_slice(&self.universe.to_le_bytes());
        bytes[HEADER - 1] = u8::from(self.action == Action::Remove);
        self.ordinals.serialize_into(&mut bytes).expect("a vector takes all");
        bytes
    }
}

/// Refuses an operand that is no value, since it removes.
pub(crate) fn check_value(operand: &[u8]) -> Result<()> {
    match Piece::parse(operand)?.action {
        Action::Add => Ok(()),
        Action::Remove => Err(corrupt("removes, which no value does")),
    }
}

/// Refuses what is no operand.
pub(crate) fn check(operand: &[u8]) -> Result<()> {
    Piece::parse(operand).map(drop)
}

/// Merges a checked operand into a value, or into none.
#[inline(never)]
pub(crate) fn fold(old: Option<&(impl Present + ?Sized)>, operand: &[u8]) -> Folded<'static> {
    let Ok(operand) = Piece::parse(operand) else { return Folded::Damaged };
    let Some(old) = old else {
        let is_empty = operand.action == Action::Remove || operand.ordinals.is_empty();
        return if is_empty { Folded::Keep(None) } else { Folded::New(operand.to_bytes()) };
    };
    let mut bytes = Vec::new();
    if !old.read(&mut bytes) {
        return Folded::Damaged;
    }
    let Ok(mut piece) = Piece::parse(&bytes) else { return Folded::Damaged };
    if piece.universe != operand.universe {
        return Folded::OtherUniverse;
    }
    let before = piece.ordinals.len();
    match operand.action {
        Action::Add => piece.ordinals |= operand.ordinals,
        Action::Remove => piece.ordinals -= operand.ordinals,
    }
    match piece.ordinals.len() {
        0 => Folded::Delete,
        len if len == before => Folded::Keep(None),
        _ => Folded::New(piece.to_bytes()),
    }
}

#[cold]
fn corrupt(finding: &str) -> Error {
    Error::new(Kind::Corrupt, format!("a piece of a set {finding}")).remedy("import the set again")
}

/// Says that a piece is of another universe than an operand.
#[cold]
pub(crate) fn other_universe() -> Error {
    Error::new(Kind::Invalid, "the ordinals of two universes cannot be in one set")
        .remedy("remove the set and count it anew; its universe was dropped or emptied, or is another")
}
