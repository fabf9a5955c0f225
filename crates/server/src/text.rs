//! Arguments as numbers, the way Redis reads and writes them.

use hammerspace_resp::number;

use crate::failure::Failure;

/// An integer of 64 bits in its canonical form.
pub(crate) fn integer(arg: &[u8]) -> Result<i64, Failure> {
    number(arg).ok_or(Failure::NOT_AN_INTEGER)
}

/// The digits of an integer, behind each other in a buffer of its own.
pub(crate) fn digits(number: i64) -> Digits {
    use std::io::Write;
    let mut bytes = [0; 20];
    let mut rest = &mut bytes[..];
    write!(rest, "{number}").expect("twenty bytes hold any");
    let len = 20 - rest.len();
    Digits { bytes, len }
}

/// See [`digits`].
pub(crate) struct Digits {
    bytes: [u8; 20],
    len: usize,
}

impl AsRef<[u8]> for Digits {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Whether an argument is this word, which is in lower case.
pub(crate) fn is(arg: &[u8], word: &str) -> bool {
    arg.eq_ignore_ascii_case(word.as_bytes())
}

/// An argument as it is shown to people.
pub(crate) fn shown(arg: &[u8]) -> String {
    String::from_utf8_lossy(arg).into_owned()
}
