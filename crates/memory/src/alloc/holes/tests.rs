use super::*;
use crate::clean::victims::Victims;
use crate::index::bucket::HomeBucket;
use crate::index::directory::Place;
use crate::record::header::Traits;
use crate::record::key::Key;
use crate::sound::Memory;
use crate::sync::lock;
use crate::testing::fixture::{TABLE, small};
use crate::write::update::TableId;

/// Two segments are full of their values and closed, and a third is open.
const KEYS: u64 = 40;
const LEN: usize = LEAST as usize;
const OPEN: u64 = KEYS - 1;

fn put(memory: &Memory, table: TableId, key: u64, len: usize) {
    memory.put(table, Key::Integer(key), &vec![key as u8; len]).unwrap();
}

fn put_to_expire(memory: &Memory, key: u64, len: usize) {
    let never = u64::MAX >> 16;
    memory.put_until(TABLE, Key::Integer(key), &vec![key as u8; len], Some(never)).unwrap();
}

fn filled() -> Memory {
    let memory = small(64, 8 << 10);
    (0..KEYS).for_each(|key| put(&memory, TABLE, key, LEN));
    memory
}

fn record(memory: &Memory, table: TableId, key: u64) -> Record {
    let (region, hash) = (&memory.owner().region, memory.hash(table, Key::Integer(key)));
    let home = HomeBucket::new(region, Place::of(region, hash), hash);
    home.find(|_, slot| Some(Record::at(region, slot.address()))).unwrap()
}

fn address(memory: &Memory, key: u64) -> u64 {
    record(memory, TABLE, key).address
}

fn segment(memory: &Memory, key: u64) -> Segment<'_> {
    Segment::of(&memory.owner().region, address(memory, key)).unwrap()
}

fn holes(memory: &Memory) -> Vec<u64> {
    memory.owner().take_writer_slot().holes.classes.iter().flatten().map(|hole| hole.address).collect()
}

/// From here on there may be so many bytes more where records grow in holes.
fn allow(memory: &Memory, is_scarce: bool, more: u64) {
    let (owner, writer) = (memory.owner(), &mut memory.owner().take_writer_slot());
    writer.count(owner);
    writer.holes.allow_short(&owner.region, is_scarce);
    owner.growth_live_max.store(owner.live() + more, Relaxed);
}

/// Everything is counted as it is, and each key has its value.
fn check(memory: &Memory) {
    let report = memory.verify();
    assert_eq!((report.findings, report.miscounted), (Vec::new(), 0));
    check_values(memory);
}

fn check_values(memory: &Memory) {
    let mut value = Vec::new();
    for key in 0..KEYS {
        value.clear();
        assert!(memory.view().get(TABLE.number, Key::Integer(key), &mut value).unwrap().is_some(), "key {key}");
        assert!(value.iter().all(|byte| *byte == key as u8), "key {key}");
    }
}

#[test]
fn the_next_value_of_a_length_goes_where_the_last_was_replaced() {
    for len in [LEN, LEN + 8] {
        let memory = filled();
        let first = address(&memory, 0);
        put(&memory, TABLE, 0, len);
        assert_ne!(address(&memory, 0), first, "there was no hole yet");
        put(&memory, TABLE, 1, LEN);
        assert_eq!(address(&memory, 1), first, "whatever has replaced it");
        check(&memory);
    }
}

/// Or else readers of what lies beside them would have to begin anew each time.
#[test]
fn holes_of_one_segment_are_filled_one_by_one() {
    let memory = filled();
    let holes = [0, 1].map(|key| address(&memory, key));
    assert_eq!(segment(&memory, 0).number, segment(&memory, 1).number);
    put(&memory, TABLE, 0, LEN);
    put(&memory, TABLE, 1, LEN);
    assert_eq!(address(&memory, 1), holes[0]);
    put(&memory, TABLE, 2, LEN);
    assert_ne!(address(&memory, 2), holes[1], "so soon");
    for key in (0..).map(|at| 20 + at % 5).take_while(|_| address(&memory, 3) != holes[1]).take(60) {
        put(&memory, TABLE, key, LEN);
        put(&memory, TABLE, 3, LEN);
    }
    assert_eq!(address(&memory, 3), holes[1]);
    check(&memory);
}

