//! The region: the shared bytes, and the few words in front that say what they are.
//!
//! What always holds:
//! 1. Everything in a region is a little-endian word of eight bytes, loaded and stored atomically. There is
//!    no slice of it, no pointer in it, and no lock around it that a reader could meet.
//! 2. A word outside the region reads as zero. Inside of it, no address is followed to where there is no
//!    memory (`backed.rs`). So a reader may follow any address that a damaged region gives it.
//! 3. The words of the superblock up to `SEED` never change once `MAGIC` is there, which is written last.
//! 4. A region that uses a feature says so in `FEATURES_*` (`features.rs`) before the first byte of it is
//!    written.

pub(crate) mod backed;
pub(crate) mod counters;
pub(crate) mod features;
pub(crate) mod geometry;
pub(crate) mod region_file;
pub(crate) mod segment;
pub(crate) mod words;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Access, File};

use crate::read::now;
use crate::region::backed::Backed;
use crate::region::features::SEGMENT_EXPIRY;
use crate::region::geometry::{BUCKET, Geometry, Layout, WORD};
use crate::region::segment::state_of;
use crate::region::words::{Bytes, store};
use crate::sync::{AtomicU64, Ordering, Words, fence, stream};
use crate::testing::flaw::Flaw;

macro_rules! superblock {
    (used: { $($name:ident = $address:literal;)* } reserved: { $($reserved:ident = $place:literal;)* }) => {
        $(pub(crate) const $name: u64 = $address;)*
        $(
            #[cfg_attr(not(test), expect(dead_code, reason = "reserved, and zero"))]
            const $reserved: u64 = $place;
        )*
        /// Every field of the superblock, its name on the format page and its address.
        #[cfg(test)]
        const FIELDS: &[(&str, u64)] = &[$((stringify!($name), $name),)* $((stringify!($reserved), $reserved)),*];
    };
}

superblock! {
    used: {
        MAGIC = 0;
        FORMAT = 8;
        STORE_LOW = 16;
        STORE_HIGH = 24;
        PAGE_SIZE = 32;
        SEGMENT_SIZE = 40;
        SEGMENTS_MAX = 48;
        BUCKETS = 56;
        SEED = 64;
        FEATURES_READ = 72;
        FEATURES_WRITE = 80;
        // Each of these lines changes at its own pace: readers load the first all the time, which others must
        // not slow down.
        ROOT = 128;
        CATALOGUE = 136;
        COUNTED = 160;
        LIMIT = 192;
        INCARNATION = 200;
        OWNER = 208;
        SEGMENTS_FRESH = 216;
        SEQUENCE = 256;
        LARGE = 320;
        CLOCK = 384;
        MOVED = 392;
        WATERMARK = 448;
        PENDING = 1024;
        INTENT = 2048;
        PARTS_FIRST = 2056;
        PARTS_END = 2064;
        STORE_DIR = 2560;
    }
    reserved: {
        FEATURES_INFO = 88;
        TAIL_FIRST = 456;
        TAIL_END = 464;
    }
}

/// Bytes of `STORE_DIR`.
pub(crate) const STORE_DIR_LEN: u64 = 1536;

/// Of two words each, from `PENDING` on: a number of parts, and the hash of the key they are for.
pub(crate) const PENDING_ENTRIES: u64 = 64;

/// `HMRSPMEM`, as a reader of the file sees it.
const MAGIC_WORD: u64 = u64::from_le_bytes(*b"HMRSPMEM");
/// What a later build adds is told by the words of features. So this number stays.
const FORMAT_WORD: u64 = 4;

/// The generation of a segment as it was seen, which changes before the segment's bytes are used for
/// something else.
#[derive(Clone, Copy)]
pub(crate) struct Generation<'r> {
    word: &'r AtomicU64,
    seen: u64,
}

impl Generation<'_> {
    /// Whether it is still the same, once everything loaded before has been loaded: then all that was of the
    /// same use.
    #[inline]
    pub(crate) fn still_holds(self) -> bool {
        fence(Ordering::Acquire);
        Flaw::GenerationOnce.is_planted() || self.word.load(Ordering::Relaxed) == self.seen
    }

    /// Whether the segment is in the same use, whatever holes of it were filled.
    pub(crate) fn is_same_use(self) -> bool {
        fence(Ordering::Acquire);
        state_of(self.word.load(Ordering::Relaxed)) == state_of(self.seen)
    }
}

#[cold]
fn unknown_format(format: u64) -> Error {
    let finding = format!("the region has format {format}, and this build knows {FORMAT_WORD}");
    let remedy = if format < FORMAT_WORD {
        "delete the store and create it anew: no release wrote this format"
    } else {
        "use a build that knows it, or delete the store and create it anew"
    };
    Error::new(Kind::Unsupported, finding).at(FORMAT).remedy(remedy)
}

