//! A damaged region: whoever reads it or owns it gets answers or clear errors, soon, and nobody panics.
//!
//! Words of every part of a region are overwritten at random. Then it is read, owned, written to, cleaned and
//! verified, and owned once more. What comes of that is anybody's guess, as it may be with damaged data; that
//! it comes to an end is not.

use std::path::Path;
use std::sync::Once;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, panic, thread};

use fastrand::Rng;
use hammerspace_error::{Kind, Result};
// The users' own, and not that of `sound.rs`: what is wrong in the end is anybody's guess.
use hammerspace_memory::{Cursor, Geometry, Key, Memory, Options, Reader, View};
use hammerspace_os::{Access, File, Shared};
use tempfile::TempDir;

use crate::model::{PLAIN, VERSIONED};
use crate::refusals::region;

/// Keys of each kind.
const KEYS: u64 = 500;
/// What a round may take, on a machine with other things to do.
const ROUND: Duration = Duration::from_mins(1);
const ROUNDS: u64 = 16;
/// What values are made of.
const FILLER: u8 = 5;

/// A store with records of every kind, that nobody owns, and the words of its region.
struct Victim {
    scratch: TempDir,
    options: Options,
    words: Shared,
}

impl Victim {
    /// Of segments in which values in parts fit, or of many small ones.
    fn new(is_large: bool, cleaners: usize) -> Self {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let regions = scratch.path().join("regions");
        fs::create_dir(&regions).unwrap();
        let (segment_size, segments_max) = if is_large { (128 << 10, 40) } else { (8 << 10, 256) };
        let geometry = Geometry { segment_size, segments_max, buckets: 4 };
        let options = Options {
            region: Some(regions),
            geometry: Some(geometry),
            writers: 2,
            least_hole: 64,
            ..Options::with_limit(segments_max / 2 * segment_size)
        };
        let memory = Memory::create(scratch.path().join("store"), &Options { cleaners: 0, ..options.clone() }).unwrap();
        fill(&memory, 1).unwrap();
        drop(memory);
        let file = File::open_to_write(region(scratch.path())).unwrap();
        let words = Shared::map(&file, file.len().unwrap(), Access::Write).unwrap();
        Self { scratch, options: Options { cleaners, ..options }, words }
    }

    /// The words of a part.
    fn words(&self, part: Part) -> Vec<usize> {
        part.words(&self.words, self.options.geometry.expect("chosen here"))
    }

    /// Overwrites some of these words, and says which and by what.
    fn damage(&self, rng: &mut Rng, words: &[usize], count: usize) -> Vec<(usize, u64)> {
        (0..count).map(|_| damage(rng, &self.words, words)).collect()
    }
}

/// What lies in a region.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Superblock,
    /// Segment entries, usage table, directories, counters.
    Tables,
    Index,
    Records,
}

impl Part {
    const ALL: [Self; 4] = [Self::Superblock, Self::Tables, Self::Index, Self::Records];

    /// The words of this part that somebody has written, but for what looks like the middle of a value.
    fn words(self, words: &Shared, geometry: Geometry) -> Vec<usize> {
        let word = |at: usize| words[at].load(Relaxed);
        let size = geometry.segment_size as usize / 8;
        let segments = words.len() - size * geometry.segments_max as usize;
        let usage = (512 + 2 * geometry.segments_max as usize).next_multiple_of(16);
        let is_index = |at: usize| word(usage + (at - segments) / size * 16) == 1;
        // Some rows of counters; behind these are 65 MiB that nobody has touched.
        let tables_end = segments - (65 << 17) + (16 << 10);
        let is_written = |at: &usize| ![0, u64::from_le_bytes([FILLER; 8])].contains(&word(*at));
        match self {
            // All behind the magic, which `refusals.rs` looks at.
            Self::Superblock => (1..512).filter(is_written).collect(),
            Self::Tables => (512..tables_end).filter(is_written).collect(),
            Self::Index => (segments..words.len()).filter(|at| is_index(*at) && is_written(at)).collect(),
            Self::Records => (segments..words.len()).filter(|at| !is_index(*at) && is_written(at)).collect(),
        }
    }

