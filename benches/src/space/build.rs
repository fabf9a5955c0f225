//! Loading everything anew: put all pairs and publish, beside creating a log and its index with the C library.

use std::fs;
use std::path::Path;

use hammerspace::{Durability, Options};
use hammerspace_rivals::libsparkey::{Compression, LogWriter, write_index};

use super::{LIBSPARKEY, named};
use crate::Result;
use crate::data::Data;
use crate::measure::{in_turn, millions_a_second, timed_ok};
use crate::report::Row;
use crate::scale::Scale;

pub(super) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let data = Data::new(scale.keys);
    let directory = scratch.join("build");
    let space = Options::new().durability(Durability::None).create(&directory)?;
    let ours = || -> Result {
        let mut writer = space.replace()?;
        for (key, value) in &data.pairs {
            writer.put(key, value)?;
        }
        writer.publish()?;
        Ok(())
    };
    let (log, index) = (directory.join("c.spl"), directory.join("c.spi"));
    let theirs = || -> Result {
        // As for us, the version before goes within the time that counts; an index that stayed would be updated.
        let _ = fs::remove_file(&index);
        let mut writer = LogWriter::create(&log, Compression::None)?;
        for (key, value) in &data.pairs {
            writer.put(key, value)?;
        }
        writer.finish()?;
        write_index(&log, &index, 0)?;
        Ok(())
    };
    let seconds = in_turn(scale.rounds, &mut [&mut || timed_ok(ours), &mut || timed_ok(theirs)])?;
    let [ours, c] = seconds.map(|seconds| millions_a_second(scale.keys, seconds));
    Ok(vec![Row::new(named("build and publish", scale.keys), "M/s", ours, LIBSPARKEY, c)])
}
