//! Reading the log piece by piece.
//!
//! Only the end of one entry says where the next one starts, so the log is walked by one thread at a time. But the walk
//! looks at heads alone: hashing the keys, and finding out where they belong, is left to whoever took the piece.

use super::super::builder::{address_too_wide, too_many_puts};
use super::super::slot::Shape;
use super::record::{Record, Routed};
use crate::Compression;
use crate::log::Log;
use crate::log::entries::Entries;
use crate::log::entry::{Address, EntryKind};
use hammerspace_error::Result;
use std::ops::Range;

/// Entries of a piece: few enough that their keys are still at hand when they are hashed.
const PIECE_LEN: usize = 1 << 12;

/// How far the log has been walked.
pub(super) struct Walk<'a, B> {
    log: &'a Log<B>,
    entries: Entries<'a>,
    shape: Shape,
    /// Puts that the header still justifies.
    puts_left: u64,
    /// Bytes of all deletes so far.
    pub(super) delete_size: u64,
    /// Pieces so far.
    pieces: usize,
}

/// Entries that follow each other in the log.
#[derive(Default)]
pub(super) struct Piece {
    /// Its place in the log.
    pub(super) number: usize,
    unhashed: Vec<Unhashed>,
    /// Keys that were decoded.
    decoded: Vec<u8>,
    pub(super) records: Vec<Routed>,
}

/// What becomes a record.
struct Unhashed {
    key: Range<usize>,
    record: Record,
}

impl<'a, B: AsRef<[u8]>> Walk<'a, B> {
    pub(super) fn new(log: &'a Log<B>, end: u64, puts: u64, shape: Shape) -> Result<Self> {
        let entries = log.entries_between(Address::FIRST, end)?;
        Ok(Self { log, entries, shape, puts_left: puts, delete_size: 0, pieces: 0 })
    }

    /// Fills `piece` with what follows; says whether there was anything.
    pub(super) fn fill(&mut self, piece: &mut Piece) -> Result<bool> {
        piece.unhashed.clear();
        piece.decoded.clear();
        let Self { log, entries, shape, puts_left, delete_size, .. } = self;
        entries.next_keys(PIECE_LEN, &mut piece.decoded, |entry| {
            if entry.kind == EntryKind::Delete {
                *delete_size = delete_size.saturating_add(entry.len);
            } else if *puts_left == 0 {
                return Err(too_many_puts(log, entry.address));
            } else {
                *puts_left -= 1;
            }
            let address = shape.pack(entry.address);
            let record = address.and_then(|address| Record::new(0, address, entry.kind));
            let record = record.ok_or_else(|| address_too_wide(log, entry.address))?;
            piece.unhashed.push(Unhashed { key: entry.key, record });
            Ok(())
        })?;
        piece.number = self.pieces;
        self.pieces += 1;
        Ok(!piece.unhashed.is_empty())
    }
}

impl Piece {
    /// Finds out what the entries' hashes are, and in which partitions they belong.
    pub(super) fn hash<B: AsRef<[u8]>>(&mut self, log: &Log<B>, shape: &Shape, seed: u32, partition_bits: u32) {
        let keys = match log.header().compression {
            Compression::None => log.bytes(),
            _ => &self.decoded,
        };
        self.records.clear();
        self.records.extend(self.unhashed.iter().map(|entry| {
            let hash = shape.hash_size.hash(&keys[entry.key.clone()], seed);
            let partition = (shape.wanted(hash) >> partition_bits) as u32;
            Routed { record: Record { hash, ..entry.record }, partition }
        }));
    }
}
