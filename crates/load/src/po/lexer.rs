//! Words, strings and marks of a `.po` file.
//!
//! ```text
//! # comment to the end of the line      word  "string with \n \t \" \\ \101 \x41"      [ 12 ]
//! ```
//! Lines mean nothing but to comments, and strings do not run over them. Escapes are C's (`\u` is not among them); an
//! octal one has up to three digits, a hexadecimal one takes all that follow, of which the last two count.

use super::END_OF_CONTEXT;
use hammerspace_error::{Error, Kind, Result};
use std::fmt;

const NUL: u8 = 0;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// What follows `#`, to the end of the line.
    Comment(&'a [u8]),
    Word(&'a [u8]),
    /// Without its quotes, escapes replaced.
    Text(Vec<u8>),
    Number(usize),
    Open,
    Close,
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Comment(_) => f.write_str("a comment"),
            Self::Word(word) => write!(f, "`{}`", word.escape_ascii()),
            Self::Text(_) => f.write_str("a string"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Open => f.write_str("`[`"),
            Self::Close => f.write_str("`]`"),
            Self::End => f.write_str("the end of the file"),
        }
    }
}

pub(super) struct Lexer<'a> {
    rest: &'a [u8],
    /// The line that `rest` begins on, from 1.
    line: u64,
    /// Whether the bytes are those of the file, so that an escape for a byte beyond ASCII is in their charset.
    verbatim: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8], verbatim: bool) -> Self {
        Self { rest: bytes, line: 1, verbatim }
    }

    pub(super) fn line(&self) -> u64 {
        self.line
    }

    pub(super) fn next(&mut self) -> Result<Token<'a>> {
        self.skip_blanks();
        let Some(&first) = self.rest.first() else { return Ok(Token::End) };
        match first {
            b'#' => Ok(Token::Comment(&self.take_while(|byte| byte != b'\n')[1..])),
            b'"' => self.text(),
            b'[' | b']' => {
                self.rest = &self.rest[1..];
                Ok(if first == b'[' { Token::Open } else { Token::Close })
            }
            b'0'..=b'9' => Ok(self.number()),
            _ if in_word(first) => Ok(Token::Word(self.take_while(in_word))),
            _ => Err(self.malformed(format!("unexpected `{}`", first.escape_ascii()))),
        }
    }

    fn skip_blanks(&mut self) {
        let blanks = self.take_while(|byte| b" \t\r\n\x0b\x0c".contains(&byte));
        self.line += blanks.split(|byte| *byte == b'\n').skip(1).count() as u64;
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a [u8] {
        let len = self.rest.iter().position(|byte| !wanted(*byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest;
        taken
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn number(&mut self) -> Token<'a> {
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        let push = |number: usize, digit: &u8| number.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
        Token::Number(digits.iter().fold(0, push))
    }

    fn text(&mut self) -> Result<Token<'a>> {
        self.byte();
        let mut text = Vec::new();
        loop {
            text.extend_from_slice(self.take_while(|byte| !b"\"\\\n\0\x04".contains(&byte)));
            match self.byte() {
                Some(b'"') => return Ok(Token::Text(text)),
                Some(b'\\') => text.extend(self.escape()?),
                Some(separator @ (NUL | END_OF_CONTEXT)) => return Err(self.reserved(separator)),
                _ => return Err(self.malformed("a string is not closed before the end of its line")),
            }
        }
    }

    /// The byte that an escape stands for; none for a line break after the backslash, which only folds the line.
    fn escape(&mut self) -> Result<Option<u8>> {
        let byte = match self.byte() {
            Some(b'\n') => {
                self.line += 1;
                return Ok(None);
            }
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'b') => 0x08,
            Some(b'r') => b'\r',
            Some(b'f') => 0x0c,
            Some(b'v') => 0x0b,
            Some(b'a') => 0x07,
            Some(itself @ (b'\\' | b'"')) => itself,
            Some(digit @ b'0'..=b'7') => self.digits(8, u32::from(digit - b'0'), 2),
            Some(b'x') if self.rest.first().is_some_and(u8::is_ascii_hexdigit) => self.digits(16, 0, usize::MAX),
            _ => return Err(self.malformed("unknown escape in a string; a backslash itself is written `\\\\`")),
        };
        match byte {
            NUL | END_OF_CONTEXT => Err(self.reserved(byte)),
            0x80.. if !self.verbatim => {
                Err(self.malformed("an escape for a byte beyond ASCII, in a file that is not UTF-8"))
            }
            _ => Ok(Some(byte)),
        }
    }

    /// Up to `count` more digits after what is in `value`. As in C, what does not fit a byte is lost.
    fn digits(&mut self, radix: u32, mut value: u32, count: usize) -> u8 {
        for _ in 0..count {
            let Some(digit) = self.rest.first().and_then(|byte| char::from(*byte).to_digit(radix)) else { break };
            value = value.wrapping_mul(radix) | digit;
            self.byte();
        }
        value as u8
    }

    /// gettext ends the text at a NUL without a word, which would lose the rest, and fails at the other.
    fn reserved(&self, separator: u8) -> Error {
        self.malformed(format_args!("a byte {separator} in a string, where gettext needs it for a separator"))
    }

    #[cold]
    pub(super) fn malformed(&self, finding: impl fmt::Display) -> Error {
        Error::new(Kind::Corrupt, format!("line {}: {finding}", self.line))
            .remedy("correct it; `msgfmt --check FILE` shows all that is wrong")
    }
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}
