//! Building: log and index from pairs in no order, and the index alone, beside the C library. Nobody syncs.

use std::fs;
use std::path::Path;

use hammerspace_rivals::libsparkey::{self, Compression};
use hammerspace_sparkey::{Effort, LogOptions};

use super::LIBSPARKEY;
use super::numbered::{KEY_LEN, Key, Values, key, scattered};
use super::pair::Pair;
use crate::Result;
use crate::measure::{in_turn, millions_a_second, timed_ok};
use crate::report::Row;
use crate::scale::{Scale, in_words};

/// Pairs in one piece of memory, so that making them is not measured.
struct Pairs {
    lens: Vec<u8>,
    bytes: Vec<u8>,
}

impl Pairs {
    fn new(count: u64) -> Self {
        let (mut pairs, mut value) = (Self { lens: Vec::new(), bytes: Vec::new() }, Vec::new());
        for number in (0..count).map(|number| scattered(number, count)) {
            Values::Small.of(number, &mut value);
            pairs.lens.push(value.len() as u8);
            pairs.bytes.extend_from_slice(&key(number));
            pairs.bytes.extend_from_slice(&value);
        }
        pairs
    }

    fn each(&self, mut put: impl FnMut(&Key, &[u8]) -> Result) -> Result {
        let mut rest = &self.bytes[..];
        for len in &self.lens {
            let (key, more) = rest.split_first_chunk::<KEY_LEN>().ok_or("the pairs end early")?;
            let (value, more) = more.split_at((*len).into());
            put(key, value)?;
            rest = more;
        }
        Ok(())
    }
}

pub(super) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let pairs = Pairs::new(scale.build);
    let (ours, theirs) = (Pair::named(scratch, "ours", scale.build), Pair::named(scratch, "c", scale.build));
    let seconds = in_turn(
        scale.rounds_large,
        &mut [
            &mut || timed_ok(|| log(&ours, &pairs)),
            &mut || timed_ok(|| ours.write_index(&Effort::default())),
            &mut || timed_ok(|| log_by_c(&theirs, &pairs)),
            &mut || timed_ok(|| index_by_c(&theirs)),
        ],
    )?;
    if ours.table(hammerspace_os::Paging::OnDemand)?.len() != theirs.c()?.len() {
        return Err("the two tables differ in their number of keys".into());
    }
    let rate = |seconds: f64| millions_a_second(scale.build as usize, seconds);
    let [log, index, log_by_c, index_by_c] = seconds;
    let named = |what: &str| format!("{what}, {} keys", in_words(scale.build as usize));
    let both = (rate(log + index), rate(log_by_c + index_by_c));
    Ok(vec![
        Row::new(named("build log and index"), "M/s", both.0, LIBSPARKEY, both.1).goal(scale.goal(">= 2.5")),
        Row::new(named("build the log"), "M/s", rate(log), LIBSPARKEY, rate(log_by_c)),
        Row::new(named("build the index"), "M/s", rate(index), LIBSPARKEY, rate(index_by_c)).goal(scale.goal(">= 6")),
    ])
}

fn log(pair: &Pair, pairs: &Pairs) -> Result {
    let mut writer = pair.writer(LogOptions::default())?;
    pairs.each(|key, value| Ok(writer.put(key, value)?))?;
    writer.finish()?;
    Ok(())
}

fn log_by_c(pair: &Pair, pairs: &Pairs) -> Result {
    let mut writer = libsparkey::LogWriter::create(&pair.log, Compression::None)?;
    pairs.each(|key, value| Ok(writer.put(key, value)?))?;
    writer.finish()?;
    Ok(())
}

fn index_by_c(pair: &Pair) -> Result {
    // One that stayed would be updated; ours goes within the time that counts, too.
    let _ = fs::remove_file(&pair.index);
    Ok(libsparkey::write_index(&pair.log, &pair.index, 0)?)
}