static ZERO: AtomicU64 = AtomicU64::new(0);
static ZEROS: [AtomicU64; 8] = [const { AtomicU64::new(0) }; 8];

/// The words of a region, and what it says of itself.
pub(crate) struct Region {
    pub(crate) words: Words,
    pub(crate) backed: Backed,
    pub(crate) layout: Layout,
    /// Of the hashes of keys; each region has its own, so that nobody can choose keys that collide.
    pub(crate) seed: u64,
    /// What `FEATURES_READ` says, which stays as it is.
    features: u64,
}

impl Region {
    /// Makes a region of zeros one of this geometry, seeded with `seed`.
    pub(crate) fn create(words: Words, geometry: Geometry, store: u128, seed: u64, page_size: u64) -> Result<Self> {
        let region = Self { words, backed: Backed::new(), layout: Layout::of(geometry.check()?), seed, features: 0 };
        for (field, value) in [
            (FORMAT, FORMAT_WORD),
            (STORE_LOW, store as u64),
            (STORE_HIGH, (store >> 64) as u64),
            (PAGE_SIZE, page_size),
            (SEGMENT_SIZE, geometry.segment_size),
            (SEGMENTS_MAX, geometry.segments_max),
            (BUCKETS, geometry.buckets),
            (SEED, seed),
            (SEQUENCE, 1),
            (LARGE, 1),
        ] {
            region.word(field).store(value, Ordering::Relaxed);
        }
        Ok(region)
    }

    /// Says that everything is in its place: from here on the region is one.
    pub(crate) fn finish(&self) {
        self.word(MAGIC).store(MAGIC_WORD, Ordering::Release);
    }

    /// Reads what a superblock says, from the first bytes of a file of `len` bytes, to read the region or to
    /// own it.
    pub(crate) fn describe(superblock: &Words, access: Access, len: u64, page_size: u64) -> Result<(Geometry, u128)> {
        let word = |address: u64| superblock.get((address / WORD) as usize).unwrap_or(&ZERO).load(Ordering::Acquire);
        if word(MAGIC) != MAGIC_WORD {
            let finding = "this is not a region";
            return Err(Error::new(Kind::Corrupt, finding).at(MAGIC).remedy("delete the store and create it anew"));
        }
        if word(FORMAT) != FORMAT_WORD {
            return Err(unknown_format(word(FORMAT)));
        }
        features::check(access, [FEATURES_READ, FEATURES_WRITE].map(word))?;
        if word(PAGE_SIZE) != page_size {
            let finding =
                format!("the region was made for pages of {} bytes, this machine has {page_size}", word(PAGE_SIZE));
            return Err(Error::new(Kind::Unsupported, finding)
                .at(PAGE_SIZE)
                .remedy("create the store anew on this machine"));
        }
        let geometry =
            Geometry { segment_size: word(SEGMENT_SIZE), segments_max: word(SEGMENTS_MAX), buckets: word(BUCKETS) };
        let geometry = geometry.check().map_err(|error| error.at(SEGMENT_SIZE))?;
        if len < geometry.region_len() {
            let finding = format!("the region was cut off: {len} of {} bytes are left", geometry.region_len());
            return Err(Error::new(Kind::Corrupt, finding).remedy("delete the store and create it anew"));
        }
        let store = u128::from(word(STORE_LOW)) | u128::from(word(STORE_HIGH)) << 64;
        Ok((geometry, store))
    }

    /// The same region, as it is now: without the counters of all but the first tables.
    #[cfg(test)]
    pub(crate) fn copy(&self) -> Self {
        let words = Words::zeros(self.words.len() as u64 * WORD).expect("memory for it");
        let counters = self.layout.counter_block(0) + crate::region::geometry::COUNTER_BLOCK;
        for word in (0..counters / WORD).chain(self.layout.segment(0) / WORD..self.words.len() as u64) {
            words[word as usize].store(self.load(word * WORD), Ordering::Relaxed);
        }
        Self { words, layout: self.layout, seed: self.seed, features: self.features, backed: Backed::new() }
    }

    /// A region that `describe` has accepted.
    pub(crate) fn open(words: Words, geometry: Geometry) -> Self {
        let mut region = Self { words, backed: Backed::new(), layout: Layout::of(geometry), seed: 0, features: 0 };
        (region.seed, region.features) = (region.load(SEED), region.load(FEATURES_READ));
        region
    }

    /// The word at `address`. Outside the region, a zero that nobody stores to.
    #[inline]
    pub(crate) fn word(&self, address: u64) -> &AtomicU64 {
        self.words.get((address / WORD) as usize).unwrap_or(&ZERO)
    }

