//! Single promises at their edges.

use hammerspace_error::{Error, Kind, Result};
use hammerspace_sparkey::{
    Address, BLOCK_SIZE_MIN, Compression, Effort, Found, HashSize, Index, IndexOptions, KEY_LEN_MAX, Log, LogHeader,
    LogOptions, LogWriter, Table, build_index, update_index,
};
use std::cell::Cell;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::rc::Rc;

const COMPRESSIONS: [Compression; 3] = [Compression::None, Compression::Snappy, Compression::Zstd];

fn log_of(options: LogOptions, puts: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut writer = LogWriter::create(Cursor::new(Vec::new()), &options).unwrap();
    for (key, value) in puts {
        writer.put(key, value).unwrap();
    }
    writer.finish().unwrap().0.into_inner()
}

fn appended(log: Vec<u8>, puts: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut writer = LogWriter::append(Cursor::new(log)).unwrap();
    for (key, value) in puts {
        writer.put(key, value).unwrap();
    }
    writer.finish().unwrap().0.into_inner()
}

fn index_of(log: &[u8], hash_size: HashSize) -> Index<Vec<u8>> {
    let options = IndexOptions { hash_size: Some(hash_size), seed: Some(7) };
    Index::open(build_index(&Log::open(log).unwrap(), &options).unwrap()).unwrap()
}

fn table_of(log: Vec<u8>) -> Table<Vec<u8>, Vec<u8>> {
    let index = index_of(&log, HashSize::Four);
    Table::join(Log::open(log).unwrap(), index).unwrap()
}

#[test]
fn readers_are_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<Table<Vec<u8>, &[u8]>>();
    check::<hammerspace_sparkey::Entries<'_>>();
}

#[test]
fn one_and_three_keys_fill_their_tables_and_absent_keys_are_still_absent() {
    for keys in [&[&b"a"[..]][..], &[b"a", b"b", b"c"]] {
        let puts: Vec<_> = keys.iter().map(|key| (*key, &b"v"[..])).collect();
        let table = table_of(log_of(LogOptions::default(), &puts));
        assert_eq!((table.len(), table.index().header().hash_capacity), (keys.len() as u64, keys.len() as u64));
        for absent in 0..1000_u32 {
            assert_eq!(table.get(&absent.to_le_bytes()).unwrap(), None);
        }
    }
}

#[test]
fn empty_logs_keys_and_values() {
    for compression in COMPRESSIONS {
        let options = LogOptions { compression, ..LogOptions::default() };
        let table = table_of(log_of(options, &[]));
        assert!(table.is_empty() && table.get(b"").unwrap().is_none() && table.iter().next().is_none());
        assert_eq!(table.log().entries_from(Address::FIRST).unwrap().count(), 0);

        let table = table_of(log_of(options, &[(b"", b""), (b"k", b"")]));
        assert_eq!(table.len(), 2);
        for key in [&b""[..], b"k"] {
            assert_eq!(table.get(key).unwrap().as_deref(), Some(&b""[..]));
        }
    }
}

#[test]
fn lengths_around_every_vlq_step_in_blocks_around_them() {
    let lens = [0, 1, 126, 127, 128, 16_382, 16_383, 16_384];
    for compression in COMPRESSIONS {
        for block_size in [BLOCK_SIZE_MIN, 127, 128, 129, 16_384, 1 << 20] {
            // Values that do not compress, or blocks would all be tiny.
            let mut rng = fastrand::Rng::with_seed(block_size.into());
            let mut bytes = |len: usize| -> Vec<u8> { std::iter::repeat_with(|| rng.u8(..)).take(len).collect() };
            let pairs: Vec<_> = lens
                .iter()
                .flat_map(|key| lens.map(|value| (*key, value)))
                .map(|(k, v)| (bytes(k), bytes(v)))
                .collect();
            let puts: Vec<_> = pairs.iter().map(|(key, value)| (&key[..], &value[..])).collect();
            let table = table_of(log_of(LogOptions { compression, block_size }, &puts));
            let read: Vec<_> =
                table.log().entries().map(Result::unwrap).map(|entry| (entry.key, entry.value)).collect();
            assert!(read.iter().map(|(key, value)| (&key[..], &value[..])).eq(puts.iter().copied()));
            assert!(table.verify().is_clean());
            for (key, value) in puts.iter().filter(|(key, _)| key.len() > 1) {
                assert!(table.get(key).unwrap().as_deref() == Some(*value), "{compression:?}, blocks of {block_size}");
            }
        }
    }
}

