//! Cursors: an iterator and the table that it walks through, in one handle.

use std::mem::MaybeUninit;
use std::sync::Arc;

use hammerspace::{Pair, Result};

use crate::bytes::Slice;
use crate::error::{Error, answer, given};
use crate::table::Look;

/// All pairs of a table.
pub(crate) type Pairs<'a> = Box<dyn Iterator<Item = Result<Pair<'a>>> + Send + 'a>;

/// A walk through a table, which it keeps open for itself.
pub struct Cursor {
    // In the order in which they are dropped: both borrow from the table. Their lifetime is not really 'static, and
    // nothing here hands it out.
    pairs: Pairs<'static>,
    here: Option<Pair<'static>>,
    _table: Arc<dyn Look>,
}

impl Cursor {
    pub(crate) fn boxed(table: Arc<dyn Look>) -> Box<Self> {
        // SAFETY: the table stays where it is until the last `Arc` goes, and the one in the cursor goes after all that
        // borrows from it. Tables are only ever read, through shared references.
        let held: &'static dyn Look = unsafe { &*Arc::as_ptr(&table) };
        Box::new(Self { pairs: held.pairs(), here: None, _table: table })
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
        let cursor = given(cursor, "the cursor")?;
        cursor.here = cursor.pairs.next().transpose()?;
        if let Some((found_key, found_value)) = &cursor.here {
            key.write(Slice::of(found_key));
            value.write(Slice::of(found_value));
        }
        Ok(())
    })
}

/// Frees a cursor, wherever it is. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_cursor_free(cursor: Option<Box<Cursor>>) {
    drop(cursor);
}