    /// How many words of it are overwritten at most: of the first, few are enough to be refused.
    fn count_max(self) -> usize {
        match self {
            Self::Superblock | Self::Tables => 3,
            Self::Index | Self::Records => 30,
        }
    }
}

fn damage(rng: &mut Rng, words: &Shared, used: &[usize]) -> (usize, u64) {
    let at = used[rng.usize(..used.len())];
    let word = match rng.u8(..6) {
        0 => u64::MAX,
        1 => rng.u64(..),
        2 => rng.u64(..1 << 40),
        // What lies elsewhere in it, such as another's slot.
        3 => words[used[rng.usize(..used.len())]].load(Relaxed),
        _ => words[at].load(Relaxed) ^ 1 << rng.u32(..64),
    };
    words[at].store(word, Relaxed);
    (at * 8, word)
}

/// Puts, merges, deletes, expires records of all kinds, until there is an error that does not come of being
/// full.
pub(crate) fn fill(memory: &Memory, seed: u64) -> Result<()> {
    let mut rng = Rng::with_seed(seed);
    let (long, text) = (vec![FILLER; 70_000], [b'k'; 40]);
    let has_parts = memory.view().usage().segment_size > 1 << 16;
    for _ in 0..2 * KEYS {
        let table = if rng.bool() { PLAIN } else { VERSIONED };
        let number = rng.u64(..KEYS);
        let key = if rng.bool() { Key::Integer(number) } else { Key::Bytes(&text[..number as usize % 40]) };
        let done = match rng.u8(..20) {
            0 => memory.update(table, key, |_| hammerspace_memory::Change::Delete),
            1 => memory.update(table, key, |_| hammerspace_memory::Change::Expire(Some(rng.u64(1..1 << 42)))),
            2 if has_parts => memory.put(PLAIN, Key::Integer(KEYS + number % 3), &long),
            3 if has_parts => memory.append(PLAIN, Key::Integer(KEYS + number % 3), 0, &long[..1000]),
            4..10 => memory.append(table, key, 1, &long[..number as usize % 50]),
            _ => memory.put(table, key, &long[..number as usize % 300]),
        };
        done.map(drop).or_else(|error| if error.kind() == Kind::Full { Ok(()) } else { Err(error) })?;
    }
    Ok(())
}

/// A value may lack a part. Anything else can be read, or is not there: to try again would be of no use.
fn accept<T>(read: Result<T>) -> Option<T> {
    read.inspect_err(|error| assert_eq!(error.kind(), Kind::Corrupt, "{error}")).ok()
}

/// Reads in all ways there are. Gives how many records a list has.
fn read(view: View<'_>, rng: &mut Rng) -> u64 {
    let mut value = Vec::new();
    for _ in 0..40 {
        accept(view.get(1, Key::Integer(rng.u64(..KEYS + 3)), &mut value));
    }
    let keys: Vec<_> = (0..20).map(|_| Key::Integer(rng.u64(..KEYS + 3))).collect();
    accept(view.get_many(1, &keys, |_, _| ()));
    view.usage();
    view.map();
    view.keys();
    let list = |mut cursor| {
        let mut items = Vec::new();
        while let Some(next) = accept(view.scan(1, cursor, 50, &mut items)).flatten() {
            cursor = next;
        }
        items.len() as u64
    };
    list(Cursor::from_word(rng.u64(..)));
    list(Cursor::START)
}

/// What was found of the damage: records that are not there any more, errors, faults of `verify`.
#[derive(Debug, Default)]
struct Found {
    lost: u64,
    refused: u64,
    unwritten: u64,
    faults: u64,
    set_aside: u64,
}