#[test]
fn an_entry_that_fits_a_block_is_not_split() {
    let options = LogOptions { compression: Compression::Snappy, block_size: 100 };
    let value = [b'v'; 60];
    let log = log_of(options, &[(b"a", &value), (b"b", &value), (b"c", &[b'w'; 200]), (b"d", b"")]);
    let log = Log::open(log).unwrap();
    let addresses: Vec<Address> = log.entries().map(|entry| entry.unwrap().address).collect();
    // "a" and "b" have a block each; "c" fits none, so it starts behind "b", and "d" may not follow it in its last.
    assert_eq!(addresses.iter().map(|address| address.index).collect::<Vec<_>>(), [0, 0, 1, 0]);
    assert!(addresses.is_sorted() && addresses[0] == Address::FIRST);
    assert_eq!(addresses[1].offset, addresses[2].offset);
}

#[test]
fn keys_longer_than_the_format_knows_are_refused() {
    // Zeroed memory that nobody touches.
    let key = vec![0; KEY_LEN_MAX + 1];
    let mut writer = LogWriter::create(Cursor::new(Vec::new()), &LogOptions::default()).unwrap();
    assert_eq!(writer.put(&key, b"").unwrap_err().kind(), Kind::Invalid);
    assert_eq!(writer.delete(&key).unwrap_err().kind(), Kind::Invalid);
    assert!(writer.is_empty());
}

#[test]
fn block_sizes_that_cannot_hold_an_entrys_lengths_are_refused() {
    for (compression, block_size) in [(Compression::Snappy, BLOCK_SIZE_MIN - 1), (Compression::Zstd, 1 << 31)] {
        let refused = LogWriter::create(Cursor::new(Vec::new()), &LogOptions { compression, block_size });
        assert_eq!(refused.err().unwrap().kind(), Kind::Invalid);
    }
    let plain = LogOptions { compression: Compression::None, block_size: 0 };
    assert!(LogWriter::create(Cursor::new(Vec::new()), &plain).is_ok());
}

#[test]
fn until_a_flush_readers_see_what_was_there_before() {
    let mut file = Vec::new();
    let mut writer = LogWriter::create(Cursor::new(&mut file), &LogOptions::default()).unwrap();
    writer.put(b"k", &vec![0; 5 << 20]).unwrap();
    drop(writer);
    assert!(file.len() >= 4 << 20, "large values do not wait in memory");
    assert_eq!(Log::open(&file).unwrap().entries().count(), 0);

    let mut writer = LogWriter::append(Cursor::new(&mut file)).unwrap();
    writer.put(b"k", b"v").unwrap();
    writer.flush().unwrap();
    writer.put(b"l", b"w").unwrap();
    drop(writer);
    assert_eq!(Log::open(&file).unwrap().entries().count(), 1);
}

/// A sink that becomes so long and no longer, the last bytes of which come in the midst of a write.
struct Full(Cursor<Vec<u8>>, Rc<Cell<usize>>);

