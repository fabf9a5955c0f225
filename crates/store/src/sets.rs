//! Exact sets of ids, over universes: by name, in pieces, and expressions over them.
//!
//! ```text
//! head:   "s" and the name                   ──►  | the universe's number 8 | its name |
//! piece:  "p" and its number 2 and the name  ──►  a value of kind set: ordinals of that upper half
//! ```
//! - A set is over one universe, from its first id on. Where that was dropped or emptied, the set is refused.
//! - Each piece is read at an instant of its own.

use std::borrow::Cow;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_memory::{Key, OwnedKey};
use hammerspace_sketch::set::{self, Expression, RoaringBitmap};

use crate::condition::Condition;
use crate::kind::ValueKind;
use crate::piece::{Action, Piece, other_universe};
use crate::store::Store;
use crate::table::Table;
use crate::universe::Universe;
use crate::write::Put;

/// The sets of a table.
///
/// ```
/// use hammerspace_store::{Options, Sets, Store, TableOptions, Universe};
///
/// let store = Store::anonymous(&Options::with_limit(64 << 20))?;
/// let users = Universe::create(&store, "users")?;
/// store.create_table("sets", TableOptions::default())?;
/// let sets = Sets::open(&store, "sets")?;
/// sets.add("saw_ad", &users, &["ada".into(), "grace".into()])?;
/// sets.add("bought", &users, &["grace".into(), "mary".into()])?;
/// assert_eq!(sets.count("saw_ad & bought")?, 1);
/// assert_eq!(sets.count("saw_ad | bought")?, 3);
/// assert_eq!(sets.holding(&users, "mary")?, ["bought"]);
/// # Ok::<(), hammerspace_store::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sets {
    store: Store,
    table: Table,
}

/// What the head of a set says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Head {
    universe: u64,
    name: String,
}

impl Sets {
    /// The sets of this table. [`Kind::Missing`] where there is no such table.
    pub fn open(store: &Store, table: &str) -> Result<Self> {
        Ok(Self { store: store.clone(), table: store.table(table)? })
    }

    /// Adds ids to a set, which comes to be with it; new ones to its universe too.
    ///
    /// [`Kind::Invalid`] if the set is over another universe, or over one that was dropped or emptied.
    pub fn add(&self, name: &str, universe: &Universe, ids: &[Key<'_>]) -> Result<()> {
        let number = self.found(name, universe)?;
        let ordinals: RoaringBitmap = universe.assign(ids)?.into_iter().collect();
        self.merge(name, number, Action::Add, ordinals)
    }

    /// Removes ids from a set; those that it has not, it goes on not to have.
    pub fn remove(&self, name: &str, ids: &[Key<'_>]) -> Result<()> {
        let (head, universe) = self.universe(name)?;
        let ordinals = universe.ordinals(ids)?.into_iter().flatten().collect();
        self.merge(name, head.universe, Action::Remove, ordinals)
    }

    /// Adds ordinals of a universe to a set, which comes to be with it. [`Kind::Invalid`] if the universe has
    /// not given all of them to ids.
    pub fn import(&self, name: &str, universe: &Universe, ordinals: RoaringBitmap) -> Result<()> {
        let len = universe.len()?;
        if let Some(max) = ordinals.max().filter(|max| u64::from(*max) >= len) {
            let finding = format!("ordinal {max} is beyond the universe {:?} of {len} ids", universe.name());
            return Err(Error::new(Kind::Invalid, finding).remedy("import it over the universe that it was made over"));
        }
        self.merge(name, self.found(name, universe)?, Action::Add, ordinals)
    }

    /// Removes a set. Whether there was one.
    pub fn drop_set(&self, name: &str) -> Result<bool> {
        // The head last: a drop that is cut off can be done again.
        for number in 0..=u16::MAX {
            self.table.delete(piece_key(name, number).as_slice())?;
        }
        self.table.delete(head_key(name).as_slice())
    }

    /// The names of the sets. Looks at all keys of the table.
    pub fn names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in &self.table {
            if let OwnedKey::Bytes(key) = entry?.key
                && let Some(name) = key.strip_prefix(b"s")
            {
                names.push(String::from_utf8(name.to_vec()).map_err(|_| damaged())?);
            }
        }
        names.sort();
        Ok(names)
    }

    /// How many ids an expression over names comes to, such as `saw_ad & bought - bounced`. What its
    /// outermost operator makes is counted, not built.
    ///
    /// [`Kind::Missing`] where there is no such set; [`Kind::Invalid`] if the expression is none, or over
    /// sets of two universes.
    pub fn count(&self, expression: &str) -> Result<u64> {
        let (expression, view) = self.view(expression)?;
        set::count(&expression, &view)
    }

    /// The ordinals that an expression comes to: [`serialize_into`](RoaringBitmap::serialize_into) writes
    /// them as portable Roaring bytes.
    pub fn ordinals(&self, expression: &str) -> Result<RoaringBitmap> {
        let (expression, view) = self.view(expression)?;
        let mut all = RoaringBitmap::new();
        for piece in set::pieces(&expression, &view)? {
            all |= piece?;
        }
        Ok(all)
    }

    /// Gives each id that an expression comes to, in the order in which the universe came to know them.
    pub fn each_id(&self, expression: &str, mut each: impl FnMut(OwnedKey) -> Result<()>) -> Result<()> {
        let (expression, view) = self.view(expression)?;
        for piece in set::pieces(&expression, &view)? {
            view.universe.each_id(piece?, &mut each)?;
        }
        Ok(())
    }

    /// The names of the sets over a universe that hold an id. Looks at all keys of the table.
    pub fn holding<'k>(&self, universe: &Universe, id: impl Into<Key<'k>>) -> Result<Vec<String>> {
        let [Some(ordinal)] = universe.ordinals(&[id.into()])?[..] else { return Ok(Vec::new()) };
        let (number, mut holding) = (universe.number()?, Vec::new());
        for name in self.names()? {
            if self.head(&name)?.is_some_and(|head| head.universe == number)
                && self.piece(&name, number, (ordinal >> 16) as u16)?.contains(ordinal)
            {
                holding.push(name);
            }
        }
        Ok(holding)
    }

