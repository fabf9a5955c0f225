//! Values of columns as JSON. See [`leaf`](crate::leaf) for what stands for what.

use std::io::Write;

use data_encoding::BASE64;
use parquet::errors::{ParquetError, Result};

use crate::decimal::scaled;
use crate::leaf::{DIGITS_OF_NUMBERS, Leaf};
use crate::stream::Value;
use crate::time;

/// Writes a value as JSON. Says whether bytes that are no text were written in base64.
pub(crate) fn write(leaf: Leaf, value: Value, to: &mut Vec<u8>) -> Result<bool> {
    match (leaf, value) {
        (_, Value::Bool(value)) => json(&value, to),
        (Leaf::Int { is_signed: false, .. }, Value::Int32(value)) => json(&value.cast_unsigned(), to),
        (Leaf::Int { is_signed: false, .. }, Value::Int64(value)) => json(&value.cast_unsigned(), to),
        (Leaf::Date, Value::Int32(days)) => time::write_date(days, to),
        (Leaf::Time(per_second), Value::Int32(count)) => time::write_time(count.into(), per_second, to),
        (Leaf::Time(per_second), Value::Int64(count)) => time::write_time(count, per_second, to),
        (Leaf::Timestamp { per_second, is_utc }, Value::Int64(count)) => {
            time::write_instant(count, per_second, is_utc, to);
        }
        (_, Value::Int96(held)) => time::write_int96(held, to),
        (Leaf::Decimal { precision, scale, .. }, value) => decimal(unscaled(value)?, precision, scale, to),
        (_, Value::Int32(value)) => json(&value, to),
        (_, Value::Int64(value)) => json(&value, to),
        (_, Value::Float(value)) if value.is_finite() => json(&value, to),
        (_, Value::Float(value)) => json(not_finite(value.into()), to),
        (_, Value::Double(value)) if value.is_finite() => json(&value, to),
        (_, Value::Double(value)) => json(not_finite(value), to),
        (_, Value::Bytes(bytes)) => return string(leaf, bytes, to),
    }
    Ok(false)
}

fn string(leaf: Leaf, bytes: &[u8], to: &mut Vec<u8>) -> Result<bool> {
    match std::str::from_utf8(bytes) {
        Ok(text) => json(text, to),
        Err(_) if leaf.is_binary() => {
            json(&BASE64.encode(bytes), to);
            return Ok(true);
        }
        Err(wrong) => return Err(ParquetError::General(format!("a string is not UTF-8: {wrong}"))),
    }
    Ok(false)
}

fn json(value: &(impl serde::Serialize + ?Sized), to: &mut Vec<u8>) {
    serde_json::to_writer(to, value).expect("memory takes whatever is written");
}

fn not_finite(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

fn unscaled(value: Value) -> Result<i128> {
    Ok(match value {
        Value::Int32(value) => value.into(),
        Value::Int64(value) => value.into(),
        Value::Bytes(bytes) if (1..=16).contains(&bytes.len()) => {
            let mut wide = [if bytes[0] & 0x80 == 0 { 0 } else { 0xff }; 16];
            wide[16 - bytes.len()..].copy_from_slice(bytes);
            i128::from_be_bytes(wide)
        }
        _ => return Err(ParquetError::General("a decimal has more than 128 bits, or none".into())),
    })
}

fn decimal(unscaled: i128, precision: u32, scale: u32, to: &mut Vec<u8>) {
    let quote = if precision > DIGITS_OF_NUMBERS { "\"" } else { "" };
    let _ = write!(to, "{quote}{}{quote}", scaled(unscaled, scale));
}