/// Or else a generation would come again, as it was before another hole of the segment was filled.
#[test]
fn who_was_slow_fills_nothing() {
    let memory = filled().broken();
    let (segment, old) = (segment(&memory, 0), record(&memory, TABLE, 0));
    let hole = Hole { address: old.address, size: old.size, use_number: segment.use_number() };
    let stream = segment.claim_to_fill().unwrap();
    segment.refill(old.header, old.size, 6);
    segment.set_usage(SegmentState::Closed(stream));
    for (epoch, may) in [(5, false), (6, false), (7, true), (6 + (1 << 31), false)] {
        assert_eq!(Filling::begin(&memory.owner().region, &hole, epoch).is_some(), may, "{epoch}");
    }
}

#[test]
fn what_is_put_in_holes_is_counted_as_written() {
    let memory = filled();
    let written = || memory.view().usage().written + memory.owner().take_writer_slot().filled();
    let before = written();
    let puts = 4 * KEYS;
    (0..puts).for_each(|key| put(&memory, TABLE, key % KEYS, LEN));
    assert_eq!(written() - before, puts * (LEN as u64 + 16));
    assert!(memory.view().usage().written > before + 4096 && memory.owner().take_writer_slot().filled() < 512);
    assert!(
        (0..memory.view().usage().closed >> 13).any(|at| Segment::new(&memory.owner().region, at).last_refill() > 0)
    );
}

/// Or else those of long values would share a few, and be looked for in vain among each other.
#[test]
fn sizes_in_steps_of_any_granule_spread_over_all_classes() {
    for granule in (0..11).map(|shift| WORD << shift) {
        let classes: std::collections::BTreeSet<usize> = (1..=CLASSES as u64).map(|n| class_of(n * granule)).collect();
        assert_eq!(classes.len(), CLASSES, "{granule}");
    }
}

/// As damage can make of it, after it was noted.
#[test]
fn what_is_no_record_of_the_size_any_more_is_not_filled() {
    let memory = filled().broken();
    let (region, segment, old) = (&memory.owner().region, segment(&memory, 0), record(&memory, TABLE, 0));
    let hole = Hole { address: old.address, size: old.size, use_number: segment.use_number() };
    let may_be_filled = || Filling::begin(region, &hole, 99).is_some();
    assert!(may_be_filled());
    region.store(old.address, old.header.0 ^ 1 << 8);
    assert!(!may_be_filled(), "it is longer");
    region.store(old.address, old.header.0);
    segment.set_used(old.address - segment.start() + old.size - 8);
    assert!(!may_be_filled(), "it ends where nothing was written");
}

#[test]
fn shorter_records_and_those_of_open_segments_leave_no_holes() {
    let memory = filled();
    for (len, count) in [(LEN - 24, 1), (LEN - 24, 1), (LEN - 16, 1), (LEN - 16, 2)] {
        put(&memory, TABLE, 0, len);
        assert_eq!(holes(&memory).len(), count);
    }
    let hole = address(&memory, OPEN);
    put(&memory, TABLE, OPEN, LEN);
    put(&memory, TABLE, OPEN, LEN);
    assert_ne!(address(&memory, OPEN), hole);
    check(&memory);
}

/// There would be more and more of them at the live cap, until nothing is dead.
#[test]
fn what_is_new_or_longer_goes_to_holes_by_the_allowance() {
    let size = LEN as u64 + 16;
    for (more, is_filled) in [(0, false), (size - 1, false), (size, true)] {
        let memory = filled();
        let hole = address(&memory, 0);
        put(&memory, TABLE, 0, LEN);
        allow(&memory, false, more);
        put(&memory, TABLE, KEYS, LEN);
        assert_eq!(address(&memory, KEYS) == hole, is_filled, "new, {more}");
        check(&memory);
    }
    for (more, is_filled) in [(7, false), (8, true)] {
        let memory = filled();
        let hole = address(&memory, 1);
        put(&memory, TABLE, 1, LEN - 8);
        allow(&memory, false, more);
        put(&memory, TABLE, 1, LEN);
        assert_eq!(address(&memory, 1) == hole, is_filled, "longer, {more}");
    }
}

