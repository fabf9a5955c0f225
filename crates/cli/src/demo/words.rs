//! Numbers as people read them: three digits, and a unit.

use std::time::Duration;

use indicatif::{DecimalBytes, HumanFloatCount};

/// `97.0 MB`; what the system does not tell is not known.
pub(super) fn bytes(bytes: Option<u64>) -> String {
    bytes.map_or("not known".into(), |bytes| DecimalBytes(bytes).to_string())
}

/// `84.1 µs`
pub(super) fn time(time: Duration) -> String {
    let ns = time.as_secs_f64() * 1e9;
    match ns {
        ..1e3 => format!("{ns:.0} ns"),
        ..1e6 => format!("{} µs", digits(ns / 1e3)),
        ..1e9 => format!("{} ms", digits(ns / 1e6)),
        _ => format!("{} s", digits(ns / 1e9)),
    }
}

/// `1.84 M`
pub(super) fn count(count: f64) -> String {
    match count {
        ..1e3 => format!("{count:.0}"),
        ..1e6 => format!("{} k", digits(count / 1e3)),
        _ => format!("{} M", digits(count / 1e6)),
    }
}

/// Three of them, or as many as stand before the point.
fn digits(number: f64) -> String {
    match number {
        ..10.0 => format!("{number:.2}"),
        ..100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

/// How many in a second.
pub(super) fn per_second(count: u64, time: Duration) -> f64 {
    ratio(count, 1) / time.as_secs_f64()
}

/// One by the other.
#[expect(clippy::cast_precision_loss, reason = "fifteen digits are more than anybody reads")]
pub(super) fn ratio(one: u64, other: u64) -> f64 {
    one as f64 / other as f64
}

/// How the second compares with the first, where less is better: `7.4 times less`, `1.2 times more`, `the same`.
pub(super) fn times(first: u64, second: u64, [less, more]: [&str; 2]) -> String {
    if first == 0 || second == 0 {
        return String::new();
    }
    let (times, word) = if second <= first { (ratio(first, second), less) } else { (ratio(second, first), more) };
    match times {
        ..1.05 => "the same".into(),
        ..10.0 => format!("{times:.1} times {word}"),
        _ => format!("{} times {word}", HumanFloatCount(times.round())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        let shown = [0, 999, 84_120, 640_400_000, 12_345_678_901].map(|ns| time(Duration::from_nanos(ns)));
        assert_eq!(shown, ["0 ns", "999 ns", "84.1 µs", "640 ms", "12.3 s"]);
        assert_eq!([12.0, 1840.0, 6_512_000.0].map(count), ["12", "1.84 k", "6.51 M"]);
        assert_eq!(bytes(Some(97_000_000)), "97.00 MB");
    }

    #[test]
    fn a_row_we_lose_is_shown() {
        let words = ["less", "more"];
        assert_eq!(times(120, 16, words), "7.5 times less");
        assert_eq!(times(640, 9, words), "71 times less");
        assert_eq!(times(1_234_567, 1000, words), "1,235 times less");
        assert_eq!(times(100, 150, words), "1.5 times more");
        assert_eq!(times(100, 102, words), "the same");
    }
}