impl Full {
    fn with(room: usize) -> (Self, Rc<Cell<usize>>) {
        let room = Rc::new(Cell::new(room));
        (Self(Cursor::new(Vec::new()), Rc::clone(&room)), room)
    }
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.1.get().saturating_sub(self.0.position() as usize);
        let taken = bytes.len().min(left);
        if taken == 0 && !bytes.is_empty() {
            return Err(io::Error::from_raw_os_error(28));
        }
        self.0.write(&bytes[..taken])
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Full {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

impl Read for Full {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

/// Of all lengths up to some MiB, short and long ones in turn.
fn values() -> Vec<Vec<u8>> {
    let noise = noise();
    let len = |at: usize| if at % 5 == 4 { 700_000 + at * 100_000 } else { at * 1000 };
    (0..30).map(|at| noise[at..at + len(at)].to_vec()).collect()
}

fn log_with(sink: Full, compression: Compression, mut attempt: impl FnMut(&mut dyn FnMut() -> Result<()>)) -> Vec<u8> {
    let options = LogOptions { compression, ..LogOptions::default() };
    let mut writer = LogWriter::create_with_identifier(sink, &options, 7).unwrap();
    for (at, value) in values().iter().enumerate() {
        let key = [at as u8; 40];
        attempt(&mut || writer.put(&key, value));
        if at % 7 == 0 {
            attempt(&mut || writer.flush());
            attempt(&mut || writer.delete(&key));
        }
    }
    attempt(&mut || writer.flush());
    writer.finish().unwrap().0.0.into_inner()
}

#[test]
fn what_a_full_disk_refused_can_be_tried_again() {
    for compression in COMPRESSIONS {
        let (vast, _) = Full::with(usize::MAX);
        let expected = log_with(vast, compression, |work| work().unwrap());
        let (sink, room) = Full::with(1000);
        let mut refused = 0;
        let log = log_with(sink, compression, |work| {
            while let Err(error) = work() {
                assert_eq!(error.kind(), Kind::Full);
                refused += 1;
                room.set(room.get() + 50_000 * (refused % 9));
            }
        });
        assert!(log == expected, "{compression:?}: not the log that a disk with room gets");
        assert!(refused > 30, "{compression:?}: only {refused} were refused");
    }
}

/// Whoever does not try again has put nothing.
#[test]
fn what_a_full_disk_refused_is_not_in_the_log() {
    let (sink, room) = Full::with(3 << 20);
    let mut writer = LogWriter::create(sink, &LogOptions::default()).unwrap();
    writer.put(b"before", b"1").unwrap();
    assert_eq!(writer.put(b"key", &noise()).unwrap_err().kind(), Kind::Full);
    room.set(usize::MAX);
    writer.put(b"after", b"2").unwrap();
    let log = Log::open(writer.finish().unwrap().0.0.into_inner()).unwrap();
    let keys: Vec<_> = log.entries().map(|entry| entry.unwrap().key.into_owned()).collect();
    assert_eq!(keys, [&b"before"[..], b"after"]);
    assert_eq!(log.header().num_puts, 2);
}

/// 5 MiB that no codec makes shorter.
fn noise() -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(5);
    std::iter::repeat_with(|| rng.u8(..)).take(5 << 20).collect()
}

#[test]
fn what_was_put_before_the_disk_was_full_is_not_published() {
    for compression in [Compression::None, Compression::Snappy, Compression::Zstd] {
        let options = LogOptions { compression, ..LogOptions::default() };
        let (disk, _) = Full::with(3 << 20);
        let mut writer = LogWriter::create(disk, &options).unwrap();
        // What is compressed waits for the disk, and the next one says so.
        let outcome = writer.put(b"key", &noise()).and_then(|()| writer.put(b"key", b"value"));
        assert_eq!(outcome.unwrap_err().kind(), Kind::Full, "{compression:?}");
        assert_eq!(writer.flush().is_err(), compression != Compression::None, "{compression:?}: what waits");
        let log = writer.sink().0.get_ref();
        assert!(log.len() > 1 << 20, "{compression:?}: large values do not wait in memory");
        assert_eq!(Log::open(log).unwrap().entries().count(), 0);
    }
}

#[test]
fn a_short_log_cannot_be_appended_to() {
    let log = log_of(LogOptions::default(), &[(b"key", b"value")]);
    for len in [0, 83, log.len() - 1] {
        let error = LogWriter::append(Cursor::new(log[..len].to_vec())).err().unwrap();
        assert_eq!(error.kind(), Kind::Corrupt);
    }
}

#[test]
fn one_new_key_leaves_the_table_where_it_is_and_many_make_a_larger_one() {
    let keys: Vec<[u8; 4]> = (0..2000_u32).map(u32::to_le_bytes).collect();
    let puts: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &key[..])).collect();
    let mut log = log_of(LogOptions::default(), &puts[..1000]);
    let first = index_of(&log, HashSize::Eight);
    assert_eq!(first.header().hash_capacity, 1301);

    log = appended(log, &puts[1000..1001]);
    let options = IndexOptions::default();
    let second = Index::open(update_index(&Log::open(&log[..]).unwrap(), &first, &options).unwrap()).unwrap();
    assert_eq!((second.header().hash_capacity, second.header().num_entries), (1301, 1001));
    let size = second.header().slot_size();
    let changed = first.bytes()[112..].chunks(size).zip(second.bytes()[112..].chunks(size)).filter(|(a, b)| a != b);
    assert!(changed.count() < 50, "a copy with one key more");

