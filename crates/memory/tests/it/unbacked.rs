//! A damaged region on a file system that is full: a touch of a page that never had memory ends the process
//! (SIGBUS).
//!
//! Each round changes words of one part of a region, in ways that lead to where no memory is. Then a reader
//! that was attached before, one that attaches now, and an owner do what they do, in a process of their own.
//! Whatever they find, no signal ends them; and what the readers find is right, unless a record's own bytes
//! were changed.

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use hammerspace_error::Kind;
use hammerspace_memory::{Change, Cursor, Geometry, Key, Memory, Options, Reader, View};
use hammerspace_os::process::fork::{Child, fork, mount_memory};
use rustix::fs::{SeekFrom, seek};

use crate::damage::{fill, in_time};
use crate::model::{PLAIN, VERSIONED};

const SIZE: u64 = 8 << 20;
const LIMIT: u64 = 4 << 20;
const KEYS: u64 = 300;
const ROUNDS: u64 = 20;
const WORD: u64 = 8;

/// A store that nobody owns, on a file system that is full, and what its region was before any damage.
struct Victim {
    store: PathBuf,
    options: Options,
    region: fs::File,
    pages: Vec<(u64, Vec<u8>)>,
    values: Vec<Option<Vec<u8>>>,
}

/// The ranges of a file that have memory and were written to.
fn data(file: &fs::File) -> Vec<Range<u64>> {
    let (mut ranges, mut at) = (Vec::new(), 0);
    while let Ok(start) = seek(file, SeekFrom::Data(at)) {
        at = seek(file, SeekFrom::Hole(start)).unwrap();
        ranges.push(start..at);
    }
    ranges
}

fn bytes(file: &fs::File, range: Range<u64>) -> Vec<u8> {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    file.read_exact_at(&mut bytes, range.start).unwrap();
    bytes
}

/// Takes all that is left of the file system.
fn take_the_rest(place: &Path) {
    let mut file = fs::File::create(place.join("other")).unwrap();
    for len in [1 << 16, 1 << 12] {
        while file.write_all(&vec![1; len]).is_ok() {}
    }
}

fn values(view: View<'_>) -> Vec<Option<Vec<u8>>> {
    let value = |key| {
        let mut value = Vec::new();
        match view.get(PLAIN.number, Key::Integer(key), &mut value) {
            Ok(meta) => meta.map(|_| value),
            Err(error) => {
                assert_eq!(error.kind(), Kind::Corrupt, "{error}");
                None
            }
        }
    };
    (0..KEYS).map(value).collect()
}

