//! Universes and exact sets, beside sets of the standard library.

use std::collections::BTreeSet;
use std::thread;

use fastrand::Rng;
use hammerspace_os::process::fork::fork;
use hammerspace_store::set::{Expression, Operator, RoaringBitmap};
use hammerspace_store::{Key, Kind, Options, OwnedKey, Sets, Table, TableOptions, Universe, ValueKind};

use crate::sound::Store;

fn store() -> Store {
    Store::anonymous(&Options { cleaners: 1, ..Options::with_limit(64 << 20) }).unwrap()
}

fn with_sets(store: &Store) -> (Universe, Sets) {
    let users = Universe::create(store, "users").unwrap();
    store.create_table("sets", TableOptions::default()).unwrap();
    (users, Sets::open(store, "sets").unwrap())
}

/// Integers, and texts of some lengths.
fn id(number: u64) -> OwnedKey {
    match number % 3 {
        0 => OwnedKey::Bytes(number.to_string().repeat(1 + number as usize % 7).into_bytes()),
        _ => OwnedKey::Integer(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
    }
}

fn ids(numbers: &[u64]) -> Vec<OwnedKey> {
    numbers.iter().map(|number| id(*number)).collect()
}

fn keys(ids: &[OwnedKey]) -> Vec<Key<'_>> {
    ids.iter().map(OwnedKey::as_key).collect()
}

#[test]
fn ordinals_are_dense_and_lead_back() {
    let store = store();
    let (users, _) = with_sets(&store);
    let mut rng = Rng::with_seed(1);
    let mut binding: Vec<OwnedKey> = Vec::new();
    for _ in 0..60 {
        let some: Vec<_> = (0..rng.usize(..900)).map(|_| rng.u64(..20_000)).collect();
        let some = ids(&some);
        let ordinals = users.assign(&keys(&some)).unwrap();
        for (id, ordinal) in some.iter().zip(&ordinals) {
            if let Some(there) = binding.get(*ordinal as usize) {
                assert_eq!(there, id);
            } else {
                assert_eq!(binding.len(), *ordinal as usize, "the next one");
                binding.push(id.clone());
            }
        }
        assert_eq!(users.len().unwrap(), binding.len() as u64);
    }
    let mut back = Vec::new();
    users
        .each_id(0..binding.len() as u32 + 5, |id| {
            back.push(id);
            Ok(())
        })
        .unwrap();
    assert_eq!(back, binding);
    assert_eq!(users.id(1030).unwrap().as_ref(), binding.get(1030));
    assert_eq!(users.id(u32::MAX).unwrap(), None);
    assert_eq!(users.ordinals(&["not binding".into()]).unwrap(), [None]);
    // As many as several batches have.
    let many = ids(&(100_000..120_000).collect::<Vec<_>>());
    let ordinals = users.assign(&keys(&many)).unwrap();
    assert!(ordinals.iter().zip(binding.len() as u32..).all(|(ordinal, next)| *ordinal == next));
}

