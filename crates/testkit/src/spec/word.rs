//! A word of a step: bytes, or nothing.

use std::fmt;

/// More bytes of a word than these are not shown.
const SHOWN: usize = 60;

/// The bytes that a word stands for; of the word `nothing`, none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word(Option<Vec<u8>>);

impl Word {
    /// Nothing, as the result of a lookup.
    pub const NOTHING: Self = Self(None);

    /// Reads a word as it is written in a step.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "nothing" => Ok(Self::NOTHING),
            "''" => Ok(Self::of([])),
            _ => repeated(text).map(Self::of),
        }
    }

    /// A result: bytes.
    pub fn of(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Some(bytes.into()))
    }

    /// A result: a number.
    pub fn number(number: u64) -> Self {
        Self::of(number.to_string())
    }

    /// A result: `yes` or `no`.
    pub fn yes(is: bool) -> Self {
        Self::of(if is { "yes" } else { "no" })
    }

    /// An argument: a key, a value. The key `nothing` is one like others.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or(b"nothing")
    }

    /// An argument that is text: an option, a file.
    pub fn text(&self) -> Result<&str, String> {
        str::from_utf8(self.bytes()).map_err(|_| format!("{self} is no text"))
    }

    /// An argument that is a number.
    pub fn to_number(&self) -> Result<u64, String> {
        self.text()?.parse().map_err(|_| format!("{self} is no number"))
    }
}

/// `WORD*N`, or a word without a star.
fn repeated(text: &str) -> Result<Vec<u8>, String> {
    match text.split_once('*') {
        None => unescaped(text),
        Some((word, times)) => {
            let times = times.parse().map_err(|_| format!("`{text}`: an asterisk is written %2a"))?;
            Ok(unescaped(word)?.repeat(times))
        }
    }
}

fn unescaped(text: &str) -> Result<Vec<u8>, String> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let byte = piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or_else(|| format!("`{text}`: a percent sign is written %25"))?);
        bytes.extend_from_slice(&piece.as_bytes()[2..]);
    }
    Ok(bytes)
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("nothing"),
            Some(bytes) if bytes.len() > SHOWN => {
                write!(f, "{}… ({} bytes)", bytes[..SHOWN].escape_ascii(), bytes.len())
            }
            Some(bytes) if bytes.is_empty() => f.write_str("''"),
            Some(bytes) => write!(f, "{}", bytes.escape_ascii()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_for_bytes() {
        for (text, bytes) in [
            ("red", &b"red"[..]),
            ("''", b""),
            ("%00%fF", b"\0\xff"),
            ("a%20b%25", b"a b%"),
            ("ab*3", b"ababab"),
            ("%2a*2", b"**"),
            ("x*0", b""),
            ("ü", "ü".as_bytes()),
        ] {
            assert_eq!(Word::parse(text), Ok(Word::of(bytes)), "{text}");
        }
        assert_eq!(Word::parse("nothing"), Ok(Word::NOTHING));
        assert_eq!(Word::parse("%6eothing"), Ok(Word::of("nothing")));
    }

    #[test]
    fn canary_what_is_no_word_is_refused() {
        for text in ["%", "100%", "%f", "%zz", "%é", "a*", "a*b*2", "a*-1"] {
            assert!(Word::parse(text).is_err(), "{text}");
        }
    }
}
