//! Cursors: an iterator and the table that it walks through, in one handle.

use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::slice;
use std::sync::Arc;

use hammerspace::{Pair, Result};

use crate::bytes::Slice;
use crate::error::{Error, answer, given};
use crate::table::Look;

/// A key and its value.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The key.
    pub key: Slice,
    /// The value.
    pub value: Slice,
}

/// The iterator of a table, asked for many pairs at once: one by one they would pass through memory on their way here, and
/// hold up the processor.
pub(crate) trait Walk<'a>: Send {
    /// Fills the first of these places, and gives how many those are: fewer than there are at the end, and before an error.
    /// Pairs that are not the table's are kept in `kept`.
    fn fill(&mut self, places: &mut [MaybeUninit<Entry>], kept: &mut Vec<Pair<'a>>) -> (usize, Result<()>);
}

impl<'a, I: Iterator<Item = Result<Pair<'a>>> + Send> Walk<'a> for I {
    fn fill(&mut self, places: &mut [MaybeUninit<Entry>], kept: &mut Vec<Pair<'a>>) -> (usize, Result<()>) {
        for (count, place) in places.iter_mut().enumerate() {
            let pair = match self.next() {
                Some(Ok(pair)) => pair,
                Some(Err(error)) => return (count, Err(error)),
                None => return (count, Ok(())),
            };
            place.write(Entry { key: Slice::of(&pair.0), value: Slice::of(&pair.1) });
            if !matches!(pair, (Cow::Borrowed(_), Cow::Borrowed(_))) {
                // The bytes stay where they are when the vectors that own them move.
                kept.push(pair);
            }
        }
        (places.len(), Ok(()))
    }
}

/// All pairs of a table.
pub(crate) type Pairs<'a> = Box<dyn Walk<'a> + 'a>;

/// A walk through a table, which it keeps open for itself.
pub struct Cursor {
    // In the order in which they are dropped: both borrow from the table. Their lifetime is not really 'static, and
    // nothing here hands it out.
    pairs: Pairs<'static>,
    here: Vec<Pair<'static>>,
    /// The error that came after what was given last.
    then: Result<()>,
    _table: Arc<dyn Look>,
}

impl Cursor {
    pub(crate) fn boxed(table: Arc<dyn Look>) -> Box<Self> {
        // SAFETY: the table stays where it is until the last `Arc` goes, and the one in the cursor goes after all that
        // borrows from it. Tables are only ever read, through shared references.
        let held: &'static dyn Look = unsafe { &*Arc::as_ptr(&table) };
        Box::new(Self { pairs: held.pairs(), here: Vec::new(), then: Ok(()), _table: table })
    }

    /// Fills the first of these places, and gives how many those are.
    fn fill(&mut self, places: &mut [MaybeUninit<Entry>]) -> Result<usize> {
        self.here.clear();
        std::mem::replace(&mut self.then, Ok(()))?;
        let (count, then) = self.pairs.fill(places, &mut self.here);
        if count == 0 {
            then?;
        } else {
            self.then = then;
        }
        Ok(count)
    }
}

/// Moves to the next pair. At the end, and after an error, the data of `key` is NULL. What it gives is valid until the
/// next call, or until the cursor is freed.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_cursor_next(
    cursor: Option<&mut Cursor>,
    key: Option<&mut MaybeUninit<Slice>>,
    value: Option<&mut MaybeUninit<Slice>>,
) -> Option<Box<Error>> {
    answer(|| {
        let (key, value) = (given(key, "the place for the key")?, given(value, "the place for the value")?);
        key.write(Slice::NOTHING);
        value.write(Slice::NOTHING);
        let mut place = [MaybeUninit::new(Entry { key: Slice::NOTHING, value: Slice::NOTHING })];
        given(cursor, "the cursor")?.fill(&mut place)?;
        // SAFETY: it was something before it was filled.
        let found = unsafe { place[0].assume_init() };
        key.write(found.key);
        value.write(found.value);
        Ok(())
    })
}

/// Moves over the next pairs, `most` of them at most, and gives them to `entries`, which has room for so many, and their number
/// to `count`: 0 at the end, and after an error. What it gives is valid until the next call, or until the cursor is freed. It
/// takes about a third of the time that hammerspace_cursor_next takes for as many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_cursor_next_many(
    cursor: Option<&mut Cursor>,
    entries: *mut Entry,
    most: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> Option<Box<Error>> {
    answer(|| {
        let count = given(count, "the place for the count")?;
        count.write(0);
        let cursor = given(cursor, "the cursor")?;
        if most == 0 {
            return Ok(());
        }
        given((!entries.is_null()).then_some(()), "the place for the entries")?;
        // SAFETY: room for so many entries, by the rules of the header; it may be uninitialised.
        let places = unsafe { slice::from_raw_parts_mut(entries.cast::<MaybeUninit<Entry>>(), most) };
        count.write(cursor.fill(places)?);
        Ok(())
    })
}

/// Frees a cursor, wherever it is. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_cursor_free(cursor: Option<Box<Cursor>>) {
    drop(cursor);
}