/// Names of sets, and what they hold.
type Twin = Vec<(&'static str, BTreeSet<u64>)>;

fn by_hand(expression: &Expression, twin: &Twin) -> BTreeSet<u64> {
    match expression {
        Expression::Name(name) => twin.iter().find(|set| set.0 == name).unwrap().1.clone(),
        Expression::Operation(operator, sides) => {
            let [left, right] = sides.each_ref().map(|side| by_hand(side, twin));
            match operator {
                Operator::Union => &left | &right,
                Operator::SymmetricDifference => &left ^ &right,
                Operator::Intersection => &left & &right,
                Operator::Difference => &left - &right,
            }
        }
    }
}

fn random_expression(rng: &mut Rng, depth: u32) -> String {
    if depth == 0 || rng.u8(..4) == 0 {
        return ["a", "b", "\"c d\""][rng.usize(..3)].into();
    }
    let [left, right] = [(); 2].map(|()| random_expression(rng, depth - 1));
    format!("({left}) {} {right}", ['|', '^', '&', '-'][rng.usize(..4)])
}

#[test]
fn sets_are_those_of_the_standard_library() {
    let store = store();
    let (users, sets) = with_sets(&store);
    let mut rng = Rng::with_seed(2);
    // So that sets have several pieces.
    users.assign(&keys(&ids(&(0..150_000).collect::<Vec<_>>()))).unwrap();
    let mut twin: Twin = ["a", "b", "c d"].map(|name| (name, BTreeSet::new())).into();
    for (name, _) in &twin {
        sets.add(name, &users, &[]).unwrap();
    }
    for _ in 0..40 {
        let set = rng.usize(..3);
        let first = rng.u64(..140_000);
        let some: Vec<u64> = (0..rng.u64(..3000)).map(|_| first + rng.u64(..10_000)).collect();
        let (name, there) = &mut twin[set];
        if rng.u8(..3) > 0 {
            sets.add(name, &users, &keys(&ids(&some))).unwrap();
            there.extend(some);
        } else {
            sets.remove(name, &keys(&ids(&some))).unwrap();
            for number in &some {
                there.remove(number);
            }
        }
        let expression = random_expression(&mut rng, 4);
        let expected = by_hand(&Expression::parse(&expression).unwrap(), &twin);
        assert_eq!(sets.count(&expression).unwrap(), expected.len() as u64, "{expression}");
        let mut listed = BTreeSet::new();
        sets.each_id(&expression, |id| {
            assert!(listed.insert(id));
            Ok(())
        })
        .unwrap();
        assert_eq!(listed, expected.iter().map(|number| id(*number)).collect(), "{expression}");
    }
    for number in [0, 70_001, 149_999] {
        let holding: Vec<_> = twin.iter().filter(|set| set.1.contains(&number)).map(|set| set.0).collect();
        assert_eq!(sets.holding(&users, id(number).as_key()).unwrap(), holding);
    }
    assert_eq!(sets.names().unwrap(), ["a", "b", "c d"]);
    let ordinals = sets.ordinals("a").unwrap();
    assert_eq!(ordinals.len(), twin[0].1.len() as u64);
    sets.import("e", &users, ordinals).unwrap();
    assert_eq!(sets.count("a ^ e").unwrap(), 0);
    assert!(sets.drop_set("e").unwrap() && !sets.drop_set("e").unwrap());
    assert_eq!(sets.count("e").unwrap_err().kind(), Kind::Missing);
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let store = store();
    let (users, sets) = with_sets(&store);
    let pages = Universe::create(&store, "pages").unwrap();
    sets.add("a", &users, &["ada".into()]).unwrap();
    sets.add("b", &pages, &["home".into()]).unwrap();
    let refused = |error: hammerspace_store::Error| (error.kind(), error.finding().to_owned());
    let two = r#"the set "b" is over the universe "pages", not over "users""#;
    assert_eq!(refused(sets.count("a & b").unwrap_err()), (Kind::Invalid, two.into()));
    assert_eq!(refused(sets.add("b", &users, &[]).unwrap_err()), (Kind::Invalid, two.into()));
    assert_eq!(refused(sets.count("c").unwrap_err()), (Kind::Missing, r#"there is no set "c" in "sets""#.into()));
    let beyond = r#"ordinal 1 is beyond the universe "users" of 1 ids"#;
    let import = sets.import("a", &users, RoaringBitmap::from_iter([1])).unwrap_err();
    assert_eq!(refused(import), (Kind::Invalid, beyond.into()));
    assert_eq!(sets.add("\"", &users, &[]).unwrap_err().kind(), Kind::Invalid);

    // A universe that is emptied gives its ordinals to other ids.
    let gone = r#"the universe "users" of the set "a" was dropped or emptied"#;
    store.empty_table("users").unwrap();
    users.assign(&["grace".into()]).unwrap();
    assert_eq!(refused(sets.count("a").unwrap_err()), (Kind::Missing, gone.into()));
    assert_eq!(sets.add("a", &users, &[]).unwrap_err().kind(), Kind::Missing);
    store.drop_table("users").unwrap();
    assert_eq!(refused(sets.each_id("a", |_| Ok(())).unwrap_err()), (Kind::Missing, gone.into()));
    assert!(sets.drop_set("a").unwrap());
}

#[test]
fn a_full_universe_says_so_and_keeps_what_it_has() {
    let store = store();
    let (users, _) = with_sets(&store);
    store.table("users").unwrap().put("n", (u64::from(u32::MAX) - 1).to_le_bytes()).unwrap();
    assert_eq!(users.assign(&["a".into(), "b".into()]).unwrap(), [u32::MAX - 1, u32::MAX]);
    let error = users.assign(&["b".into(), "c".into()]).unwrap_err();
    assert_eq!((error.kind(), error.finding()), (Kind::Full, r#"the universe "users" has 2^32 ids"#));
    assert_eq!(users.ordinals(&["b".into(), "c".into()]).unwrap(), [Some(u32::MAX), None]);
}

#[test]
fn threads_give_each_id_one_ordinal_and_lose_no_member() {
    let store = store();
    let (users, sets) = with_sets(&store);
    thread::scope(|scope| {
        for seed in 0..4 {
            let (users, sets) = (&users, &sets);
            scope.spawn(move || {
                let mut rng = Rng::with_seed(seed);
                for _ in 0..20 {
                    let some = ids(&(0..500).map(|_| rng.u64(..10_000)).collect::<Vec<_>>());
                    sets.add("set", users, &keys(&some)).unwrap();
                }
                let all = ids(&(0..10_000).filter(|number| number % 4 == seed).collect::<Vec<_>>());
                sets.add("set", users, &keys(&all)).unwrap();
            });
        }
    });
    assert_eq!((users.len().unwrap(), sets.count("set").unwrap()), (10_000, 10_000));
    let mut back = BTreeSet::new();
    users
        .each_id(0..10_000, |id| {
            back.insert(id);
            Ok(())
        })
        .unwrap();
    assert_eq!(back, (0..10_000).map(id).collect());
}

/// Forward, reverse and count, whatever instant the owner dies in.
#[test]
fn a_killed_owner_leaves_a_universe_whole() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options { region: Some(scratch.path().to_path_buf()), cleaners: 1, ..Options::with_limit(64 << 20) };
    let path = scratch.path().join("store");
    let store = Store::create(&path, &options).unwrap();
    let _ = with_sets(&store);
    drop(store);
    for round in 1..6_u64 {
        let owner = fork(|| {
            let store = hammerspace_store::Store::open_with(&path, &options).unwrap();
            let (users, sets) = (Universe::open(&store, "users").unwrap(), Sets::open(&store, "sets").unwrap());
            for number in (0..).step_by(7) {
                sets.add("set", &users, &keys(&ids(&(number..number + 9).collect::<Vec<_>>()))).unwrap();
            }
            0
        });
        let reader = hammerspace_store::Store::attach(&path).unwrap();
        let users = Universe::open(&reader, "users").unwrap();
        while users.len().unwrap() < 700 * round {
            thread::yield_now();
        }
        owner.kill();
        let store = Store::open_with(&path, &options).unwrap();
        let (users, sets) = (Universe::open(&store, "users").unwrap(), Sets::open(&store, "sets").unwrap());
        let len = users.len().unwrap();
        let mut back = Vec::new();
        users
            .each_id(0..=len as u32, |id| {
                back.push(id);
                Ok(())
            })
            .unwrap();
        let ordinals = users.ordinals(&keys(&back)).unwrap();
        assert!(ordinals.iter().zip(0..).all(|(ordinal, next)| *ordinal == Some(next)), "round {round}");
        // With the count and the pieces of the reverse, there is nothing else.
        let table = store.table("users").unwrap();
        assert_eq!((back.len() as u64, table.len().unwrap()), (len, len + 1 + len.div_ceil(1024)));
        let members = sets.count("set").unwrap();
        assert!(members <= len && members + 9 >= len, "{members} of {len}");
    }
}

/// A canary: the check above is not blind.
#[test]
fn canary_an_id_without_its_ordinal_is_noticed() {
    let store = store();
    let (users, _) = with_sets(&store);
    users.assign(&keys(&ids(&[1, 2, 3]))).unwrap();
    assert!(store.table("users").unwrap().delete(id(2).as_key()).unwrap());
    let mut back = Vec::new();
    users
        .each_id(0..3, |id| {
            back.push(id);
            Ok(())
        })
        .unwrap();
    assert_eq!(users.ordinals(&keys(&back)).unwrap(), [Some(0), None, Some(2)]);
}

#[test]
fn a_piece_is_what_its_page_says() {
    let store = store();
    let page = hammerspace_testkit::page::hex(include_str!("../../../../docs/format/sets.md"), "A piece of a set");
    let table: &Table = store.default_table();
    table.merge("k", ValueKind::Set, &page).unwrap();
    assert_eq!(table.get("k").unwrap().unwrap().bytes, page);
    let mut removal = page.clone();
    removal[7] = 1;
    assert_eq!(
        table.put_with("k", &removal, &hammerspace_store::Put::default().kind(ValueKind::Set)).unwrap_err().kind(),
        Kind::Corrupt
    );
    let mut other = page.clone();
    other[0] = 6;
    let error = table.merge("k", ValueKind::Set, &other).unwrap_err();
    assert_eq!((error.kind(), error.finding()), (Kind::Invalid, "the ordinals of two universes cannot be in one set"));
    table.merge("k", ValueKind::Set, &removal).unwrap();
    assert!(!table.contains("k").unwrap(), "the last ordinal is gone");
    for len in 0..page.len() {
        assert_eq!(table.merge("k", ValueKind::Set, &page[..len]).unwrap_err().kind(), Kind::Corrupt, "{len} bytes");
    }
}

/// With its index: 55 bytes for an integer id at most. It is 54.1 here: 33.2 in records, 21.0 in the index.
#[test]
fn an_id_takes_few_bytes() {
    const IDS: u64 = 200_000;
    let store = store();
    let (users, _) = with_sets(&store);
    let before = store.usage();
    for first in (0..IDS).step_by(20_000) {
        let ids: Vec<_> = (first..first + 20_000).map(|id| Key::Integer(id.wrapping_mul(0x9e37_79b9))).collect();
        users.assign(&ids).unwrap();
    }
    let after = store.usage();
    let (records, index) = (after.live - before.live, after.index - before.index);
    assert!(records + index <= 55 * IDS, "{records} bytes of {IDS} ids, and {index} of the index");
}
