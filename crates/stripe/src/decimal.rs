//! Decimals: whole numbers of 128 bits, of whose digits so many stand behind the point.

use std::fmt::Write;

/// The digits of a number as one whole number, if it has as many as are allowed.
pub(crate) fn unscaled(text: &str, precision: u32, scale: u32) -> Option<i128> {
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    let scale = scale as usize;
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) || fraction.len() > scale {
        return None;
    }
    let digits = format!("{whole}{fraction:0<scale$}");
    let number: i128 = digits.parse().ok()?;
    (number < 10_i128.checked_pow(precision)?).then_some(if is_negative { -number } else { number })
}

/// Such a number as text.
pub(crate) fn scaled(unscaled: i128, scale: u32) -> String {
    let mut text = String::new();
    let (digits, scale) = (unscaled.unsigned_abs().to_string(), scale as usize);
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let _ = write!(text, "{}{whole}", if unscaled < 0 { "-" } else { "" });
    if scale > 0 {
        let _ = write!(text, ".{fraction}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_come_back_and_others_are_refused() {
        for (text, number) in [("12.34", 1234), ("-0.05", -5), ("7", 700), ("0", 0), ("99999.9", 9_999_990)] {
            assert_eq!(unscaled(text, 7, 2), Some(number), "{text}");
            assert_eq!(unscaled(&scaled(number, 2), 7, 2), Some(number));
        }
        for text in ["", "-", ".5", "1.234", "123456", "1e3", "+1", "1.2.3"] {
            assert_eq!(unscaled(text, 7, 2), None, "{text}");
        }
        assert_eq!(scaled(-1234, 0), "-1234");
        assert_eq!(scaled(5, 3), "0.005");
    }
}
