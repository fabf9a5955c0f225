//! Sums of decimal fractions: exact, where Redis's `long double` is within a part in 10^19.
//!
//! A sum that 28 digits do not hold is made in double precision.

use rust_decimal::Decimal;

use crate::failure::Failure;

/// Digits behind the point that are shown, as in Redis.
const FRACTION_MAX: u32 = 17;
const NOT_FINITE: Failure = Failure::of("ERR increment would produce NaN or Infinity");

/// Adds two numbers, and writes the sum without an exponent and without trailing zeros.
pub(crate) fn add(number: &[u8], by: &[u8]) -> Result<String, Failure> {
    let (by, number) = (float(by)?, float(number)?);
    let exact = by.exact.zip(number.exact).and_then(|(by, number)| number.checked_add(by));
    if let Some(sum) = exact {
        return Ok(sum.round_dp(FRACTION_MAX).normalize().to_string());
    }
    let sum = number.near + by.near;
    if sum.is_finite() { Ok(shortened(sum)) } else { Err(NOT_FINITE) }
}

struct Float {
    near: f64,
    exact: Option<Decimal>,
}

/// A number in any notation that C reads, but for hexadecimal, blanks and NaN.
fn float(text: &[u8]) -> Result<Float, Failure> {
    let text = std::str::from_utf8(text).map_err(|_| Failure::NOT_A_FLOAT)?;
    let near: f64 = text.parse().map_err(|_| Failure::NOT_A_FLOAT)?;
    if near.is_nan() {
        return Err(Failure::NOT_A_FLOAT);
    }
    let exact = Decimal::from_str_exact(text).or_else(|_| Decimal::from_scientific(text)).ok();
    Ok(Float { near, exact })
}

fn shortened(sum: f64) -> String {
    let digits = format!("{sum:.17}");
    let short = digits.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".into() } else { short.into() }
}

#[cfg(test)]
mod tests {
    use super::add;

    #[test]
    fn sums_are_exact_as_far_as_digits_go() {
        for (number, by, sum) in [
            ("10.50", "0.1", "10.6"),
            ("0.1", "0.2", "0.3"),
            ("5.0e3", "2.0e2", "5200"),
            ("3", "-3", "0"),
            ("-0.0", "0", "0"),
            ("1e30", "0", "1000000000000000019884624838656"),
        ] {
            assert_eq!(add(number.as_bytes(), by.as_bytes()).unwrap(), sum, "{number} + {by}");
        }
        for bad in ["", " 1", "x", "nan", "0x10", "1 "] {
            assert!(add(b"1", bad.as_bytes()).is_err(), "{bad:?}");
        }
        assert!(add(b"1e308", b"inf").is_err());
    }
}
