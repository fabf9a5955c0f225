//! The invariants of a region, looked at one by one while nobody changes it.
//!
//! 1. The directory shows each page to its prefix, all and alone.
//! 2. Each slot names a whole record of a key that belongs there, and no key has two.
//! 3. What is named of a segment is found by walking over it, as cleaners do.
//! 4. Each value in parts has all of them, and each part its value (`parts.rs`).
//!
//! What the segment usage table says of dead and of expiring bytes are hints, which no invariant asks for: a
//! cleaner goes by them when it chooses, and by slots and records when it takes something away.

mod parts;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::batch::intent;
use crate::index::bucket::HomeBucket;
use crate::index::directory::{Entry, Place, Root};
use crate::index::slot::Slot;
use crate::read::walk::Walk;
use crate::record::Record;
use crate::record::key::OwnedKey;
use crate::recover::verify::parts::Parted;
use crate::region::counters::{Counted, INTERNAL_TABLES};
use crate::region::geometry::SLOTS;
use crate::region::segment::{Segment, SegmentState};
use crate::region::{LIMIT, ROOT, Region, SEGMENTS_FRESH};

/// Findings that are kept; more are counted.
const FINDINGS_MAX: usize = 20;

/// What a look at everything found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Records that slots name.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Pieces of the index.
    pub pages: u64,
    /// Slots of the index.
    pub slots: u64,
    /// Bytes that the segment usage table takes for live, beyond those that are: what a cleaner will find
    /// dead. No fault: an owner that is killed after it has replaced a record, or before a record it has
    /// written is named, has not counted it; and before a segment becomes free, whatever was counted, the
    /// index is asked.
    pub miscounted: i64,
    /// What is named, by table.
    pub tables: BTreeMap<u16, Counted>,
    /// Tables whose counters say something else. No fault, where an owner was killed: of the changes that its
    /// threads were at it has counted none.
    pub miscounted_tables: Vec<u16>,
    /// What breaks an invariant, the first few of it.
    pub findings: Vec<String>,
    /// How much that is in all.
    pub faults: u64,
}

impl Report {
    fn fault(&mut self, finding: impl FnOnce() -> String) {
        self.faults += 1;
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding());
        }
    }
}

/// Looks at everything. Takes a pass over index and records, and memory in proportion to segments and to
/// values in parts.
pub(crate) fn verify(region: &Region) -> Report {
    let mut report = Report::default();
    let (mut named, mut shown, mut parted) = (HashMap::new(), HashSet::new(), Parted::default());
    let root = Root::load(region);
    if region.load(ROOT) != root.0 {
        report.fault(|| format!("the root {:#x} of the index is none", region.load(ROOT)));
    }
    let mut index = 0;
    while index < 1 << root.depth() {
        let entry = Entry(region.load(root.address(region, index)));
        let span = 1_u64 << root.depth().saturating_sub(entry.depth());
        if entry.depth() > root.depth() || index % span != 0 {
            report.fault(|| format!("entry {index} of the directory has a page of depth {}", entry.depth()));
            index += 1;
            continue;
        }
        for other in index..index + span {
            if region.load(root.address(region, other)) != entry.0 {
                report.fault(|| format!("entries {index} and {other} of the directory should show one page"));
            }
        }
        let prefix = if root.depth() == 0 { 0 } else { index << (64 - root.depth()) };
        if shown.insert(entry.page(region)) {
            verify_piece(region, entry, prefix, &mut named, &mut parted, &mut report);
        } else {
            report.fault(|| format!("entry {index} of the directory shows a page that another shows"));
        }
        index += span;
    }
    verify_ledger(region, &named, &mut report);
    parted.compare(region, &mut report);
    if intent::is_set(region) {
        report.fault(|| "a batch is noted as being made, and nobody makes one".into());
    }
    verify_counters(region, &mut report);
    report
}

fn verify_counters(region: &Region, report: &mut Report) {
    let found = |table| report.tables.get(&table).copied().unwrap_or_default();
    report.miscounted_tables = (0..INTERNAL_TABLES).filter(|table| region.miscounts(*table, found(*table))).collect();
}