/// Does what an owner does, while `harm` goes on.
fn own(path: &Path, options: &Options, seed: u64, found: &mut Found, mut harm: impl FnMut()) {
    let mut rng = Rng::with_seed(seed);
    let memory = match Memory::open(path, options) {
        Ok(memory) => memory,
        Err(error) => {
            assert!(matches!(error.kind(), Kind::Corrupt | Kind::Unsupported), "{error}");
            found.refused += 1;
            return;
        }
    };
    for round in 0..4 {
        found.faults += memory.verify().faults;
        read(memory.view(), &mut rng);
        if let Err(error) = fill(&memory, rng.u64(..)) {
            let kinds = [Kind::Corrupt, Kind::Busy, Kind::Invalid, Kind::Full, Kind::Missing];
            assert!(kinds.contains(&error.kind()), "{error}");
            found.unwritten += 1;
        }
        for _ in 0..10 {
            memory.clean().unwrap();
        }
        if round == 2 {
            memory.drop_table(VERSIONED.number).unwrap();
        }
        harm();
    }
    found.set_aside += memory.damaged();
}

/// Panics of threads that clean, which nobody else would hear of.
static PANICS: AtomicUsize = AtomicUsize::new(0);

fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_cleaner = thread::current().name().is_some_and(|name| name.starts_with("hammerspace"));
            PANICS.fetch_add(usize::from(is_cleaner), Relaxed);
            hook(info);
        }));
    });
}

/// Does something that must come to an end.
pub(crate) fn in_time<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (end, is_over) = mpsc::channel();
    let thread = thread::spawn(move || {
        let done = work();
        end.send(()).ok();
        done
    });
    let waited = is_over.recv_timeout(ROUND);
    assert_ne!(waited, Err(mpsc::RecvTimeoutError::Timeout), "no end of {what}");
    thread.join().unwrap_or_else(|_| panic!("a panic in {what}"))
}

/// One store, damaged once or all the time.
fn round(seed: u64) -> Found {
    let mut rng = Rng::with_seed(seed);
    let victim = Victim::new(rng.bool(), rng.usize(..2));
    let path = victim.scratch.path().join("store");
    let mut found = Found::default();
    let before = read(Reader::attach(&path).unwrap().view(), &mut rng);
    let part = Part::ALL[seed as usize % Part::ALL.len()];
    let count = rng.usize(1..=part.count_max());
    let damaged = victim.damage(&mut rng, &victim.words(part), count);
    println!("{part:?}: {damaged:x?}");
    match Reader::attach(&path) {
        Ok(reader) => found.lost += before.saturating_sub(read(reader.view(), &mut rng)),
        Err(_) => found.refused += 1,
    }
    own(&path, &victim.options, rng.u64(..), &mut found, || ());
    // A lock that is closed behind its owner's back is waited for in vain: `bucket.rs` tests that.
    let slots: Vec<usize> = victim.words(Part::Index).into_iter().filter(|at| at % 8 != 0).collect();
    let records = victim.words(Part::Records);
    // Records and index also while it is owned: that is where an owner does not take its own word for
    // anything.
    own(&path, &victim.options, rng.u64(..), &mut found, || {
        victim.damage(&mut rng, &slots, 5);
        victim.damage(&mut rng, &records, 5);
    });
    own(&path, &victim.options, rng.u64(..), &mut found, || ());
    found
}

#[test]
fn a_damaged_region_ends_neither_readers_nor_owners() {
    count_panics();
    let seed = Rng::new().u64(..);
    let mut all = Found::default();
    for seed in (0..ROUNDS).map(|round| seed.wrapping_add(round)) {
        let found = in_time(&format!("seed {seed}"), move || round(seed));
        assert_eq!(PANICS.load(Relaxed), 0, "a cleaner's thread, with seed {seed}");
        all.lost += found.lost;
        all.refused += found.refused;
        all.unwritten += found.unwritten;
        all.faults += found.faults;
        all.set_aside += found.set_aside;
    }
    println!("{all:?}");
    let met = [all.lost, all.refused, all.unwritten, all.faults, all.set_aside];
    assert!(met.iter().all(|count| *count > 0), "from seed {seed} on not all damage was met: {all:?}");
}
