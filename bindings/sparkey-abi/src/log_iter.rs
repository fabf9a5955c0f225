//! Iterators: a place in a log, which comes with every call and may be closed before they are.

use crate::code::{Code, Outcome, answer};
use crate::handle::{Buffer, Out, Owner, Shared, Unique};
use crate::hash::HashReader;
use crate::log_reader::LogReader;
use hammerspace_sparkey::{Cursor, CursorState, EntryKind};
use std::cmp::Ordering;
use std::ffi::c_int;

/// `sparkey_logiter`
pub(crate) type LogIter = Cursor;

/// Either half of an entry, piece by piece.
type Chunk = for<'a> fn(&'a mut LogIter, &'a LogReader, u64) -> hammerspace_error::Result<&'a [u8]>;

/// As much of a key as is compared at once, when those of two iterators are.
const COMPARED_MAX: u64 = 1 << 30;

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logiter_create(mut iter: Owner<LogIter>, log: Shared<LogReader>) -> c_int {
    answer(|| iter.fill(Cursor::new(log.get(Code::LogClosed)?)))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logiter_close(mut iter: Owner<LogIter>) {
    iter.close();
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logiter_seek(
    mut iter: Unique<LogIter>,
    log: Shared<LogReader>,
    position: u64,
) -> c_int {
    answer(|| {
        let (iter, log) = open(&mut iter, &log)?;
        Ok(iter.seek(log, position)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logiter_skip(
    mut iter: Unique<LogIter>,
    log: Shared<LogReader>,
    count: c_int,
) -> c_int {
    answer(|| {
        for _ in 0..count {
            // Past the end there is nothing to skip, were it two thousand million times.
            if is_over(&mut iter)? {
                break;
            }
            let (iter, log) = open(&mut iter, &log)?;
            iter.advance(log)?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logiter_next(mut iter: Unique<LogIter>, log: Shared<LogReader>) -> c_int {
    answer(|| {
        if is_over(&mut iter)? {
            return Ok(());
        }
        let (iter, log) = open(&mut iter, &log)?;
        Ok(iter.advance(log)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logiter_hashnext(mut iter: Unique<LogIter>, hash: Shared<HashReader>) -> c_int {
    answer(|| {
        let hash = hash.get(Code::HashClosed)?;
        if is_over(&mut iter)? {
            return Ok(());
        }
        let iter = iter.get(Code::LogIteratorClosed)?;
        check_match(iter, hash.log())?;
        Ok(iter.advance_live(hash)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logiter_reset(mut iter: Unique<LogIter>, log: Shared<LogReader>) -> c_int {
    answer(|| {
        let (iter, _) = active(&mut iter, &log)?;
        iter.rewind();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logiter_keychunk(
    mut iter: Unique<LogIter>,
    log: Shared<LogReader>,
    len_max: u64,
    mut chunk: Out<*const u8>,
    mut len: Out<u64>,
) -> c_int {
    answer(|| lend(&mut iter, &log, Cursor::key_chunk, len_max, &mut chunk, &mut len))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logiter_valuechunk(
    mut iter: Unique<LogIter>,
    log: Shared<LogReader>,
    len_max: u64,
    mut chunk: Out<*const u8>,
    mut len: Out<u64>,
) -> c_int {
    answer(|| lend(&mut iter, &log, Cursor::value_chunk, len_max, &mut chunk, &mut len))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logiter_fill_key(
    mut iter: Unique<LogIter>,
    log: Shared<LogReader>,
    len_max: u64,
    mut buffer: Buffer,
    mut len: Out<u64>,
) -> c_int {
    answer(|| fill(&mut iter, &log, Cursor::key_chunk, len_max, &mut buffer, &mut len))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logiter_fill_value(
    mut iter: Unique<LogIter>,
    log: Shared<LogReader>,
    len_max: u64,
    mut buffer: Buffer,
    mut len: Out<u64>,
) -> c_int {
    answer(|| fill(&mut iter, &log, Cursor::value_chunk, len_max, &mut buffer, &mut len))
}

/// Compares what two iterators have not read yet of their keys, and consumes it as far as it is compared.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sparkey_logiter_keycmp(
    mut first: Unique<LogIter>,
    mut second: Unique<LogIter>,
    log: Shared<LogReader>,
    mut result: Out<c_int>,
) -> c_int {
    answer(|| {
        let is_same = first.is(&second);
        let (one, log) = active(&mut first, &log)?;
        if is_same {
            // No key differs from itself.
            return result.set(0);
        }
        let two = second.get(Code::LogIteratorClosed)?;
        check_active(two, log)?;
        result.set(compare(one, two, log)? as c_int)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn sparkey_logiter_state(iter: Shared<LogIter>) -> c_int {
    match iter.maybe().map(Cursor::state) {
        Some(CursorState::New) => 0,
        Some(CursorState::Active) => 1,
        Some(CursorState::Closed) => 2,
        Some(CursorState::Invalid) | None => 3,
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn sparkey_logiter_type(iter: Shared<LogIter>) -> c_int {
    match iter.maybe().map(Cursor::kind) {
        Some(EntryKind::Put) | None => 0,
        Some(EntryKind::Delete) => 1,
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn sparkey_logiter_keylen(iter: Shared<LogIter>) -> u64 {
    iter.maybe().map_or(0, Cursor::key_len)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn sparkey_logiter_valuelen(iter: Shared<LogIter>) -> u64 {
    iter.maybe().map_or(0, Cursor::value_len)
}

/// An iterator past the end of its log stays there, whatever log it is shown.
fn is_over(iter: &mut Unique<LogIter>) -> Outcome<bool> {
    Ok(iter.get(Code::LogIteratorClosed)?.state() == CursorState::Closed)
}

fn open<'a>(iter: &'a mut Unique<LogIter>, log: &'a Shared<LogReader>) -> Outcome<(&'a mut LogIter, &'a LogReader)> {
    let log = log.get(Code::LogClosed)?;
    let iter = iter.get(Code::LogIteratorClosed)?;
    check_match(iter, log)?;
    Ok((iter, log))
}

fn active<'a>(iter: &'a mut Unique<LogIter>, log: &'a Shared<LogReader>) -> Outcome<(&'a mut LogIter, &'a LogReader)> {
    let (iter, log) = open(iter, log)?;
    check_active(iter, log)?;
    Ok((iter, log))
}

pub(crate) fn check_match(iter: &LogIter, log: &LogReader) -> Outcome {
    if iter.belongs_to(log) { Ok(()) } else { Err(Code::LogIteratorMismatch) }
}

fn check_active(iter: &LogIter, log: &LogReader) -> Outcome {
    check_match(iter, log)?;
    if iter.state() == CursorState::Active { Ok(()) } else { Err(Code::LogIteratorInactive) }
}

/// Shows C the next piece.
fn lend(
    iter: &mut Unique<LogIter>,
    log: &Shared<LogReader>,
    next: Chunk,
    len_max: u64,
    chunk: &mut Out<*const u8>,
    len: &mut Out<u64>,
) -> Outcome {
    let (iter, log) = active(iter, log)?;
    let piece = next(iter, log, len_max)?;
    // With nothing left C leaves the pointer alone.
    if !piece.is_empty() {
        chunk.set(piece.as_ptr())?;
    }
    len.set(piece.len() as u64)
}

/// Fills a buffer of C's piece by piece, and says how far it came.
fn fill(
    iter: &mut Unique<LogIter>,
    log: &Shared<LogReader>,
    next: Chunk,
    len_max: u64,
    buffer: &mut Buffer,
    len: &mut Out<u64>,
) -> Outcome {
    let mut filled = 0;
    len.set(filled)?;
    while filled < len_max {
        let (iter, log) = active(iter, log)?;
        let piece = next(iter, log, len_max - filled)?;
        if piece.is_empty() {
            break;
        }
        buffer.push(piece)?;
        filled += piece.len() as u64;
        len.set(filled)?;
    }
    Ok(())
}

fn compare(one: &mut LogIter, two: &mut LogIter, log: &LogReader) -> Outcome<Ordering> {
    let mut first = one.key_chunk(log, COMPARED_MAX)?;
    let mut second = two.key_chunk(log, COMPARED_MAX)?;
    loop {
        let len = first.len().min(second.len());
        match first[..len].cmp(&second[..len]) {
            Ordering::Equal if len > 0 => (first, second) = (&first[len..], &second[len..]),
            Ordering::Equal => return Ok(first.len().cmp(&second.len())),
            unequal => return Ok(unequal),
        }
        if first.is_empty() {
            first = one.key_chunk(log, COMPARED_MAX)?;
        }
        if second.is_empty() {
            second = two.key_chunk(log, COMPARED_MAX)?;
        }
    }
}
