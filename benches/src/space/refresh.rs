//! Asking whether there is a newer version, when there is none: what every request of a server pays.

use std::fs;
use std::path::Path;

use super::filled;
use crate::Result;
use crate::data::Data;
use crate::measure::{in_turn, timed};
use crate::report::Row;
use crate::scale::Scale;

const CALLS: u32 = 20_000;

pub(super) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let directory = scratch.join("refresh");
    let space = filled(&directory, &Data::new(100))?;
    let current = directory.join("current");
    let refresh = || -> Result<usize> {
        let mut swapped = 0;
        for _ in 0..CALLS {
            swapped += usize::from(space.refresh()?);
        }
        Ok(swapped)
    };
    let read_link = || -> Result<usize> {
        let mut len = 0;
        for _ in 0..CALLS {
            len += fs::read_link(&current)?.as_os_str().len();
        }
        Ok(len)
    };
    let seconds = in_turn(
        scale.rounds,
        &mut [
            &mut || {
                let (time, swapped) = timed(refresh);
                if swapped? == 0 { Ok(time) } else { Err("refresh found a version that nobody published".into()) }
            },
            &mut || {
                let (time, len) = timed(read_link);
                if len? > 0 { Ok(time) } else { Err("current points to nothing".into()) }
            },
        ],
    )?;
    let [ours, read_link] = seconds.map(|seconds| seconds * 1e9 / f64::from(CALLS));
    Ok(vec![Row::new("refresh, nothing new", "ns", ours, "readlink", read_link)])
}
