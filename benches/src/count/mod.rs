//! The bench `count`: HyperLogLog values, beside java-hll.

mod add;
mod full;

use std::path::Path;

use crate::Result;
use crate::report::Row;
use crate::scale::Scale;

const JAVA_HLL: &str = "java-hll";

/// All rows.
pub(crate) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let mut rows = vec![add::row(scale)?];
    rows.extend(full::rows(scale, scratch)?);
    Ok(rows)
}
