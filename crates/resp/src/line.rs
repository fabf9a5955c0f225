//! Lines and the numbers on them.

/// The line that begins the input, without its `\r\n`; `None` until all of it is there.
pub(crate) fn line(input: &[u8]) -> Option<&[u8]> {
    let end = input.iter().position(|byte| *byte == b'\r')?;
    (end + 1 < input.len()).then(|| &input[..end])
}

/// A number in its canonical form, the only one that Redis takes: digits, a minus sign in front, no leading zeros.
///
/// ```
/// # use hammerspace_resp::number;
/// assert_eq!(number(b"-17"), Some(-17));
/// assert_eq!([number(b"+1"), number(b"01"), number(b"9223372036854775808")], [None; 3]);
/// ```
pub fn number(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_canonical = match digits {
        [] => false,
        [b'0'] => digits.len() == text.len(),
        [first, ..] => *first != b'0' && digits.iter().all(u8::is_ascii_digit),
    };
    is_canonical.then(|| str::from_utf8(text).ok()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_with_both_bytes() {
        assert_eq!([line(b"*1\r\n$"), line(b"\r\n")], [Some(&b"*1"[..]), Some(&b""[..])]);
        assert_eq!([line(b"*1"), line(b"*1\r"), line(b"*1\n")], [None; 3]);
    }

    #[test]
    fn numbers_are_written_in_one_way() {
        for (text, wanted) in
            [("0", 0), ("-1", -1), ("9223372036854775807", i64::MAX), ("-9223372036854775808", i64::MIN)]
        {
            assert_eq!(number(text.as_bytes()), Some(wanted));
        }
        for text in ["", "-", "-0", "01", "+1", " 1", "1 ", "1a", "9223372036854775808"] {
            assert_eq!(number(text.as_bytes()), None, "{text:?}");
        }
    }
}
