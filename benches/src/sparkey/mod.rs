//! The bench `sparkey`: our tables beside Spotify's C library, on the same files.

mod numbered;
mod pair;
mod read;

use std::path::Path;

use crate::Result;
use crate::report::Row;
use crate::scale::Scale;

const LIBSPARKEY: &str = "libsparkey";

/// All rows.
pub(crate) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    read::rows(scale, scratch)
}
