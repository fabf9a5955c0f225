//! Rows of a key and an HLL, in the text format of PostgreSQL's `COPY`.
//!
//! ```text
//! monday<TAB>\\x128b7f…        a backslash, a tab and ends of line are escaped; so the value begins with two backslashes
//! ```

use hammerspace::store::hll::HllBuf;
use hammerspace_error::{Error, Kind, Result};

use crate::output::shown;

/// A key and a value as a row.
pub(super) fn write(key: &[u8], hll: &HllBuf) -> Vec<u8> {
    let mut row = Vec::new();
    for byte in key {
        match byte {
            b'\\' => row.extend(b"\\\\"),
            b'\t' => row.extend(b"\\t"),
            b'\n' => row.extend(b"\\n"),
            b'\r' => row.extend(b"\\r"),
            byte => row.push(*byte),
        }
    }
    row.extend(format!("\t\\{hll}\n").as_bytes());
    row
}

/// The key and the value of a row; one backslash before the value will do.
pub(super) fn read(row: &[u8]) -> Result<(Vec<u8>, HllBuf)> {
    let invalid = |finding: &str| {
        Error::new(Kind::Invalid, format!("{} {finding}", shown(&row[..row.len().min(80)])))
            .remedy("give a key, a tab and a value such as \\\\x118b7f in each line, as COPY writes them")
    };
    let tab = row.iter().position(|byte| *byte == b'\t').ok_or_else(|| invalid("has no tab"))?;
    let key = unescaped(&row[..tab]).ok_or_else(|| invalid("has an escape in its key that COPY does not write"))?;
    let value = std::str::from_utf8(&row[tab + 1..]).map_err(|_| invalid("has a value that is no text"))?;
    let value = if value.starts_with("\\\\") { &value[1..] } else { value };
    Ok((key, value.parse()?))
}

fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let (mut bytes, mut rest) = (Vec::new(), text.iter());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next()? {
                b'\\' => b'\\',
                b't' => b'\t',
                b'n' => b'\n',
                b'r' => b'\r',
                b'b' => 8,
                b'f' => 12,
                b'v' => 11,
                _ => return None,
            },
            byte => *byte,
        });
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hammerspace::store::hll::Params;

    #[test]
    fn a_row_comes_back() {
        let empty = HllBuf::new(Params::default());
        for key in [&b"monday"[..], b"", b"a\tb\\c\nd\re\\t", &[0, 255]] {
            let row = write(key, &empty);
            assert!(row.ends_with(b"\t\\\\x118b7f\n"));
            assert_eq!(row.iter().position(|byte| *byte == b'\n'), Some(row.len() - 1));
            assert_eq!(read(&row[..row.len() - 1]).unwrap(), (key.to_vec(), empty.clone()));
        }
        assert_eq!(read(b"k\t\\x118b7f").unwrap().1, empty, "as psql prints it");
        for row in [&b"k"[..], b"k\\q\t\\\\x118b7f", b"k\t118b7f", b"k\t\\\\x118b", b"k\t\xff"] {
            assert!(read(row).is_err(), "{}", row.escape_ascii());
        }
    }
}