impl Victim {
    fn new(place: &Path, is_large: bool) -> Self {
        let (segment_size, segments_max) = if is_large { (128 << 10, 512) } else { (8 << 10, 4096) };
        let geometry = Geometry { segment_size, segments_max, buckets: 4 };
        let options = Options {
            region: Some(place.into()),
            geometry: Some(geometry),
            cleaners: 0,
            writers: 2,
            ..Options::with_limit(LIMIT)
        };
        let store = place.join("store");
        let memory = Memory::create(&store, &options).unwrap();
        fill(&memory, 1).unwrap();
        // What the last records of a segment would run into.
        take_the_rest(place);
        while (0..KEYS).all(|key| memory.append(PLAIN, Key::Integer(key), 0, &[5; 40]).is_ok()) {}
        drop(memory);
        let is_region = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("hammerspace-");
        let path = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).find(is_region).unwrap();
        let region = fs::File::options().read(true).write(true).open(path).unwrap();
        let pages = data(&region).into_iter().map(|range| (range.start, bytes(&region, range))).collect();
        let values = values(Reader::attach(&store).unwrap().view());
        assert!(values.iter().flatten().count() > 100);
        Self { store, options, region, pages, values }
    }

    fn word(&self, at: u64) -> u64 {
        let mut word = [0; 8];
        self.region.read_exact_at(&mut word, at).unwrap();
        u64::from_le_bytes(word)
    }

    /// Makes the region what it was.
    fn restore(&self) {
        for range in data(&self.region) {
            self.region.write_all_at(&vec![0; (range.end - range.start) as usize], range.start).unwrap();
        }
        self.pages.iter().for_each(|(at, bytes)| self.region.write_all_at(bytes, *at).unwrap());
    }

    /// The words of a part that may be changed.
    fn words(&self, part: Part) -> Vec<u64> {
        let Geometry { segment_size, segments_max, .. } = self.options.geometry.unwrap();
        let len = self.region.metadata().unwrap().len();
        let (segments, limit) = (len - segments_max * segment_size, LIMIT / segment_size);
        let usage = (4096 + segments_max * 16).next_multiple_of(128);
        let directory = usage + segments_max * 128;
        let uses: Vec<u64> = (0..limit).map(|segment| self.word(usage + segment * 128)).collect();
        let is_index = |at: u64| uses[((at - segments) / segment_size) as usize] == 1;
        let all = self.pages.iter().flat_map(|(at, bytes)| (*at..).step_by(8).zip(bytes.as_chunks().0));
        let is_written = |word: &[u8; 8]| ![[0; 8], [5; 8]].contains(word);
        let written = all.filter(|(_, word)| is_written(word)).map(|(at, _)| at);
        match part {
            Part::Superblock => SUPERBLOCK.to_vec(),
            Part::Entries => (0..limit).map(|segment| 4096 + segment * 16).collect(),
            // Use and used.
            Part::Ledger => self.bare().flat_map(|segment| [0, 8].map(|word| usage + segment * 128 + word)).collect(),
            Part::Directory => written.filter(|at| (directory..segments - (65 << 20)).contains(at)).collect(),
            Part::Index => written.filter(|at| *at >= segments && is_index(*at)).collect(),
            Part::Records => written.filter(|at| *at >= segments && !is_index(*at)).collect(),
            Part::Last => {
                let records: Vec<u64> = written.filter(|at| *at >= segments && !is_index(*at)).collect();
                let last = records.last().map_or(0, |last| last.saturating_sub(2 * segment_size));
                records.into_iter().filter(|at| *at > last).collect()
            }
        }
    }

    /// The first segments that have no memory, or not all of it.
    fn bare(&self) -> impl Iterator<Item = u64> {
        (0..).filter(|segment| self.word(4096 + segment * 16) == 0).take(3)
    }

    /// An address in one of these segments.
    fn bare_address(&self, rng: &mut Rng) -> u64 {
        let Geometry { segment_size, segments_max, .. } = self.options.geometry.unwrap();
        let segments = self.region.metadata().unwrap().len() - segments_max * segment_size;
        segments + rng.choice(self.bare().collect::<Vec<_>>()).unwrap() * segment_size + rng.u64(..segment_size / 8) * 8
    }

    /// Changes some of these words, and says which and to what.
    fn damage(&self, rng: &mut Rng, part: Part, words: &[u64], count: usize) -> Vec<(u64, u64)> {
        let one = |_| {
            let at = words[rng.usize(..words.len())];
            let (bare, len) = (self.bare_address(rng), self.region.metadata().unwrap().len());
            let word = part.damaged(rng, self.word(at), bare, len);
            self.region.write_all_at(&word.to_le_bytes(), at).unwrap();
            (at, word)
        };
        (0..count).map(one).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Superblock,
    Entries,
    Ledger,
    Directory,
    Index,
    Records,
    /// Records behind which there is no memory.
    Last,
}

/// The words that say where something is or how much there is: what an owner or a reader is led by.
const SUPERBLOCK: [u64; 20] =
    [64, 72, 80, 128, 128, 128, 136, 160, 168, 184, 192, 192, 192, 192, 200, 216, 216, 256, 1024, 1032];

impl Part {
    const ALL: [Self; 7] =
        [Self::Superblock, Self::Entries, Self::Ledger, Self::Directory, Self::Index, Self::Records, Self::Last];

    fn damaged(self, rng: &mut Rng, word: u64, bare: u64, len: u64) -> u64 {
        match rng.u8(..6) {
            0 => u64::MAX,
            1 => rng.u64(..),
            2 | 3 => match self {
                // A number of segments, or a root.
                Self::Superblock if rng.bool() => rng.u64(..1 << 13),
                Self::Superblock => rng.u64(..1 << 13) & 0x1f01,
                // A use, or a number of bytes.
                Self::Entries | Self::Ledger if rng.bool() => rng.u64(..8),
                Self::Entries | Self::Ledger => rng.u64(..32) * 256,
                // Another page of the index: nearby, or anywhere.
                Self::Directory if rng.bool() => word ^ rng.u64(1..16) << 8,
                Self::Directory => word & 0xff | rng.u64(..len / 256) << 8,
                // A record where there is no memory, or anywhere in the region.
                Self::Index if rng.bool() => (word >> 37 << 37) | (bare / WORD),
                Self::Index => word >> 37 << 37 | rng.u64(..len / WORD),
                // The longest value, or the longest key too.
                Self::Records | Self::Last if rng.bool() => word | 0xffff,
                Self::Records | Self::Last => word | 0xfffe_ffff,
            },
            _ => word ^ 1 << rng.u32(..64),
        }
    }

    /// How many words are changed at most. Entries and usage table speak for each other; so one of them is
    /// wrong at a time.
    fn count_max(self) -> usize {
        match self {
            Self::Entries => 1,
            Self::Superblock | Self::Ledger => 3,
            Self::Directory | Self::Index | Self::Records | Self::Last => 20,
        }
    }
}