    /// The eight words of the line of the cache that `address` lies in. Outside the region, zeros.
    #[inline]
    pub(crate) fn line(&self, address: u64) -> &[AtomicU64; 8] {
        let (lines, _) = self.words.as_chunks();
        lines.get((address / BUCKET) as usize).unwrap_or(&ZEROS)
    }

    /// Where a word of the region lies.
    pub(crate) fn address_of(&self, word: &AtomicU64) -> u64 {
        let offset = std::ptr::from_ref(word).addr() - self.words.as_ptr().addr();
        (offset / size_of::<AtomicU64>()) as u64 * WORD
    }

    /// The word at `address`, and what was written before it.
    #[inline]
    pub(crate) fn load(&self, address: u64) -> u64 {
        self.word(address).load(Ordering::Acquire)
    }

    /// Changes the word at `address`; whoever loads it sees what was written before. An address outside is
    /// our own mistake.
    #[inline]
    pub(crate) fn store(&self, address: u64, value: u64) {
        self.words[(address / WORD) as usize].store(value, Ordering::Release);
    }

    /// Gives bytes of the region, which lies in `file`, their memory: in huge pages where they can be. Who
    /// touches them then waits for nobody, and never finds that there is no room.
    pub(crate) fn back(&self, file: &File, address: u64, len: u64) -> Result<()> {
        self.words.gather(file, address, len)?;
        file.allocate(address, len)?;
        self.words.populate(address, len);
        Ok(())
    }

    /// Bytes of the segments that were never used and may be.
    pub(crate) fn untaken(&self) -> u64 {
        self.limit().saturating_sub(self.load(SEGMENTS_FRESH)) * self.layout.segment_size
    }

    /// Asks for the line of the cache that `address` lies in.
    #[inline]
    pub(crate) fn prefetch(&self, address: u64) {
        hammerspace_os::prefetch(&self.words, (address / WORD) as usize);
    }