    log = appended(log, &puts[1001..]);
    let third = Index::open(update_index(&Log::open(&log[..]).unwrap(), &second, &options).unwrap()).unwrap();
    assert_eq!((third.header().hash_capacity, third.header().num_entries), (3201, 2000));
    assert_eq!((third.header().hash_seed, third.header().hash_size), (7, HashSize::Eight));

    let same = update_index(&Log::open(&log[..]).unwrap(), &third, &options).unwrap();
    assert!(same == third.bytes(), "nothing new, nothing changed");
}

#[test]
fn an_index_of_another_log_is_refused() {
    let (log, other) = (log_of(LogOptions::default(), &[]), log_of(LogOptions::default(), &[]));
    let index = index_of(&other, HashSize::Four);
    let log = Log::open(log).unwrap();
    assert_eq!(update_index(&log, &index, &IndexOptions::default()).unwrap_err().kind(), Kind::Corrupt);
    assert_eq!(Table::join(log, index).err().unwrap().kind(), Kind::Corrupt);
}

#[test]
fn an_index_of_a_longer_log_is_refused() {
    let log = log_of(LogOptions::default(), &[(b"k", b"v")]);
    let index = index_of(&appended(log.clone(), &[(b"l", b"w")]), HashSize::Four);
    let log = Log::open(log).unwrap();
    assert!(update_index(&log, &index, &IndexOptions::default()).is_err());
    assert!(Table::join(log, index).is_err());
}

#[test]
fn found_values_lie_where_they_say() {
    let table = table_of(log_of(LogOptions::default(), &[(b"key", b"value")]));
    let Some(Found::Mapped(range)) = table.find(b"key").unwrap() else { panic!("not compressed, so mapped") };
    assert_eq!(&table.log().bytes()[range], b"value");

    let options = LogOptions { compression: Compression::Zstd, block_size: 10 };
    let table = table_of(log_of(options, &[(b"key", b"a value in several blocks")]));
    assert_eq!(table.find(b"key").unwrap(), Some(Found::Decoded(b"a value in several blocks"[..].into())));
}

/// Keys around the lengths that are compared as integers, keys and values around those that go the straight way; and beside each
/// key, one that differs in its last byte and is absent.
#[test]
fn every_way_to_look_up_gives_the_same() {
    let keys: Vec<Vec<u8>> = [1, 7, 8, 9, 15, 16, 17, 125, 126, 127, 128, 16_384].map(|len| vec![b'k'; len]).into();
    let values = [0, 1, 127, 128, 16_383, 16_384];
    for hash_size in [HashSize::Four, HashSize::Eight] {
        for value_len in values {
            let puts: Vec<_> = keys.iter().map(|key| (key.clone(), vec![key.len() as u8; value_len])).collect();
            let log = log_of(LogOptions::default(), &puts.iter().map(|(k, v)| (&k[..], &v[..])).collect::<Vec<_>>());
            let table = Table::join(Log::open(log.clone()).unwrap(), index_of(&log, hash_size)).unwrap();
            for (key, value) in &puts {
                let mut absent = key.clone();
                *absent.last_mut().unwrap() = b'l';
                let many = table.get_many(&[key, &absent]).unwrap();
                assert_eq!(many, [Some((&value[..]).into()), None], "{} {value_len}", key.len());
                assert_eq!(table.get(key).unwrap().as_deref(), Some(&value[..]));
                assert_eq!(table.get_with(key, |shown| shown == value).unwrap(), Some(true));
                let Some(Found::Mapped(range)) = table.find(key).unwrap() else { panic!("not compressed, so mapped") };
                assert_eq!(&log[range], value);
                assert!(table.contains(key).unwrap() && !table.contains(&absent).unwrap());
                assert_eq!(table.get(&absent).unwrap(), None);
            }
        }
    }
}

