//! Enumeration as an iterator.

use hammerspace_error::Result;
use hammerspace_memory::Cursor;

use crate::table::Table;
use crate::value::Entry;

/// Records that are read at a time.
const PAGE: usize = 64;

/// Every record of a table: what [`Table::iter`] gives. An error ends it.
#[derive(Debug)]
pub struct Scan<'t> {
    table: &'t Table,
    page: std::vec::IntoIter<Entry>,
    next: Option<Cursor>,
}

impl<'t> Scan<'t> {
    pub(crate) fn new(table: &'t Table) -> Self {
        Self { table, page: Vec::new().into_iter(), next: Some(Cursor::START) }
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Result<Entry>> {
        loop {
            if let Some(entry) = self.page.next() {
                return Some(Ok(entry));
            }
            match self.table.scan(self.next.take()?, PAGE) {
                Ok((page, next)) => (self.page, self.next) = (page.into_iter(), next),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
