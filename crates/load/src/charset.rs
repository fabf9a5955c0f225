//! The charset that a gettext catalogue says it is written in, and the way from there to UTF-8.
//!
//! Labels are those of the WHATWG Encoding Standard, by way of `encoding_rs`. Its ISO-8859-1 is windows-1252, which
//! differs only in 0x80–0x9f, where Latin-1 has no text. A catalogue that names no charset, ASCII, or the `CHARSET` of
//! an unfilled template is taken for UTF-8, of which ASCII is a part.

use encoding_rs::{Encoding, UTF_8};
use hammerspace_error::{Error, Kind, Result};
use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Charset(&'static Encoding);

impl Charset {
    pub(crate) const UTF_8: Self = Self(UTF_8);

    /// The charset that a catalogue's header names, as gettext finds it: whatever follows `charset=`.
    pub(crate) fn named_in(header: &[u8]) -> Result<Self> {
        let Some(label) = label(header) else { return Ok(Self::UTF_8) };
        if [&b"CHARSET"[..], b"ASCII", b"US-ASCII"].iter().any(|alias| label.eq_ignore_ascii_case(alias)) {
            return Ok(Self::UTF_8);
        }
        // Headers must be readable before their charset is known, so UTF-16 and the like cannot be meant.
        match Encoding::for_label_no_replacement(label).filter(|encoding| encoding.is_ascii_compatible()) {
            Some(encoding) => Ok(Self(encoding)),
            None => Err(Error::new(Kind::Unsupported, format!("the charset `{}` is not known", label.escape_ascii()))
                .remedy("convert the catalogue with `msgconv --to-code=UTF-8`")),
        }
    }

    pub(crate) fn is_utf_8(self) -> bool {
        self == Self::UTF_8
    }

    /// The text in UTF-8; borrowed where it is that already.
    pub(crate) fn decode(self, bytes: &[u8]) -> Result<Cow<'_, [u8]>> {
        match self.0.decode_without_bom_handling_and_without_replacement(bytes) {
            Some(Cow::Borrowed(text)) => Ok(Cow::Borrowed(text.as_bytes())),
            Some(Cow::Owned(text)) => Ok(Cow::Owned(text.into_bytes())),
            None => Err(Error::new(Kind::Corrupt, format!("the text is not {}", self.0.name()))
                .remedy("correct the charset in the catalogue's header, or the text")),
        }
    }
}

fn label(header: &[u8]) -> Option<&[u8]> {
    const MARK: &[u8] = b"charset=";
    let at = header.windows(MARK.len()).position(|window| window == MARK)? + MARK.len();
    header[at..].split(|byte| b" \t\n".contains(byte)).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(header: &[u8]) -> Result<Charset> {
        Charset::named_in(header)
    }

    #[test]
    fn the_header_names_the_charset() {
        let latin_2 = named(b"X: y\nContent-Type: text/plain; charset=ISO-8859-2\nZ: z\n").unwrap();
        assert_eq!(&*latin_2.decode(b"\xb1").unwrap(), "ą".as_bytes());
        for header in ["", "charset=CHARSET", "charset=us-ascii\n", "charset=utf8 ", "charset=UTF-8\n"] {
            assert!(named(header.as_bytes()).unwrap().is_utf_8(), "{header}");
        }
    }

    #[test]
    fn what_we_cannot_decode_is_said() {
        for header in ["charset=KLINGON", "charset=", "charset=UTF-16LE", "charset=ISO-2022-KR"] {
            assert_eq!(named(header.as_bytes()).unwrap_err().kind(), Kind::Unsupported, "{header}");
        }
        assert_eq!(Charset::UTF_8.decode(b"a\xff").unwrap_err().kind(), Kind::Corrupt);
    }
}