    /// The word that holds the generation of the segment at `address`; `None` where no segment is that has
    /// all its memory.
    #[inline]
    pub(crate) fn generation(&self, address: u64) -> Option<Generation<'_>> {
        let word = self.word(Layout::generation(self.segment_of(address)?));
        let seen = word.load(Ordering::Acquire);
        (seen != 0).then_some(Generation { word, seen })
    }

    /// Whether the segment at `address` has expired, and so all that is in it.
    #[inline]
    pub(crate) fn has_expired(&self, address: u64) -> bool {
        self.features & SEGMENT_EXPIRY != 0 && self.segment_has_expired(address)
    }

    #[cold]
    fn segment_has_expired(&self, address: u64) -> bool {
        let expiry = self.segment_of(address).map_or(0, |segment| self.load(Layout::expiry(segment)));
        expiry != 0 && expiry <= now()
    }

    /// Lets segments expire, in a region that is just being made.
    #[cfg(test)]
    pub(crate) fn with_segment_expiry(self) -> Self {
        self.store(FEATURES_READ, SEGMENT_EXPIRY);
        Self { features: SEGMENT_EXPIRY, ..self }
    }

    /// The words from `address` on, to the region's end.
    #[inline]
    pub(crate) fn words(&self, address: u64) -> &[AtomicU64] {
        self.words.get((address / WORD) as usize..).unwrap_or_default()
    }

    /// `len` bytes from `address` on. Outside the region, zeros.
    #[inline]
    pub(crate) fn bytes(&self, address: u64, len: usize) -> Bytes<'_> {
        Bytes::new(self.words(address), (address % WORD) as usize, len)
    }

    /// Writes `bytes` from `address` on. What else is in the first and the last word stays as it is.
    #[inline]
    pub(crate) fn write_bytes(&self, address: u64, bytes: &[u8]) {
        self.write_by(address, bytes, store);
    }

    /// The same past the caches: for what is long, where nobody was for long.
    pub(crate) fn stream_bytes(&self, address: u64, bytes: &[u8]) {
        self.write_by(address, bytes, stream);
    }

    /// The same, whole words as `store` does.
    #[inline]
    fn write_by(&self, address: u64, bytes: &[u8], store: impl FnOnce(&[AtomicU64], &[[u8; 8]])) {
        let skip = (address % WORD) as usize;
        let (head, rest) = bytes.split_at(if skip == 0 { 0 } else { bytes.len().min(WORD as usize - skip) });
        if !head.is_empty() {
            self.patch(address - skip as u64, skip, head);
        }
        let first = (address + head.len() as u64) / WORD;
        let (values, tail) = rest.as_chunks();
        let end = first as usize + values.len();
        store(&self.words[first as usize..end], values);
        if !tail.is_empty() {
            self.patch(end as u64 * WORD, 0, tail);
        }
    }

    /// Replaces some bytes of one word, from byte `skip` on.
    fn patch(&self, address: u64, skip: usize, bytes: &[u8]) {
        let word = &self.words[(address / WORD) as usize];
        let mut all = word.load(Ordering::Relaxed).to_le_bytes();
        all[skip..skip + bytes.len()].copy_from_slice(bytes);
        word.store(u64::from_le_bytes(all), Ordering::Relaxed);
    }

    /// Copies whole words within the region.
    #[inline]
    pub(crate) fn copy_words(&self, from: u64, to: u64, len: u64) {
        let range = |start: u64| (start / WORD) as usize..((start + len) / WORD) as usize;
        for (target, source) in self.words[range(to)].iter().zip(&self.words[range(from)]) {
            target.store(source.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use hammerspace_testkit as testkit;

    use super::*;
    use crate::region::words::begin_with;

    fn region() -> Region {
        let geometry = Geometry { segment_size: 4096, segments_max: 4, buckets: 4 };
        Region::create(Words::zeros(geometry.region_len()).unwrap(), geometry, 7, 9, 4096).unwrap()
    }

    #[test]
    fn the_superblock_is_what_its_page_says() {
        let page = include_str!("../../../docs/format/region.md");
        let listed: Vec<_> = testkit::page::fields(page, "Superblock")
            .into_iter()
            .map(|field| (field.name, field.offset as u64))
            .collect();
        let mut fields = FIELDS.to_vec();
        fields.sort_by_key(|(_, address)| *address);
        assert_eq!(listed, fields);
    }

    #[test]
    fn bytes_come_back_from_every_alignment() {
        let region = region();
        let base = region.layout.segment(0);
        let bytes: Vec<u8> = (1..=40).collect();
        for offset in 0..32 {
            let write = if offset < 16 { Region::write_bytes } else { Region::stream_bytes };
            for len in 0..bytes.len() {
                region.write_bytes(base, &[0xee; 80]);
                write(&region, base + offset, &bytes[..len]);
                let mut out = b"before".to_vec();
                region.bytes(base + offset - offset.min(1), len + 2).append_to(&mut out);
                let edge = if offset == 0 { &bytes[..0] } else { &[0xee][..] };
                let mut wanted = [b"before", edge, &bytes[..len]].concat();
                wanted.resize(6 + len + 2, 0xee);
                assert_eq!(out, wanted, "{len} bytes at {offset}");
                if offset % 8 == 0 {
                    assert!(begin_with(region.words(base + offset), &bytes[..len]));
                    assert!(len == 0 || !begin_with(region.words(base + offset), &[&bytes[..len - 1], &[0]].concat()));
                }
            }
        }
    }

    #[test]
    fn outside_there_are_zeros() {
        let region = region();
        let end = region.layout.region_len();
        region.write_bytes(end - 8, b"12345678");
        let mut out = Vec::new();
        for (address, len) in [(end - 4, 16), (end - 8, 12), (u64::MAX - 3, 8)] {
            region.bytes(address, len).append_to(&mut out);
        }
        assert_eq!(out, [&b"5678"[..], &[0; 12], b"12345678", &[0; 12]].concat());
        assert_eq!((region.load(end), region.generation(end).is_none()), (0, true));
        assert!(begin_with(region.words(end - 8), b"12345678") && !begin_with(region.words(end - 8), b"12345678x"));
        assert!(!begin_with(region.words(end), b"x"));
    }

    #[test]
    fn what_is_not_a_region_of_ours_is_refused() {
        let check = |change: &dyn Fn(&Region)| {
            let region = region();
            region.finish();
            change(&region);
            Region::describe(&region.words, Access::Read, region.layout.region_len(), 4096)
        };
        assert_eq!(check(&|_| {}).unwrap().1, 7);
        let kind = |change: &dyn Fn(&Region)| check(change).unwrap_err().kind();
        assert_eq!(kind(&|region| region.store(MAGIC, 1)), Kind::Corrupt);
        for format in [0, 1, 2, 3, 5, u64::MAX] {
            let refused = check(&|region| region.store(FORMAT, format)).unwrap_err();
            assert_eq!(refused.kind(), Kind::Unsupported);
            assert!(refused.to_string().contains("create it anew"), "{refused}");
        }
        assert_eq!(kind(&|region| region.store(PAGE_SIZE, 65536)), Kind::Unsupported);
        assert_eq!(kind(&|region| region.store(SEGMENT_SIZE, 5)), Kind::Corrupt);
        let region = region();
        region.finish();
        assert_eq!(
            Region::describe(&region.words, Access::Read, 4096, 4096).unwrap_err().kind(),
            Kind::Corrupt,
            "cut off"
        );
    }
}
