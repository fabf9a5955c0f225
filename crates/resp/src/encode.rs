//! Replies, as bytes for a client of either version.
//!
//! Version 2 has strings, numbers, errors, arrays and two kinds of nothing. What version 3 has beyond that comes to a
//! client of version 2 as Redis sends it: a map as an array of keys and values, a double as a string, a boolean as
//! 0 or 1.

use std::io::Write;

/// A version of the protocol. A connection begins with 2; `HELLO 3` changes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// RESP 2.
    #[default]
    Two,
    /// RESP 3.
    Three,
}

/// Writes replies behind each other, to a buffer of the caller's.
#[derive(Debug)]
pub struct Encoder<'o> {
    out: &'o mut Vec<u8>,
    version: Version,
}

impl<'o> Encoder<'o> {
    /// Writes to `out`, behind what is there.
    pub fn new(out: &'o mut Vec<u8>, version: Version) -> Self {
        Self { out, version }
    }

    /// A short text, such as `OK`. Line ends in it become blanks.
    pub fn simple(&mut self, text: &str) {
        self.text(b'+', text);
    }

    /// An error: a word in capitals, and what is wrong. Line ends in it become blanks.
    pub fn error(&mut self, text: &str) {
        self.text(b'-', text);
    }

    /// A number.
    pub fn integer(&mut self, number: i64) {
        self.line(b':', number);
    }

    /// Any bytes.
    pub fn bulk(&mut self, bytes: &[u8]) {
        self.line(b'$', bytes.len());
        self.out.extend_from_slice(bytes);
        self.out.extend_from_slice(b"\r\n");
    }

    /// Nothing, where a value might be.
    pub fn null(&mut self) {
        self.out.extend_from_slice(if self.is_third() { b"_\r\n" } else { b"$-1\r\n" });
    }

    /// Nothing, where an array might be.
    pub fn null_array(&mut self) {
        self.out.extend_from_slice(if self.is_third() { b"_\r\n" } else { b"*-1\r\n" });
    }

    /// The head of an array: so many values follow.
    pub fn array(&mut self, count: usize) {
        self.line(b'*', count);
    }

    /// The head of a map: so many keys follow, each with its value behind it.
    pub fn map(&mut self, count: usize) {
        if self.is_third() { self.line(b'%', count) } else { self.array(2 * count) }
    }

    /// The head of a set.
    pub fn set(&mut self, count: usize) {
        if self.is_third() { self.line(b'~', count) } else { self.array(count) }
    }

    /// The head of what no request asked for, such as a message of a channel.
    pub fn push(&mut self, count: usize) {
        if self.is_third() { self.line(b'>', count) } else { self.array(count) }
    }

    /// A truth value.
    pub fn boolean(&mut self, is_true: bool) {
        match (self.is_third(), is_true) {
            (true, true) => self.out.extend_from_slice(b"#t\r\n"),
            (true, false) => self.out.extend_from_slice(b"#f\r\n"),
            (false, _) => self.integer(i64::from(is_true)),
        }
    }

    /// A double: the shortest digits that give it back.
    pub fn double(&mut self, number: f64) {
        let text = match number {
            number if number.is_nan() => "nan".into(),
            f64::INFINITY => "inf".into(),
            f64::NEG_INFINITY => "-inf".into(),
            number => number.to_string(),
        };
        if self.is_third() { self.text(b',', &text) } else { self.bulk(text.as_bytes()) }
    }

    /// Text for people, such as `INFO` gives.
    pub fn verbatim(&mut self, text: &str) {
        if !self.is_third() {
            return self.bulk(text.as_bytes());
        }
        self.line(b'=', text.len() + 4);
        self.out.extend_from_slice(b"txt:");
        self.out.extend_from_slice(text.as_bytes());
        self.out.extend_from_slice(b"\r\n");
    }

    fn is_third(&self) -> bool {
        self.version == Version::Three
    }

    fn line(&mut self, kind: u8, number: impl std::fmt::Display) {
        write!(self.out, "{}{number}\r\n", char::from(kind)).expect("a buffer takes all");
    }

    fn text(&mut self, kind: u8, text: &str) {
        self.out.push(kind);
        self.out.extend(text.bytes().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte }));
        self.out.extend_from_slice(b"\r\n");
    }
}
