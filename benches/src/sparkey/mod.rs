//! The bench `sparkey`: our tables beside Spotify's C library, on the same files.

mod build;
mod compressed;
mod iterate;
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
    let mut rows = read::rows(scale, scratch)?;
    rows.extend(compressed::rows(scale, scratch)?);
    rows.extend(build::rows(scale, scratch)?);
    rows.extend(iterate::rows(scale, scratch)?);
    Ok(rows)
}
