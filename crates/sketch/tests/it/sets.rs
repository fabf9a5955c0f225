//! Random expressions over random sets, against `BTreeSet`.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use hammerspace_error::{Error, Kind, Result};
use hammerspace_sketch::set::{Expression, Operator, RoaringBitmap, Source, count, pieces};

/// Sets in pieces.
#[derive(Default)]
struct Sets(BTreeMap<String, BTreeMap<u16, RoaringBitmap>>);

impl Sets {
    fn insert(&mut self, name: &str, ordinals: &BTreeSet<u32>) {
        let set = self.0.entry(name.into()).or_default();
        for ordinal in ordinals {
            set.entry((ordinal >> 16) as u16).or_default().insert(*ordinal);
        }
    }

    fn set(&self, name: &str) -> Result<&BTreeMap<u16, RoaringBitmap>> {
        self.0.get(name).ok_or_else(|| Error::new(Kind::Missing, format!("there is no set {name}")))
    }
}

impl Source for Sets {
    fn numbers(&self, name: &str) -> Result<RoaringBitmap> {
        Ok(self.set(name)?.keys().map(|number| u32::from(*number)).collect())
    }

    fn piece(&self, name: &str, number: u16) -> Result<Cow<'_, RoaringBitmap>> {
        Ok(self.set(name)?.get(&number).map(Cow::Borrowed).unwrap_or_default())
    }
}

const NAMES: [&str; 5] = ["saw_ad", "bought", "bounced", "empty", "x y-z"];

/// Some full, some sparse, some in pieces that others do not have.
fn random_sets(rng: &mut Rng) -> (Sets, BTreeMap<&'static str, BTreeSet<u32>>) {
    let (mut sets, mut plain) = (Sets::default(), BTreeMap::new());
    for name in NAMES {
        let mut ordinals = BTreeSet::new();
        for _ in 0..if name == "empty" { 0 } else { rng.u32(1..6) } {
            let start = rng.u32(..4) << 16 | u32::from(rng.bool()) << 31;
            let step = rng.usize(1..700);
            ordinals.extend((start..start + (1 << 16)).skip(rng.usize(..60_000)).step_by(step));
        }
        sets.insert(name, &ordinals);
        plain.insert(name, ordinals);
    }
    (sets, plain)
}

/// A random expression as text, and what it comes to.
fn random_expression(
    rng: &mut Rng,
    depth: u32,
    plain: &BTreeMap<&'static str, BTreeSet<u32>>,
) -> (String, BTreeSet<u32>) {
    if depth == 0 || rng.u8(..4) == 0 {
        let name = NAMES[rng.usize(..NAMES.len())];
        return (format!("\"{name}\""), plain[name].clone());
    }
    let ((left, left_set), (right, right_set)) =
        (random_expression(rng, depth - 1, plain), random_expression(rng, depth - 1, plain));
    let (symbol, set) = match rng.u8(..4) {
        0 => ('|', &left_set | &right_set),
        1 => ('^', &left_set ^ &right_set),
        2 => ('&', &left_set & &right_set),
        _ => ('-', &left_set - &right_set),
    };
    (format!("({left} {symbol} {right})"), set)
}

#[test]
fn random_expressions_come_to_what_plain_sets_come_to() {
    let mut rng = Rng::with_seed(hammerspace_testkit::setting::seed());
    for _ in 0..12 {
        let (sets, plain) = random_sets(&mut rng);
        for _ in 0..12 {
            let (text, expected) = random_expression(&mut rng, 3, &plain);
            let expression = Expression::parse(&text).unwrap();
            assert_eq!(count(&expression, &sets).unwrap(), expected.len() as u64, "{text}");
            let found: Vec<RoaringBitmap> = pieces(&expression, &sets).unwrap().map(Result::unwrap).collect();
            assert!(found.iter().flatten().eq(expected.iter().copied()), "{text}");
            assert!(found.iter().all(|piece| piece.min().map(|min| min >> 16) == piece.max().map(|max| max >> 16)));
            assert!(found.iter().all(|piece| !piece.is_empty()), "{text}");
        }
    }
}

/// Sets and pieces that cannot matter are not asked for.
#[test]
fn only_pieces_that_can_matter_are_read() {
    struct Counted(Sets, Cell<u32>);
    impl Source for Counted {
        fn numbers(&self, name: &str) -> Result<RoaringBitmap> {
            self.0.numbers(name)
        }
        fn piece(&self, name: &str, number: u16) -> Result<Cow<'_, RoaringBitmap>> {
            self.1.set(self.1.get() + 1);
            self.0.piece(name, number)
        }
    }
    let mut sets = Sets::default();
    sets.insert("everywhere", &(0..100).map(|piece| piece << 16).collect());
    sets.insert("once", &BTreeSet::from([7 << 16]));
    let sets = Counted(sets, Cell::default());
    for (text, expected, reads) in
        [("everywhere & once", 1, 2), ("once - everywhere", 0, 2), ("everywhere ^ once", 99, 200)]
    {
        sets.1.set(0);
        assert_eq!(count(&Expression::parse(text).unwrap(), &sets).unwrap(), expected, "{text}");
        assert_eq!(sets.1.get(), reads, "{text}");
    }
}

#[test]
fn a_set_that_is_not_there_is_an_error() {
    let (sets, _) = random_sets(&mut Rng::with_seed(1));
    for text in ["nobody", "saw_ad & nobody", "empty & nobody", "saw_ad - nobody"] {
        let error = count(&Expression::parse(text).unwrap(), &sets).unwrap_err();
        assert_eq!((error.kind(), error.finding()), (Kind::Missing, "there is no set nobody"), "{text}");
    }
    let operation =
        Expression::Operation(Operator::Union, Box::new(["a", "b"].map(|name| Expression::Name(name.into()))));
    assert_eq!(Expression::parse("a | b").unwrap(), operation);
}
