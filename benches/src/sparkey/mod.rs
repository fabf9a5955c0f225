//! The bench `sparkey`: our tables beside Spotify's C library, on the same files.

mod abi;
mod build;
mod compressed;
mod iterate;
mod java;
mod numbered;
mod pair;
mod read;
mod whole;

use std::path::Path;

use crate::Result;
use crate::plot::{self, Line};
use crate::report::{Report, Row};
use crate::scale::{Scale, in_words};

const LIBSPARKEY: &str = "libsparkey";

pub(crate) use abi::rows as abi;

/// All rows but those of the bench `sparkey-abi`.
pub(crate) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let mut rows = read::rows(scale, scratch)?;
    rows.extend(compressed::rows(scale, scratch)?);
    rows.extend(build::rows(scale, scratch)?);
    rows.extend(iterate::rows(scale, scratch)?);
    Ok(rows)
}

/// The endings of the files of charts, and the charts: rate against table size, if the report has the rows of every size.
pub(crate) fn plots(report: &Report) -> Vec<(String, String)> {
    plot(report).map(|plot| ("svg".into(), plot)).into_iter().collect()
}

fn plot(report: &Report) -> Option<String> {
    let sizes: Vec<String> = Scale::FULL.tables.iter().map(|keys| in_words(*keys as usize)).collect();
    let row = |how: &str, size: &str| report.numbers(&format!("{how}, hits, {size} keys"));
    let ours = |how: &str| -> Option<Line> {
        let rates = sizes.iter().map(|size| Some(row(how, size)?.0)).collect::<Option<_>>()?;
        Some(Line { name: how.into(), rates })
    };
    let theirs = sizes.iter().map(|size| row("get", size)?.1).collect::<Option<_>>()?;
    let lines = [
        ours("get_many of 64, two threads")?,
        ours("get_many of 64")?,
        ours("get")?,
        Line { name: LIBSPARKEY.into(), rates: theirs },
    ];
    let sizes: Vec<String> = sizes.iter().map(|size| format!("{size} keys")).collect();
    Some(plot::svg("Keys found", "millions a second", &sizes, &lines))
}
