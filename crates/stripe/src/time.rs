//! Dates and times as text, and as the counts that columns hold.

use std::io::Write;

use chrono::{DateTime, NaiveDate, NaiveTime, SecondsFormat, TimeDelta};
use hammerspace_split::instant;
use parquet::data_type::Int96;

use crate::leaf::Misfit;

const NANOS: i64 = 1_000_000_000;

/// Days since 1970.
pub(crate) fn parse_date(text: &str) -> Result<i32, Misfit> {
    let date: NaiveDate = text.parse().map_err(|_| format!("{text:?} is not a date such as \"2011-06-20\""))?;
    Ok((date - NaiveDate::default()).num_days() as i32)
}

/// Units since midnight.
pub(crate) fn parse_time(text: &str, per_second: i64) -> Result<i128, Misfit> {
    let time: NaiveTime = text.parse().map_err(|_| format!("{text:?} is not a time such as \"17:29:12\""))?;
    let since = time - NaiveTime::default();
    count(since.num_seconds(), since.subsec_nanos(), per_second).ok_or_else(|| finer(text))
}

/// Units since 1970.
pub(crate) fn parse_instant(text: &str, per_second: i64) -> Result<i128, Misfit> {
    let at = instant(text).ok_or_else(|| format!("{text:?} is not a time such as \"2011-06-20T17:29:12Z\""))?;
    count(at.timestamp(), at.timestamp_subsec_nanos().cast_signed(), per_second).ok_or_else(|| finer(text))
}

fn count(seconds: i64, nanos: i32, per_second: i64) -> Option<i128> {
    let unit = NANOS / per_second;
    (i64::from(nanos) % unit == 0)
        .then(|| i128::from(seconds) * i128::from(per_second) + i128::from(i64::from(nanos) / unit))
}

fn finer(text: &str) -> Misfit {
    format!("{text:?} is finer than the field's unit")
}

/// Writes a date as a JSON string; as a number where no calendar goes so far.
pub(crate) fn write_date(days: i32, to: &mut Vec<u8>) {
    let date = NaiveDate::default().checked_add_signed(TimeDelta::days(days.into()));
    let _ = match date {
        Some(date) => write!(to, "\"{date}\""),
        None => write!(to, "{days}"),
    };
}

/// Writes a time of day as a JSON string; as a number where it is none.
pub(crate) fn write_time(count: i64, per_second: i64, to: &mut Vec<u8>) {
    let (seconds, nanos) = parts(count, per_second);
    let time =
        u32::try_from(seconds).ok().and_then(|seconds| NaiveTime::from_num_seconds_from_midnight_opt(seconds, nanos));
    let _ = match time {
        Some(time) => write!(to, "\"{time}\""),
        None => write!(to, "{count}"),
    };
}

/// Writes an instant as a JSON string; as a number where no calendar goes so far.
pub(crate) fn write_instant(count: i64, per_second: i64, is_utc: bool, to: &mut Vec<u8>) {
    let (seconds, nanos) = parts(count, per_second);
    let _ = match DateTime::from_timestamp(seconds, nanos) {
        Some(at) if is_utc => write!(to, "\"{}\"", at.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
        Some(at) => write!(to, "\"{:?}\"", at.naive_utc()),
        None => write!(to, "{count}"),
    };
}

fn parts(count: i64, per_second: i64) -> (i64, u32) {
    let nanos = count.rem_euclid(per_second) * (NANOS / per_second);
    (count.div_euclid(per_second), nanos.cast_unsigned() as u32)
}

/// The Julian day on which 1970 begins.
const JULIAN_1970: i64 = 2_440_588;
const NANOS_PER_DAY: i64 = 86_400 * NANOS;

/// Nanoseconds since 1970 as Parquet's first type for times held them: nanoseconds of a Julian day, then the day.
pub(crate) fn to_int96(nanos: i64) -> Int96 {
    let of_day = nanos.rem_euclid(NANOS_PER_DAY).cast_unsigned();
    let day = (nanos.div_euclid(NANOS_PER_DAY) + JULIAN_1970).cast_unsigned() as u32;
    let mut held = Int96::new();
    held.set_data(of_day as u32, (of_day >> 32) as u32, day);
    held
}

/// Writes such a time as a JSON string.
pub(crate) fn write_int96(held: &Int96, to: &mut Vec<u8>) {
    let data = held.data();
    let nanos = i64::from(data[1]) << 32 | i64::from(data[0]);
    let days = i64::from(data[2]) - JULIAN_1970;
    let at = DateTime::from_timestamp(days * 86_400 + nanos.div_euclid(NANOS), nanos.rem_euclid(NANOS) as u32);
    let _ = match at {
        Some(at) => write!(to, "\"{}\"", at.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
        None => write!(to, "{}", i128::from(days) * i128::from(NANOS_PER_DAY) + i128::from(nanos)),
    };
}
