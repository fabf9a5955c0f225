//! Requests on one line, as a person types them into a terminal.

use std::ops::Range;

use crate::error::ProtocolError;

/// Splits a line into arguments: at blanks, but for those in quotes. Appends their bytes to `out`, and gives where
/// each lies there.
///
/// In double quotes `\n \r \t \b \a`, `\xHH`, and a backslash before any other byte mean what they do in C; in single
/// quotes only `\'`. Behind a closing quote comes a blank or the end.
pub(crate) fn split(line: &[u8], out: &mut Vec<u8>) -> Result<Vec<Range<usize>>, ProtocolError> {
    // To Redis the line is a string of C.
    let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
    let (mut rest, mut args) = (trim(line), Vec::new());
    while !rest.is_empty() {
        let start = out.len();
        rest = trim(argument(rest, out)?);
        args.push(start..out.len());
    }
    Ok(args)
}

/// What `isspace` says in C.
fn is_blank(byte: u8) -> bool {
    byte == b' ' || (0x09..=0x0d).contains(&byte)
}

fn trim(line: &[u8]) -> &[u8] {
    &line[line.iter().take_while(|byte| is_blank(**byte)).count()..]
}

/// Appends the bytes of the argument that begins the line. Gives what is behind it.
fn argument<'l>(mut line: &'l [u8], out: &mut Vec<u8>) -> Result<&'l [u8], ProtocolError> {
    loop {
        match line {
            [b'"', rest @ ..] => return closed(double_quoted(rest, out)?),
            [b'\'', rest @ ..] => return closed(single_quoted(rest, out)?),
            [] | [b' ' | b'\n' | b'\r' | b'\t', ..] => return Ok(line),
            [byte, rest @ ..] => {
                out.push(*byte);
                line = rest;
            }
        }
    }
}

/// Refuses text right behind a closing quote.
fn closed(rest: &[u8]) -> Result<&[u8], ProtocolError> {
    match rest.first() {
        Some(byte) if !is_blank(*byte) => Err(ProtocolError::Quotes),
        _ => Ok(rest),
    }
}

fn double_quoted<'l>(mut line: &'l [u8], out: &mut Vec<u8>) -> Result<&'l [u8], ProtocolError> {
    loop {
        line = match line {
            [] => return Err(ProtocolError::Quotes),
            [b'"', rest @ ..] => return Ok(rest),
            [b'\\', b'x', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                out.push(hex(*high) << 4 | hex(*low));
                rest
            }
            [b'\\', byte, rest @ ..] => {
                out.push(escaped(*byte));
                rest
            }
            [byte, rest @ ..] => {
                out.push(*byte);
                rest
            }
        }
    }
}

fn single_quoted<'l>(mut line: &'l [u8], out: &mut Vec<u8>) -> Result<&'l [u8], ProtocolError> {
    loop {
        line = match line {
            [] => return Err(ProtocolError::Quotes),
            [b'\'', rest @ ..] => return Ok(rest),
            [b'\\', b'\'', rest @ ..] => {
                out.push(b'\'');
                rest
            }
            [byte, rest @ ..] => {
                out.push(*byte);
                rest
            }
        }
    }
}

fn escaped(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 0x08,
        b'a' => 0x07,
        other => other,
    }
}

fn hex(digit: u8) -> u8 {
    char::from(digit).to_digit(16).unwrap_or(0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Result<Vec<String>, ProtocolError> {
        let mut out = Vec::new();
        let ranges = split(line.as_bytes(), &mut out)?;
        Ok(ranges.into_iter().map(|range| String::from_utf8_lossy(&out[range]).into_owned()).collect())
    }

    #[test]
    fn arguments_end_at_blanks_outside_of_quotes() {
        assert_eq!(args("  set  key \"a b\" ").unwrap(), ["set", "key", "a b"]);
        assert_eq!(args(r#"x"y z" '' "\x41\n\q" 'it\'s \n'"#).unwrap(), ["xy z", "", "A\nq", "it's \\n"]);
        assert_eq!(args("").unwrap(), Vec::<String>::new());
        assert_eq!(args("a\0 b").unwrap(), ["a"], "as a string of C");
    }

    #[test]
    fn quotes_are_closed_and_nothing_follows_them() {
        for line in ["\"a", "'a", "\"a\"b", "'a'b", "\"a\\"] {
            assert_eq!(args(line), Err(ProtocolError::Quotes), "{line}");
        }
    }
}
