//! GNU gettext's text catalogue, `.po`, read as `msgfmt` compiles it.
//!
//! ```text
//! #, fuzzy                          flags of the entry below
//! msgctxt "menu"
//! msgid "one file"                  key    menu \x04 one file
//! msgid_plural "%d files"
//! msgstr[0] "eine Datei"            value  eine Datei \0 %d Dateien
//! msgstr[1] "%d Dateien"
//! #~ msgid "gone"                   obsolete
//! ```
//!
//! Entries that are fuzzy, obsolete or untranslated (an empty first `msgstr`) are skipped; so is the header, the entry
//! of the empty msgid, unless [`Options::catalogue_header`] asks for it. The plural msgid is no part of the key:
//! `ngettext` looks up the singular. `domain` lines are ignored, as by `msgfmt -o`.
//!
//! Where `msgfmt` fails we do too, except that we let pass what cannot change a pair: a byte order mark, what stands in
//! `#|` and `#~` lines, a msgid and a msgstr that do not both end their line, a key that occurs twice. Stricter we are
//! with a NUL in a string, where `msgfmt` drops what follows, with a folded line outside strings, and with text that is
//! not in the charset named.
//!
//! Own code, because the one crate that reads `.po` (`polib`) panics on a lone quote and cannot do without a header.

mod lexer;

use crate::charset::Charset;
use crate::{Options, Sink, without_bom};
use hammerspace_error::{Error, Result};
use lexer::{Lexer, Token};
use std::borrow::Cow;

/// What gettext puts between the context and the msgid.
const END_OF_CONTEXT: u8 = 0x04;

/// Reads a catalogue and hands every translated entry to `sink`.
pub fn read(bytes: &[u8], options: &Options, sink: &mut Sink) -> Result<()> {
    let bytes = without_bom(bytes);
    let charset = charset(bytes)?;
    // Comments may hold anything. So UTF-8, the usual case, is checked pair by pair and not as a whole.
    let text = if charset.is_utf_8() { Cow::Borrowed(bytes) } else { charset.decode(bytes)? };
    let mut parser = Parser::new(&text, charset.is_utf_8())?;
    while let Some(entry) = parser.entry()? {
        if entry.is_translated() && (options.catalogue_header || !entry.is_header()) {
            entry.check_utf_8()?;
            sink(&entry.key, &entry.value)?;
        }
    }
    Ok(())
}

/// The charset that the header names. It mostly comes first; up to there the file is read a second time.
fn charset(bytes: &[u8]) -> Result<Charset> {
    let mut parser = Parser::new(bytes, true)?;
    while let Some(entry) = parser.entry()? {
        if entry.is_header() {
            return Charset::named_in(&entry.value);
        }
    }
    Ok(Charset::UTF_8)
}

struct Entry {
    line: u64,
    fuzzy: bool,
    key: Vec<u8>,
    /// All plural forms, with NULs between.
    value: Vec<u8>,
}

impl Entry {
    /// The empty msgid without a context, not even an empty one.
    fn is_header(&self) -> bool {
        self.key.is_empty()
    }

    /// Whether `msgfmt` would compile it. A header counts even if fuzzy, as `msginit` leaves it.
    fn is_translated(&self) -> bool {
        (!self.fuzzy || self.is_header()) && self.value.first().is_some_and(|byte| *byte != 0)
    }

    fn check_utf_8(&self) -> Result<()> {
        for part in [&self.key, &self.value] {
            Charset::UTF_8.decode(part).map_err(|error| {
                let finding = format!("in the entry on line {}, {}", self.line, error.finding());
                Error::new(error.kind(), finding).remedy(error.advice().unwrap_or_default())
            })?;
        }
        Ok(())
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The token to be parsed next.
    token: Token<'a>,
}

impl<'a> Parser<'a> {
    fn new(bytes: &'a [u8], verbatim: bool) -> Result<Self> {
        let mut lexer = Lexer::new(bytes, verbatim);
        let token = lexer.next()?;
        Ok(Self { lexer, token })
    }

    fn advance(&mut self) -> Result<()> {
        self.token = self.lexer.next()?;
        Ok(())
    }

    /// The next entry, whether translated or not.
    fn entry(&mut self) -> Result<Option<Entry>> {
        let mut fuzzy = false;
        loop {
            match &self.token {
                Token::End => return Ok(None),
                Token::Word(b"msgctxt" | b"msgid") => return self.message(fuzzy).map(Some),
                Token::Word(b"domain") => {
                    self.advance()?;
                    self.strings(&mut Vec::new())?;
                }
                Token::Comment(comment) => {
                    match comment {
                        [b'~', ..] => fuzzy = false, // whatever the flags were, they were the obsolete entry's
                        [b',' | b'!', flags @ ..] => fuzzy = is_fuzzy(flags), // msgfmt, too, goes by the last such line
                        _ => {}
                    }
                    self.advance()?;
                }
                _ => return Err(self.unexpected(&Token::Word(b"msgid"))),
            }
        }
    }

    fn message(&mut self, fuzzy: bool) -> Result<Entry> {
        let mut entry = Entry { line: self.lexer.line(), fuzzy, key: Vec::new(), value: Vec::new() };
        if self.skip_word(b"msgctxt")? {
            self.strings(&mut entry.key)?;
            entry.key.push(END_OF_CONTEXT);
        }
        self.expect(&Token::Word(b"msgid"))?;
        self.strings(&mut entry.key)?;
        if self.skip_word(b"msgid_plural")? {
            self.strings(&mut Vec::new())?;
            self.plural_forms(&mut entry.value)?;
        } else {
            self.expect(&Token::Word(b"msgstr"))?;
            self.strings(&mut entry.value)?;
        }
        Ok(entry)
    }

    /// `msgstr[0] "…" msgstr[1] "…" …`, in this order.
    fn plural_forms(&mut self, value: &mut Vec<u8>) -> Result<()> {
        self.expect(&Token::Word(b"msgstr"))?;
        for form in 0.. {
            self.expect(&Token::Open)?;
            self.expect(&Token::Number(form))?;
            self.expect(&Token::Close)?;
            self.strings(value)?;
            if !self.skip_word(b"msgstr")? {
                break;
            }
            value.push(0);
        }
        Ok(())
    }

    /// One string or more, side by side, as one.
    fn strings(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if !matches!(self.token, Token::Text(_)) {
            return Err(self.unexpected(&Token::Text(Vec::new())));
        }
        while let Token::Text(text) = &self.token {
            out.extend_from_slice(text);
            self.advance()?;
        }
        Ok(())
    }

    fn skip_word(&mut self, word: &[u8]) -> Result<bool> {
        let found = self.token == Token::Word(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, wanted: &Token) -> Result<()> {
        if self.token != *wanted {
            return Err(self.unexpected(wanted));
        }
        self.advance()
    }

    #[cold]
    fn unexpected(&self, wanted: &Token) -> Error {
        self.lexer.malformed(format_args!("expected {wanted}, found {}", self.token))
    }
}

fn is_fuzzy(flags: &[u8]) -> bool {
    flags.split(|byte| b" \t\r\x0b\x0c,".contains(byte)).any(|flag| flag == b"fuzzy")
}

#[cfg(test)]
mod tests;