#[test]
fn short_records_leave_and_fill_holes_where_memory_is_scarce() {
    let memory = small(64, 8 << 10);
    (0..2 * KEYS).for_each(|key| put(&memory, TABLE, key, 200));
    // That has a head now for what lives shortly.
    put(&memory, TABLE, 2, 200);
    for (is_scarce, key) in [(false, 3), (true, 5)] {
        allow(&memory, is_scarce, 0);
        let hole = address(&memory, key);
        put(&memory, TABLE, key, 200);
        assert_eq!(holes(&memory).len(), usize::from(is_scarce));
        put(&memory, TABLE, key + 1, 200);
        assert_eq!(address(&memory, key + 1) == hole, is_scarce);
    }
    check(&memory);
}

/// A segment of 8 KiB gets one in as many bytes, so 64 of them get 64: that is a third of the records of 43
/// bytes.
#[test]
fn the_shortest_records_look_for_no_holes_where_segments_are_few() {
    let memory = small(64, 8 << 10);
    allow(&memory, true, 0);
    let is_for = |len| {
        let header = Header::new(1, Key::Integer(1), len, &Traits::default());
        memory.owner().take_writer_slot().holes.are_for(header, header.size())
    };
    assert_eq!([16, 24, 32].map(is_for), [false, false, true]);
}

/// As lists grow by one element: each goes to where one as long was before it grew.
#[test]
fn what_is_appended_to_leaves_a_hole_and_fills_one() {
    let memory = small(64, 8 << 10);
    // As much as 216 bytes take that have grown.
    let lens = |key: u64| if key < KEYS { 200 } else { 224 };
    (0..2 * KEYS).for_each(|key| put(&memory, TABLE, key, lens(key)));
    let append = |key| memory.append(TABLE, Key::Integer(key), 0, &[key as u8; 16]).unwrap();
    // That has a head now for what lives shortly.
    append(1);
    allow(&memory, true, 1 << 10);
    let hole = address(&memory, KEYS);
    append(KEYS);
    assert_eq!(holes(&memory), [hole]);
    append(0);
    assert_eq!(address(&memory, 0), hole);
    check(&memory);
}

#[test]
fn what_expires_leaves_no_hole_and_fills_none() {
    let memory = filled();
    let first = address(&memory, 0);
    for why in ["it was put for good", "it expired"] {
        put_to_expire(&memory, 0, LEN);
        assert_eq!(holes(&memory), [first], "{why}");
    }
    let hole = address(&memory, 1);
    put(&memory, TABLE, 1, LEN);
    put_to_expire(&memory, 2, LEN - 8);
    assert_ne!(address(&memory, 2), hole, "though it is as long");
    assert_eq!(record(&memory, TABLE, 2).header.size(), record(&memory, TABLE, 1).header.size());
    check(&memory);
}

#[test]
fn the_last_holes_of_a_class_are_remembered_and_no_more() {
    // All of them lie in an open segment, which nobody fills.
    let memory = small(64, 1 << 20);
    let addresses: Vec<u64> = (0..MOST as u64 + 2)
        .map(|key| {
            put(&memory, TABLE, key, LEN);
            let first = address(&memory, key);
            put(&memory, TABLE, key, LEN);
            first
        })
        .collect();
    assert_eq!(holes(&memory), addresses[2..]);
}

/// A damaged length would have the next record of that length written over what lies behind.
#[test]
fn a_length_that_only_the_record_claims_is_not_believed() {
    let memory = filled().broken();
    let (region, old) = (&memory.owner().region, record(&memory, TABLE, 0));
    region.store(old.address, old.header.0 ^ 1 << 8);
    let claimed = old.header.value_len() ^ 1 << 8;
    assert!(claimed > LEN);
    put(&memory, TABLE, 0, LEN);
    put(&memory, TABLE, 1, claimed);
    put(&memory, TABLE, 1, claimed);
    assert_ne!(address(&memory, 1), old.address);
    check_values(&memory);
}

