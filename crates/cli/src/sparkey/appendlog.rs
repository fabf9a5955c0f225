//! `sparkey appendlog LOG`: puts from lines on standard input.
//!
//! ```text
//! <key> <delimiter> <value> <newline>
//! ```
//! As in Spotify's tool the first delimiter after the key splits the line, so a value may hold more of them; delimiters
//! before the key are skipped; neither key nor value can be empty. A line that cannot be split ends the reading, and
//! what was read before it stays. Unlike there, a last line without a newline counts, and NUL bytes are bytes.

use std::io::{self, BufRead};
use std::path::PathBuf;

use clap::Args;
use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_tables::LogFile;
use serde_json::json;

use super::Ignored;
use crate::exit::Outcome;
use crate::interrupt;
use crate::output::Output;
use crate::values::delimiter;

/// Append keys and values from standard input to a log
#[derive(Args)]
pub(crate) struct Appendlog {
    /// The byte between key and value [default: TAB]
    #[arg(short, value_name = "CHAR", value_parser = delimiter, default_value = "\t", hide_default_value = true, allow_hyphen_values = true)]
    delimiter: u8,
    /// The log, NAME.spl
    log: PathBuf,
    #[command(flatten)]
    _ignored: Ignored,
}

impl Appendlog {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let mut log = LogFile::append(&self.log)?;
        interrupt::keeps_log(&self.log)?;
        let mut puts = 0_u64;
        let read = lines(io::stdin().lock(), self.delimiter, |key, value| {
            puts += 1;
            log.put(key, value)
        });
        log.finish()?;
        read?;
        if out.json() {
            out.object(&json!({ "log": self.log.to_string_lossy(), "puts": puts }))?;
        }
        Ok(Outcome::Found)
    }
}

/// Hands the key and value of each line to `put`, until one cannot be split.
fn lines(mut from: impl BufRead, delimiter: u8, mut put: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        if from.read_until(b'\n', &mut line).doing("read standard input")? == 0 {
            break;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        let (key, value) = split(line, delimiter).ok_or_else(|| unsplit(number, delimiter))?;
        put(key, value)?;
    }
    Ok(())
}

/// Key and value, neither of them empty.
fn split(line: &[u8], delimiter: u8) -> Option<(&[u8], &[u8])> {
    let line = &line[line.iter().position(|byte| *byte != delimiter)?..];
    let at = line.iter().position(|byte| *byte == delimiter)?;
    let (key, value) = (&line[..at], &line[at + 1..]);
    (!value.is_empty()).then_some((key, value))
}

fn unsplit(line: u64, delimiter: u8) -> Error {
    let delimiter = delimiter.escape_ascii();
    Error::new(Kind::Invalid, format!("line {line} of standard input is not a key, `{delimiter}` and a value"))
        .remedy("the lines before it were appended; correct the line and append from there")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_split_as_in_spotifys_tool() {
        for (line, pair) in [
            ("k\tv", Some(("k", "v"))),
            ("k\tv\tw", Some(("k", "v\tw"))),
            ("k\t\tv", Some(("k", "\tv"))),
            ("\t\tk\tv", Some(("k", "v"))),
            ("k v", None),
            ("k\t", None),
            ("\tv", None),
            ("\t", None),
            ("", None),
        ] {
            let pair = pair.map(|(key, value)| (key.as_bytes(), value.as_bytes()));
            assert_eq!(split(line.as_bytes(), b'\t'), pair, "{line:?}");
        }
    }

    #[test]
    fn the_line_that_cannot_be_split_is_named_and_those_before_it_are_taken() {
        let mut taken = Vec::new();
        let error = lines(&b"a:1\nb:2\nc\nd:4\n"[..], b':', |key, value| {
            taken.push([key, value].concat());
            Ok(())
        });
        assert!(error.unwrap_err().finding().starts_with("line 3 "));
        assert_eq!(taken, [b"a1", b"b2"]);
    }

    #[test]
    fn a_last_line_without_a_newline_counts() {
        let mut taken = 0;
        lines(&b"a:1\nb:2"[..], b':', |_, _| {
            taken += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(taken, 2);
    }
}