#[test]
fn errors_name_the_file_they_are_about() {
    let mut log = log_of(LogOptions::default(), &[(b"key", b"value")]);
    let mut index = index_of(&log, HashSize::Four).into_inner();
    let join = |log: &[u8], index: &[u8]| {
        let (log, index) = (Log::open(log.to_vec()).unwrap(), Index::open(index.to_vec()).unwrap());
        Table::join(log.named("fruits.spl"), index.named("fruits.spi")).unwrap()
    };
    let table = join(&log, &index);
    // The address of the only slot.
    index[116] = 200;
    let error = join(&log, &index).get(b"key").unwrap_err();
    assert_eq!(error.path(), Some("fruits.spi".as_ref()), "{error}");
    assert_eq!(error.offset(), Some(112));

    // The value's length.
    log[LogHeader::SIZE + 1] = 100;
    let table = join(&log, table.index().bytes());
    for error in [table.get(b"key").unwrap_err(), table.iter().next().unwrap().unwrap_err()] {
        assert_eq!(error.path(), Some("fruits.spl".as_ref()), "{error}");
        assert_eq!(error.offset(), Some(84));
    }
}

#[test]
fn verify_bounds_its_list_and_counts_the_rest() {
    let keys: Vec<[u8; 4]> = (0..300_u32).map(u32::to_le_bytes).collect();
    let puts: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &key[..])).collect();
    let log = log_of(LogOptions::default(), &puts);
    let mut index = index_of(&log, HashSize::Four).into_inner();
    index[112..].fill(0);
    let report = Table::open(log, index).unwrap().verify();
    assert_eq!(report.findings.len(), hammerspace_sparkey::Report::FINDINGS_MAX);
    assert!(report.count >= 300, "every key is missing: {}", report.count);
}

/// Five slots for entries at 84 "a" (dead), 88 "b" (dead), 92 "a", 96 delete "b", 99 "c"; "a" and "c" live.
#[test]
fn verify_says_what_is_wrong_with_an_index() {
    let mut writer = LogWriter::create(Cursor::new(Vec::new()), &LogOptions::default()).unwrap();
    for key in [b"a", b"b", b"a"] {
        writer.put(key, b"1").unwrap();
    }
    writer.delete(b"b").unwrap();
    writer.put(b"c", b"3").unwrap();
    let log = writer.finish().unwrap().0.into_inner();
    let sound = index_of(&log, HashSize::Four).into_inner();
    let slot_of =
        |address: u32| (112..152).step_by(8).find(|at| sound[at + 4..at + 8] == address.to_le_bytes()).unwrap();
    let (a, c) = (slot_of(92), slot_of(99));
    let hash = u32::from_le_bytes(sound[a..a + 4].try_into().unwrap());
    let set = |at: usize, value: u32| (at, value.to_le_bytes());

    for (change, finding) in [
        (set(a + 4, 84), "points to log offset 84, entry 0, a put that a later entry overwrote"),
        (set(a + 4, 84), "finds the live put at log offset 92, entry 0"),
        (set(a + 4, 96), "points to log offset 96, entry 0, a delete"),
        (set(a + 4, 99), "a put whose key has the hash"),
        (set(a + 4, 93), "points to log offset 93, entry 0, where no entry can be read"),
        (set(a + 4, 500), "points to log offset 500, outside the data from 84 to 103"),
        (set(c + 4, 0), "finds the live put at log offset 99, entry 0"),
        (set(c + 4, 0), "the header's num_entries is 2, but the table makes it 1"),
        (set(a, hash + 1), "from home where at most"),
        (set(52, 7), "the header's garbage_size is 7, but dead puts take 8"),
        (set(104, 9), "the header's total_displacement is 9, but the table makes it"),
        (set(44, 3), "the header's num_puts is 3, but the log makes it 4"),
    ] {
        let ((at, bytes), mut index) = (change, sound.clone());
        index[at..at + 4].copy_from_slice(&bytes);
        let findings = Table::open(&log[..], index).unwrap().verify().findings;
        let said = findings.iter().any(|error| error.finding().contains(finding));
        assert!(said, "{finding:?} is not among {findings:?}");
    }
}

/// A table of three slots with one key.
#[test]
fn verify_sees_a_key_that_has_two_slots() {
    let log = log_of(LogOptions::default(), &[(b"a", b"1"), (b"a", b"2")]);
    let mut index = index_of(&log, HashSize::Four).into_inner();
    let slots = &mut index[112..].as_chunks_mut::<8>().0;
    let at = (0..3).find(|at| slots[*at] != [0; 8]).unwrap();
    slots[(at + 1) % 3] = slots[at];
    let report = Table::open(log, index).unwrap().verify();
    let doubled = report.findings.iter().filter(|finding| finding.finding().contains("does already")).count();
    assert_eq!(doubled, 1, "{:?}", report.findings);
}

