//! The commit point: a replica that is told of every change, and of nothing else, has what the memory has.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread;

use hammerspace_memory::{self as memory, CommitHook, Committed, Effect, Key, Old, Options, OwnedKey, TableId};

use crate::caller::{Caller, Keys, TABLES};
use crate::model::{PLAIN, everything, tiny};
use crate::sound::Memory;

/// Parts of long values are records like others.
const PARTS: TableId = TableId { number: u16::MAX, is_versioned: false };

/// What a replica knows of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Copy {
    /// Of its last change.
    sequence: u64,
    record: Option<(u8, Vec<u8>, Option<u64>)>,
}

/// A map that goes by what the hook is shown. `deaf_to` makes it miss a kind of change.
#[derive(Debug, Default)]
struct Replica {
    copies: Mutex<BTreeMap<(u16, OwnedKey), Copy>>,
    deaf_to: Option<Change>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Removed,
    Written,
    Grown,
    Number,
}

fn copy_of(old: &Old<'_>) -> (u8, Vec<u8>, Option<u64>) {
    let mut value = Vec::new();
    assert!(old.read(&mut value), "all parts are written before they are named");
    (old.kind(), value, old.meta().expiry)
}

impl CommitHook for Replica {
    fn commit(&self, change: &Committed<'_>) {
        let (record, now, kind) = match &change.effect {
            Effect::Removed => (change.old.as_ref(), None, Change::Removed),
            Effect::Written(new) => (Some(new), Some(copy_of(new)), Change::Written),
            Effect::Grown(new, _) => (Some(new), Some(copy_of(new)), Change::Grown),
            Effect::Number(word) => {
                let old = change.old.as_ref().unwrap();
                (Some(old), Some((old.kind(), word.to_le_bytes().to_vec(), old.meta().expiry)), Change::Number)
            }
        };
        if self.deaf_to == Some(kind) {
            return;
        }
        let record = record.unwrap();
        let mut copies = self.copies.lock().unwrap();
        let copy = copies.entry((record.table(), record.key())).or_default();
        assert!(copy.sequence < change.sequence, "changes of a key come in the order of their sequences");
        *copy = Copy { sequence: change.sequence, record: now };
    }
}

/// Threads change a small memory, which is cleaned for them all the time; then both sides are compared.
fn history(seed: u64, deaf_to: Option<Change>) -> Result<(), String> {
    let replica = Arc::new(Replica { deaf_to, ..Replica::default() });
    let options = Options { hook: Some(replica.clone()), writers: 2, cleaners: 1, ..tiny(80) };
    let memory = Memory::anonymous(&options).unwrap();
    thread::scope(|scope| {
        for number in 0..2 {
            let memory = &memory;
            scope.spawn(move || {
                let mut caller = Caller::new(Keys { count: 40, len_max: 1500 }, seed, number, || 0);
                for round in 0..1000 {
                    caller.change(memory);
                    if number == 0 && round % 400 == 399 {
                        caller.drop_table(memory);
                    }
                }
            });
        }
    });
    let copies = replica.copies.lock().unwrap();
    for table in TABLES.into_iter().chain([PARTS]) {
        let of_table =
            copies.range((table.number, OwnedKey::Integer(0))..).take_while(|((of, _), _)| *of == table.number);
        let mut wanted: Vec<_> =
            of_table.filter_map(|((_, key), copy)| Some((key.clone(), copy.record.clone()?))).collect();
        wanted.retain(|(_, (_, _, expiry))| expiry.is_none_or(|expiry| expiry > 1));
        let mut found: Vec<_> = everything(&memory, table).into_iter().collect();
        found.sort_by(|one, other| one.key.cmp(&other.key));
        let found: Vec<_> =
            found.into_iter().map(|item| (item.key, (item.meta.kind, item.value, item.meta.expiry))).collect();
        if wanted != found {
            return Err(format!(
                "table {}: {} records in the replica, {} there",
                table.number,
                wanted.len(),
                found.len()
            ));
        }
    }
    Ok(())
}

/// What a log sees: how many changes came at once, and of which sequences. `is_deaf` makes it miss the last
/// one of a group.
#[derive(Debug, Default)]
struct Log {
    groups: Mutex<Vec<Vec<u64>>>,
    is_deaf: bool,
}

impl CommitHook for Log {
    fn commit(&self, change: &Committed<'_>) {
        self.groups.lock().unwrap().push(vec![change.sequence]);
    }

    fn group(&self, changes: &[Committed<'_>]) {
        let heard = changes.len() - usize::from(self.is_deaf);
        self.groups.lock().unwrap().push(changes[..heard].iter().map(|change| change.sequence).collect());
    }
}

/// Commits batches of 1 to 20 keys, some of them with several operations. Gives which batch came as something
/// else than one group.
fn ungrouped(is_deaf: bool) -> Option<u64> {
    let log = Arc::new(Log { is_deaf, ..Log::default() });
    let memory = Memory::anonymous(&Options { hook: Some(log.clone()), ..tiny(80) }).unwrap();
    (1..20).find(|keys| {
        let operations: Vec<_> = (0..3 * keys).map(|at| (PLAIN, Key::Integer(at % keys))).collect();
        log.groups.lock().unwrap().clear();
        let put = |at: usize| memory::Change::Put { kind: 0, value: vec![at as u8; 100].into(), expiry: None };
        memory.batch(&operations, |at, _| Some(put(at))).unwrap().unwrap();
        // One that is refused is not seen.
        assert_eq!(memory.batch(&operations, |at, _| (at == 0).then(|| put(at))).unwrap(), None);
        let groups = log.groups.lock().unwrap();
        groups.len() != 1 || groups[0].len() as u64 != *keys || !groups[0].is_sorted_by(|one, next| one < next)
    })
}

#[test]
fn a_batch_comes_as_one_group() {
    assert_eq!(ungrouped(false), None);
}

/// A batch that is in the log by halves.
#[test]
fn canary_a_group_that_lacks_a_change_is_noticed() {
    assert_eq!(ungrouped(true), Some(1));
}

const SEEDS: std::ops::Range<u64> = 0..12;

#[test]
fn a_replica_that_sees_every_commit_has_every_record() {
    SEEDS.for_each(|seed| history(seed, None).unwrap_or_else(|complaint| panic!("seed {seed}: {complaint}")));
}

/// A later change of the same key may hide that one was missed: not in all of so many histories.
#[test]
fn canary_a_change_that_does_not_pass_the_commit_point_is_noticed() {
    for deaf_to in [Change::Removed, Change::Written, Change::Grown, Change::Number] {
        assert!((0..300).any(|seed| history(seed, Some(deaf_to)).is_err()), "{deaf_to:?} goes unnoticed");
    }
}
