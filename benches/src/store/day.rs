//! A twelfth of Aggregate Knowledge's day: 840 million events of 125 million keys, which are 13.4 GiB of keys and values, in 20 GiB.

use super::bigmem::in_batches;
use super::events::{Events, Goals, Target};
use super::float;
use crate::Result;
use crate::report::Row;
use crate::scale::{Scale, in_words};

const DAY_12: &str = include_str!("../../vectors/bigmem/table_125000000_840000000.csv");
const LIMIT: u64 = 20 << 30;

pub(super) fn rows(scale: &Scale) -> Result<Vec<Row>> {
    let events = Events::of(scale, DAY_12);
    let limit = if scale.is_full() { LIMIT } else { events.limit(scale, 28) };
    let mut target = Target::create(limit, false, in_batches)?;
    let [windows] = events.append([&mut |records| target.append(records)])?;
    let name = format!("a twelfth of a day, {} events", in_words(events.count() as usize));
    let mut rows = target.rows(scale, &events, &windows, &name, Goals::default())?;
    let most = float(target.peak) / float(1 << 30);
    rows.push(Row::alone(format!("{name}, largest memory"), "GiB", most).goal(scale.goal("<= 20 GiB")));
    Ok(rows)
}