#[test]
fn verify_bears_a_table_that_is_too_small() {
    let log = log_of(LogOptions::default(), &[(b"a", b"1"), (b"b", b"2")]);
    let mut index = index_of(&log, HashSize::Four).into_inner();
    // num_entries, hash_capacity.
    (index[60], index[76]) = (1, 1);
    let report = Table::open(log, index).unwrap().verify();
    let few = report.findings.iter().any(|finding| finding.finding() == "1 slots are too few for the log's live keys");
    assert!(few, "{:?}", report.findings);
}

/// Ten bytes of memory are as little as none.
#[test]
fn an_error_of_the_scratch_is_no_finding() {
    let log = log_of(LogOptions::default(), &[(b"a", b"1")]);
    let table = Table::open(&log[..], index_of(&log, HashSize::Four).into_inner()).unwrap();
    let effort = Effort { memory: 10, threads: None };
    let full = || Err::<Cursor<Vec<u8>>, _>(Error::new(Kind::Full, "the disk is full"));
    assert_eq!(table.verify_within(&effort, full).unwrap_err().kind(), Kind::Full);
    assert!(table.verify_within(&Effort::default(), full).unwrap().is_clean(), "a small table needs no scratch");
}

#[test]
fn verify_says_what_is_wrong_with_a_log() {
    let mut sound = log_of(LogOptions::default(), &[(b"a", b"1"), (b"b", b"")]);
    sound.extend_from_slice(b"ignored");
    for (at, value, finding) in [
        (16, 3, "the header's num_puts is 3, but the entries make it 2"),
        (32, 90, "a Put of 3 bytes starts here, but the data ends at 90"),
        (40, 0, "the header's max_key_len is 0, but the entries make it 1"),
        (48, 2, "the header's max_value_len is 2, but the entries make it 1"),
        (56, 1, "the header's delete_size is 1, but the entries make it 0"),
        (72, 8, "the header's put_size is 8, but the entries make it 7"),
    ] {
        let mut log = sound.clone();
        log[at] = value;
        let findings = Log::open(log).unwrap().verify().findings;
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].finding(), finding);
    }
}

#[test]
fn a_table_whose_addresses_have_become_too_narrow_is_made_anew() {
    let mut writer =
        LogWriter::create(Cursor::new(Vec::new()), &LogOptions { compression: Compression::Zstd, block_size: 1 << 18 })
            .unwrap();
    for _ in 0..100 {
        writer.put(b"k", b"v").unwrap();
    }
    for _ in 0..40_000 {
        writer.delete(b"x").unwrap();
    }
    let log = writer.finish().unwrap().0.into_inner();
    let old = index_of(&log, HashSize::Four);
    assert_eq!((old.header().entry_block_bits, old.header().address_size), (16, 4));

    let mut rng = fastrand::Rng::with_seed(1);
    let value: Vec<u8> = std::iter::repeat_with(|| rng.u8(..)).take(70_000).collect();
    let log = appended(log, &[(b"large", &value), (b"l", b"w")]);
    let log = Log::open(log).unwrap();
    let new = Index::open(update_index(&log, &old, &IndexOptions::default()).unwrap()).unwrap();
    assert_eq!((new.header().entry_block_bits, new.header().address_size), (16, 8));
    assert!(Table::join(log, new).unwrap().verify().is_clean());
}

#[test]
fn the_keys_of_deletes_count_as_long_keys() {
    let mut writer = LogWriter::create(Cursor::new(Vec::new()), &LogOptions::default()).unwrap();
    writer.put(b"k", b"value").unwrap();
    writer.delete(b"longer").unwrap();
    let header = writer.finish().unwrap().1;
    assert_eq!((header.max_key_len, header.max_value_len), (6, 5));
}

#[test]
fn a_log_with_more_puts_than_its_header_counts_gets_no_index() {
    let mut log = log_of(LogOptions::default(), &[(b"a", b"1"), (b"b", b"2"), (b"c", b"3")]);
    log[16] = 2;
    let error = build_index(&Log::open(log).unwrap(), &IndexOptions::default()).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (Kind::Corrupt, Some(92)));
}