#[test]
fn a_length_of_a_record_that_grows_is_believed_if_another_begins_behind() {
    for damage in [0, 1 << 6] {
        let memory = small(64, 8 << 10);
        let memory = if damage == 0 { memory } else { memory.broken() };
        (0..2 * KEYS).for_each(|key| put(&memory, TABLE, key, 200));
        memory.append(TABLE, Key::Integer(2), 0, b"a head for what lives shortly").unwrap();
        allow(&memory, true, 1 << 10);
        let (region, old) = (&memory.owner().region, record(&memory, TABLE, 0));
        region.store(old.address, old.header.0 ^ damage);
        memory.append(TABLE, Key::Integer(0), 0, &[0; 16]).unwrap();
        assert_eq!(holes(&memory).len(), usize::from(damage == 0));
    }
}

/// Zeros look like the record of an empty key in table 0.
#[test]
fn a_length_is_not_believed_where_zeros_follow() {
    let memory = small(64, 8 << 10).broken();
    let table = TableId { number: 0, is_versioned: false };
    let put = |key, len| assert!(memory.put(table, Key::Integer(key), &vec![0; len]).is_ok());
    (0..KEYS).for_each(|key| put(key, LEN));
    let (region, old) = (&memory.owner().region, record(&memory, table, 0));
    region.store(old.address, old.header.0 ^ 1 << 6);
    put(0, LEN);
    assert!(holes(&memory).is_empty());
    let other = record(&memory, table, 1).address;
    put(1, LEN + 8);
    assert_eq!(holes(&memory), [other]);
}

#[test]
fn a_hole_goes_with_the_use_of_its_segment() {
    let memory = filled().broken();
    let owner = memory.owner();
    put(&memory, TABLE, 0, LEN);
    let class = class_of(record(&memory, TABLE, 0).header.size());
    let hole = owner.take_writer_slot().holes.classes[class].pop_back().unwrap();
    while memory.clean().unwrap() {}
    let segment = Segment::of(&owner.region, hole.address).unwrap();
    lock(&owner.pool).free.retain(|free| *free != segment.number);
    segment.begin(SegmentState::Closed(Stream::LONG), 0);
    segment.set_used(8 << 10);
    assert!(Filling::begin(&owner.region, &hole, 99).is_none());
    assert!(segment.closed().is_some(), "and nobody has claimed it");
    owner.take_writer_slot().holes.classes[class].push_back(hole);
    put(&memory, TABLE, 1, LEN);
    assert!(
        !owner.take_writer_slot().holes.classes[class].iter().any(|hole| hole.address == segment.start()),
        "forgotten"
    );
}

/// A cleaner waits for who fills a hole: that may be in the one segment that is worth a pass.
#[test]
fn a_segment_that_is_being_filled_is_worth_a_pass() {
    let memory = filled();
    let segment = segment(&memory, 0);
    (0..10).for_each(|key| put(&memory, TABLE, key, 0));
    let stream = segment.claim_to_fill().unwrap();
    assert!(segment.claim_to_fill().is_none());
    let found = std::thread::scope(|scope| {
        let cleaner = scope.spawn(|| {
            let mut victims = Victims::default();
            victims.claim(&memory.owner().region, 1 << 20).map(|(segment, stream)| (segment.number, stream))
        });
        std::thread::sleep(std::time::Duration::from_millis(50));
        segment.set_usage(SegmentState::Closed(stream));
        cleaner.join().unwrap()
    });
    assert_eq!(found, Some((segment.number, stream)));
    assert!(!segment.is_full() && segment.claim().is_none());
}

/// Damage can make a segment look as if somebody were at it.
#[test]
fn what_nobody_fills_is_left_alone_in_the_end() {
    let memory = filled();
    let segment = segment(&memory, 0);
    segment.claim_to_fill().unwrap();
    assert_eq!(segment.claim(), None);
    assert!(!segment.is_full());
}

/// What a segment is asked for by its usage table it must know of the record that came late.
#[test]
fn a_table_is_found_whose_records_are_in_holes() {
    let memory = filled();
    let other = TableId { number: 2, is_versioned: false };
    put(&memory, other, 100, LEN + 8);
    put(&memory, TABLE, 0, LEN);
    let holes = holes(&memory);
    put(&memory, other, 100, LEN);
    assert_eq!([record(&memory, other, 100).address], *holes);
    memory.drop_table(other.number).unwrap();
    while memory.clean().unwrap() {}
    assert!(!memory.is_dropping(other.number));
    check(&memory);
}