/// Reads in all ways there are.
fn read(view: View<'_>, rng: &mut Rng) -> Vec<Option<Vec<u8>>> {
    let keys: Vec<_> = (0..KEYS).map(Key::Integer).collect();
    for table in [PLAIN, VERSIONED] {
        let many = view.get_many(table.number, &keys, |_, _| ());
        assert!(many.is_ok() || many.is_err_and(|error| error.kind() == Kind::Corrupt));
    }
    view.usage();
    view.map();
    view.keys();
    (0..1 << 8).for_each(|block| {
        view.counted(block << 8);
    });
    let mut items = Vec::new();
    let mut cursor = Some(if rng.bool() { Cursor::START } else { Cursor::from_word(rng.u64(..)) });
    while let Some(at) = cursor {
        cursor = view.scan(PLAIN.number, at, 50, &mut items).unwrap_or(None);
    }
    values(view)
}

fn own(victim: &Victim, rng: &mut Rng, harm: impl Fn(&mut Rng)) {
    let memory = match Memory::open(&victim.store, &victim.options) {
        Ok(memory) => memory,
        Err(error) => return assert!(matches!(error.kind(), Kind::Corrupt | Kind::Unsupported), "{error}"),
    };
    for _ in 0..2 {
        memory.verify();
        read(memory.view(), rng);
        for key in 0..KEYS {
            // The damage may be met, or the store full: what was not written is not our question.
            memory.put(PLAIN, Key::Integer(key), &vec![7; rng.usize(..300)]).ok();
            memory.append(VERSIONED, Key::Integer(key), 0, &[7; 9]).ok();
            memory.update(PLAIN, Key::Integer(rng.u64(..KEYS)), |_| Change::Delete).ok();
        }
        for _ in 0..4 {
            memory.clean().unwrap();
        }
        harm(rng);
    }
}

/// Where the words may be changed behind an owner's back that are not its alone.
const SHARED: [Part; 4] = [Part::Directory, Part::Index, Part::Records, Part::Last];

fn round(victim: &'static Victim, part: Part, seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let before = Reader::attach(&victim.store).unwrap();
    if rng.bool() {
        read(before.view(), &mut rng);
    }
    let words = victim.words(part);
    let count = rng.usize(1..=part.count_max());
    let damaged = victim.damage(&mut rng, part, &words, count);
    let what = format!("{part:?}, seed {seed}: {damaged:x?}");
    let child: Child = fork(|| {
        in_time(&what, move || {
            let right = |found: Vec<Option<Vec<u8>>>| {
                let is_right = |(found, value): (Option<_>, &Option<_>)| found.is_none() || found == *value;
                let is_theirs = matches!(part, Part::Records | Part::Last);
                assert!(is_theirs || found.into_iter().zip(&victim.values).all(is_right), "a wrong value");
            };
            right(read(before.view(), &mut rng));
            if let Ok(reader) = Reader::attach(&victim.store) {
                right(read(reader.view(), &mut rng));
            }
            // Headers of buckets hold locks, which would be waited for.
            let slots = words.iter().filter(|at| part != Part::Index || *at % 64 != 0).copied().collect::<Vec<_>>();
            own(victim, &mut rng, |rng| {
                if SHARED.contains(&part) {
                    victim.damage(rng, part, &slots, 5);
                }
            });
            own(victim, &mut rng, |_| ());
        });
        0
    });
    assert_eq!(child.wait(), Some(0), "{what}");
    victim.restore();
}

#[test]
fn nothing_is_touched_that_has_no_memory() {
    for is_large in [false, true] {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let child = fork(|| {
            let place = scratch.path().canonicalize().unwrap();
            if !mount_memory(&place, SIZE) {
                eprintln!("not looked at: this user may not mount a file system");
                return 0;
            }
            // For as long as the process lives, since what must come to an end does so in a thread.
            let victim: &'static Victim = Box::leak(Box::new(Victim::new(&place, is_large)));
            for part in Part::ALL {
                (0..ROUNDS).for_each(|seed| round(victim, part, seed));
            }
            0
        });
        assert_eq!(child.wait(), Some(0));
    }
}

/// The file system is full, and a touch of what has no memory is a signal: else nothing would be noticed.
#[test]
fn canary_a_page_without_memory_cannot_be_touched() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let child = fork(|| {
        let place = scratch.path().canonicalize().unwrap();
        if !mount_memory(&place, SIZE) {
            return 0;
        }
        take_the_rest(&place);
        let file = hammerspace_os::Dir::open(&place).unwrap().create_file("hole").unwrap();
        file.truncate(4096).unwrap();
        let words = hammerspace_os::Shared::map(&file, 4096, hammerspace_os::Access::Read).unwrap();
        assert!(!words.populate_read(0, 4096));
        let touched = fork(|| words[0].load(std::sync::atomic::Ordering::Relaxed) as i32);
        i32::from(touched.wait().is_some())
    });
    assert_eq!(child.wait(), Some(0));
}