/// A snappy log of just these blocks, whose header claims little.
fn log_of_blocks(blocks: &[&[u8]]) -> Vec<u8> {
    let mut header =
        LogHeader::parse(&log_of(LogOptions { compression: Compression::Snappy, block_size: 20 }, &[])).unwrap();
    let mut log = vec![0; LogHeader::SIZE];
    for block in blocks {
        let packed = snap::raw::Encoder::new().compress_vec(block).unwrap();
        log.push(packed.len() as u8);
        log.extend(packed);
    }
    (header.data_end, header.max_key_len, header.max_value_len) = (log.len() as u64, 5, 30);
    (header.delete_size, header.max_entries_per_block) = (40, 3);
    log[..LogHeader::SIZE].copy_from_slice(&header.encode());
    log
}

#[test]
fn the_rules_of_blocks_hold() {
    for (blocks, read, finding) in [
        (&[&b"\x02\x01k1\x02\x01l2"[..], b"\x00\x01k"][..], 3, ""),
        (&[b"\x02\x0ck12345", b"6789012"], 1, ""),
        (&[b"\x02\x0c", b"k12345", b"6", b"789012"], 1, ""),
        (&[b"\x02\x0ck12345", b"6789012\x02\x01l2"], 1, "holds more than the end of the entry that it continues"),
        (&[b"\x02", b"\x01k1"], 0, "ends within an entry's lengths"),
        (&[b"\x02\x0ck12345"], 0, "lacks 7 bytes"),
        (&[b"\x02\x01k1", b""], 1, "decodes to nothing"),
        (&[b"\x02\x01k1", b"\x02\x13k901234567890123456789"], 1, "past the log's block size 20"),
        (&[b"\x02\x1fk"], 0, "a Put claims key and value of 1 and 31 bytes"),
        (&[b"\x07\x00kkkkkk"], 0, "a Put claims key and value of 6 and 0 bytes"),
        (&[b"\x00\x28kkkkkk"], 0, "a Delete claims key and value of 40 and 0 bytes"),
        (&[b"\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"], 0, "no VLQ of 64 bits"),
    ] {
        let log = Log::open(log_of_blocks(blocks)).unwrap();
        let results: Vec<_> = log.entries().collect();
        let error = results.iter().find_map(|result| result.as_ref().err());
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), read, "{blocks:?}: {error:?}");
        assert_eq!(error.is_none(), finding.is_empty(), "{blocks:?}: {error:?}");
        assert!(error.is_none_or(|error| error.finding().contains(finding)), "{finding:?}: {error:?}");
    }
}

#[test]
fn addresses_without_an_entry_are_refused() {
    let log = Log::open(log_of_blocks(&[b"\x02\x01k1\x02\x01l2", b"\x00\x01k"])).unwrap();
    let second = log.entries().nth(2).unwrap().unwrap().address;
    let at =
        |offset, index| log.entries_from(Address { offset, index }).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    assert_eq!(at(84, 0).unwrap().len(), 3);
    assert_eq!(at(84, 1).unwrap().len(), 2);
    assert_eq!(at(second.offset, 0).unwrap().len(), 1);
    assert_eq!(at(log.header().data_end, 0).unwrap().len(), 0);
    for (offset, index) in
        [(84, 2), (84, u32::MAX), (83, 0), (0, 0), (85, 0), (log.header().data_end + 1, 0), (u64::MAX, 0)]
    {
        assert!(at(offset, index).is_err(), "offset {offset}, index {index}");
    }
    let plain = Log::open(log_of(LogOptions::default(), &[(b"k", b"1")])).unwrap();
    assert_eq!(plain.entries_from(Address { offset: 84, index: 1 }).err().unwrap().kind(), Kind::Invalid);
}

#[test]
fn padded_lengths_are_read() {
    let mut log = log_of(LogOptions::default(), &[(b"k", b"v")]);
    log.splice(84..86, [0x82, 0x80, 0x00, 0x81, 0x00]);
    let end = log.len() as u64;
    log[32..40].copy_from_slice(&end.to_le_bytes());
    let table = table_of(log);
    assert_eq!(table.get(b"k").unwrap().as_deref(), Some(&b"v"[..]));
}