fn verify_piece(
    region: &Region,
    entry: Entry,
    prefix: u64,
    named: &mut HashMap<u64, u64>,
    parted: &mut Parted,
    report: &mut Report,
) {
    let page = entry.page(region);
    let segment = Segment::of(region, page);
    if segment.is_none_or(|segment| segment.state() != SegmentState::Index)
        || !page.is_multiple_of(region.layout.index_page_size)
    {
        return report.fault(|| format!("the page at {page} does not lie in a segment of the index"));
    }
    report.pages += 1;
    report.slots += region.layout.buckets() * SLOTS;
    let full = entry.slots(region).count();
    let mut seen = 0;
    for bucket in 0..region.layout.buckets() {
        let mut keys: Vec<(u16, OwnedKey)> = Vec::new();
        HomeBucket::at(region, page, bucket, 0).for_each(|at, slot| {
            seen += 1;
            if slot.is_reserved() {
                return;
            }
            let Some(record) = verify_slot(region, at, slot, named, report) else { return };
            let hash = record.hash(region, &mut Vec::new());
            let depth = entry.depth();
            let is_of_piece = depth == 0 || hash >> (64 - depth) == prefix >> (64 - depth);
            if !slot.may_be(hash, slot.displacement()) || hash & (region.layout.bucket_mask) != bucket || !is_of_piece {
                report.fault(|| format!("the slot at {at} is not where its key belongs"));
            }
            let key = (record.header.table(), record.key(region));
            if keys.contains(&key) {
                report.fault(|| format!("the slot at {at} is the second of its key"));
            }
            keys.push(key);
            parted.note(region, record, report);
        });
    }
    if seen != full {
        report.fault(|| {
            format!("{} slots of the page at {page} lie beyond the reach of their homes", full.saturating_sub(seen))
        });
    }
}

/// The record that a slot names, if it can be one.
fn verify_slot(
    region: &Region,
    at: u64,
    slot: Slot,
    named: &mut HashMap<u64, u64>,
    report: &mut Report,
) -> Option<Record> {
    let address = slot.address();
    let end = |segment: Segment<'_>| segment.start() + segment.used().min(region.layout.segment_size);
    let holder =
        region.generation(address).and_then(|_| Segment::of(region, address)).filter(|segment| match segment.state() {
            SegmentState::Open(_)
            | SegmentState::Closed(_)
            | SegmentState::Cleaning(_)
            | SegmentState::Filling(_)
            | SegmentState::Batch(_) => address < end(*segment),
            SegmentState::Free | SegmentState::Index | SegmentState::Tail(_) => false,
        });
    let Some(segment) = holder else {
        report.fault(|| format!("the slot at {at} names {address}, where no record is"));
        return None;
    };
    let record = Record::at(region, address);
    if address + record.size > end(segment) {
        report.fault(|| format!("the record at {address} runs past its segment's end"));
        return None;
    }
    if segment.tables() >> (record.header.table() % 64) & 1 == 0 {
        report.fault(|| format!("segment {} does not know of the table of the record at {address}", segment.number));
    }
    report.records += 1;
    report.bytes += record.size;
    let table = report.tables.entry(record.header.table()).or_default();
    *table = table.plus(Counted::of(region, record));
    *named.entry(segment.number).or_default() += record.size;
    Some(record)
}

/// Whether all that is named of a segment is found by walking over its records, as cleaners do.
fn verify_walk(region: &Region, segment: Segment<'_>, live: u64, report: &mut Report) {
    let (mut walk, mut scratch, mut found) = (Walk::over(region, segment), Vec::new(), 0);
    for record in walk.by_ref() {
        let hash = record.hash(region, &mut scratch);
        let home = HomeBucket::new(region, Place::of(region, hash), hash);
        let is_named = home.find(|_, slot| (slot.address() == record.address).then_some(())).is_some();
        found += if is_named { record.size } else { 0 };
    }
    if let Some(at) = walk.torn_at() {
        report.fault(|| format!("what lies at {at} is no record, and hides what may lie behind it"));
    }
    if found != live {
        report.fault(|| format!("of {live} bytes named in segment {} its records make up {found}", segment.number));
    }
}

fn verify_ledger(region: &Region, named: &HashMap<u64, u64>, report: &mut Report) {
    let fresh = region.load(SEGMENTS_FRESH);
    if fresh != region.segments() || region.limit() != region.load(LIMIT) {
        let limit = region.load(LIMIT);
        report.fault(|| format!("{fresh} segments were used, of {limit} that may be; there are {}", region.segments()));
    }
    for segment in Segment::all(region) {
        let live = named.get(&segment.number).copied().unwrap_or(0);
        if let SegmentState::Open(_)
        | SegmentState::Closed(_)
        | SegmentState::Cleaning(_)
        | SegmentState::Filling(_)
        | SegmentState::Batch(_) = segment.state()
        {
            if segment.used() > region.layout.segment_size || live > segment.used() {
                report.fault(|| {
                    format!("segment {} counts {} bytes, {live} of them named", segment.number, segment.used())
                });
            }
            verify_walk(region, segment, live, report);
            report.miscounted += segment.live().cast_signed() - live.cast_signed();
        }
    }
}
