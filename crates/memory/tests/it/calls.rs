//! Reading makes no system call: a process that the kernel ends for any but `read` and `write` reads all the
//! same, and says what.

use std::io::{Read, Write, pipe};

use hammerspace_memory::{Cursor, Item, Key, Options, Reader, View};
use hammerspace_os::process::fork::{fork, read_and_write_only};

use crate::model::{PLAIN, VERSIONED, tiny};
use crate::sound::Memory;

const KEYS: u64 = 300;
const LONG: Key<'_> = Key::Bytes(b"long");
const LONG_LEN: usize = 100_000;

/// Reads in every way there is, and counts the bytes of all values. Buffers are as large as they have to be
/// the second time.
fn read_all(view: View<'_>, keys: &[Key<'_>], value: &mut Vec<u8>, items: &mut Vec<Item>) -> u64 {
    let mut count = 0;
    // What a scan gives has memory of its own, which for a long value the allocator may ask the kernel for.
    for (table, key) in keys.iter().map(|key| (PLAIN, *key)).chain([(VERSIONED, LONG)]) {
        value.clear();
        let is_there = view.get(table.number, key, value).unwrap().is_some();
        assert!(is_there || value.is_empty());
        count += value.len();
    }
    view.get_many(PLAIN.number, keys, |_, found| count += found.map_or(0, |(_, value)| value.len())).unwrap();
    items.clear();
    let mut next = Some(Cursor::START);
    while let Some(cursor) = next {
        next = view.scan(PLAIN.number, cursor, 10, items).unwrap();
    }
    (count + items.iter().map(|item| item.value.len()).sum::<usize>()) as u64
}

/// What such a process says that it has read, if it lived to say it. It does something else before.
fn told(also: impl FnOnce()) -> Option<u64> {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = scratch.path().join("store");
    let geometry = hammerspace_memory::Geometry { segment_size: 256 << 10, segments_max: 64, buckets: 4 };
    let options = Options { geometry: Some(geometry), limit: 64 * geometry.segment_size, ..tiny(0) };
    let options = Options { region: Some(scratch.path().to_path_buf()), ..options };
    let memory = Memory::create(&path, &options).unwrap();
    for key in 0..KEYS {
        memory.put(PLAIN, Key::Integer(key), &[7; 100]).unwrap();
    }
    memory.put(VERSIONED, LONG, &vec![7; LONG_LEN]).unwrap();
    let (mut ours, mut theirs) = pipe().unwrap();
    let child = fork(move || {
        let reader = Reader::attach(&path).unwrap();
        // Every other one is there.
        let keys: Vec<Key<'_>> = (0..2 * KEYS).map(Key::Integer).collect();
        let (mut value, mut items) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            read_all(reader.view(), &keys, &mut value, &mut items);
        }
        read_and_write_only();
        let count = read_all(reader.view(), &keys, &mut value, &mut items);
        also();
        theirs.write_all(&count.to_le_bytes()).unwrap();
        0
    });
    assert_eq!(child.wait(), None, "to end is a system call too");
    let mut said = Vec::new();
    ours.read_to_end(&mut said).unwrap();
    said.try_into().ok().map(u64::from_le_bytes)
}

#[test]
fn reading_makes_no_system_call() {
    let short = KEYS * 100;
    assert_eq!(told(|| {}), Some(3 * short + LONG_LEN as u64));
}

#[test]
fn canary_one_system_call_is_noticed() {
    assert_eq!(told(|| assert_ne!(std::process::id(), 0)), None);
}