    /// The number of the universe of a set, which comes to be over it.
    fn found(&self, name: &str, universe: &Universe) -> Result<u64> {
        check_name(name)?;
        let number = universe.number()?;
        let head = [&number.to_le_bytes()[..], universe.name().as_bytes()].concat();
        let absent = Put::when(Condition::Absent);
        if self.head(name)?.is_none() && self.table.put_with(head_key(name).as_slice(), head, &absent)?.is_done() {
            return Ok(number);
        }
        let (head, of_set) = self.universe(name)?;
        if head.universe == number { Ok(number) } else { Err(two_universes(name, of_set.name(), universe.name())) }
    }

    fn merge(&self, name: &str, universe: u64, action: Action, ordinals: RoaringBitmap) -> Result<()> {
        let mut operands: Vec<(Vec<u8>, RoaringBitmap)> = Vec::new();
        let mut last = None;
        for ordinal in ordinals {
            let number = (ordinal >> 16) as u16;
            if last != Some(number) {
                operands.push((piece_key(name, number), RoaringBitmap::new()));
                last = Some(number);
            }
            operands.last_mut().expect("there is one").1.insert(ordinal);
        }
        let operands: Vec<_> = operands
            .iter()
            .map(|(key, piece)| (Key::Bytes(key), Piece::operand(universe, action, piece.clone())))
            .collect();
        self.table.merge_many(ValueKind::Set, &operands)
    }

    fn head(&self, name: &str) -> Result<Option<Head>> {
        let Some(value) = self.table.get(head_key(name).as_slice())? else { return Ok(None) };
        let (universe, name) = value.split_first_chunk().ok_or_else(damaged)?;
        let name = String::from_utf8(name.to_vec()).map_err(|_| damaged())?;
        Ok(Some(Head { universe: u64::from_le_bytes(*universe), name }))
    }

    /// The head of a set and the universe that it is over, if that is there still.
    fn universe(&self, name: &str) -> Result<(Head, Universe)> {
        let head = self.head(name)?.ok_or_else(|| {
            let error = Error::new(Kind::Missing, format!("there is no set {name:?} in {:?}", self.table.name()));
            error.remedy("add ids to it, or correct the name")
        })?;
        let gone = || {
            let finding = format!("the universe {:?} of the set {name:?} was dropped or emptied", head.name);
            Error::new(Kind::Missing, finding).remedy("remove the set, and add its ids anew")
        };
        let universe = match Universe::open(&self.store, &head.name) {
            Err(error) if error.kind() == Kind::Missing => return Err(gone()),
            universe => universe?,
        };
        if universe.number()? == head.universe { Ok((head, universe)) } else { Err(gone()) }
    }

    fn view(&self, expression: &str) -> Result<(Expression, View<'_>)> {
        let expression = Expression::parse(expression)?;
        let names = expression.names();
        let first = names[0];
        let (head, universe) = self.universe(first)?;
        for name in &names[1..] {
            let (other, _) = self.universe(name)?;
            if other.universe != head.universe {
                return Err(two_universes(name, &other.name, &head.name));
            }
        }
        let pieces = universe.len()?.div_ceil(1 << 16);
        let view = View { sets: self, number: head.universe, pieces, universe };
        Ok((expression, view))
    }

    fn piece(&self, name: &str, universe: u64, number: u16) -> Result<RoaringBitmap> {
        let Some(value) = self.table.get(piece_key(name, number).as_slice())? else { return Ok(RoaringBitmap::new()) };
        let piece = Piece::parse(&value)?;
        if piece.universe == universe { Ok(piece.ordinals) } else { Err(other_universe()) }
    }
}

/// Sets of one universe, for an expression.
struct View<'s> {
    sets: &'s Sets,
    universe: Universe,
    number: u64,
    pieces: u64,
}

impl set::Source for View<'_> {
    fn numbers(&self, _name: &str) -> Result<RoaringBitmap> {
        Ok((0..self.pieces as u32).collect())
    }

    fn piece(&self, name: &str, number: u16) -> Result<Cow<'_, RoaringBitmap>> {
        self.sets.piece(name, self.number, number).map(Cow::Owned)
    }
}

fn head_key(name: &str) -> Vec<u8> {
    [b"s", name.as_bytes()].concat()
}

fn piece_key(name: &str, number: u16) -> Vec<u8> {
    [&b"p"[..], &number.to_be_bytes(), name.as_bytes()].concat()
}

fn check_name(name: &str) -> Result<()> {
    if (1..=255).contains(&name.len()) && !name.contains('"') {
        return Ok(());
    }
    Err(Error::new(Kind::Invalid, format!("{name:?} is no name of a set"))
        .remedy("choose one of 1 to 255 bytes without double quotes"))
}

#[cold]
fn two_universes(set: &str, one: &str, other: &str) -> Error {
    let finding = format!("the set {set:?} is over the universe {one:?}, not over {other:?}");
    Error::new(Kind::Invalid, finding).remedy("name sets of one universe")
}

#[cold]
fn damaged() -> Error {
    Error::new(Kind::Corrupt, "a table holds what is no set").remedy("name a table of sets alone")
}
