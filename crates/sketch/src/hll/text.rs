//! Values as text: `\x` and hexadecimal digits, as PostgreSQL prints and reads them.

use std::fmt;
use std::str::FromStr;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use hammerspace_error::{Error, Kind, Result};

use super::HllBuf;

impl fmt::Display for HllBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\\x{}", HEXLOWER.encode_display(self.as_bytes()))
    }
}

impl FromStr for HllBuf {
    type Err = Error;

    /// Reads digits of either case, as PostgreSQL and java-hll write them; the value is checked as by
    /// [`HllBuf::read`].
    fn from_str(text: &str) -> Result<Self> {
        let digits = text.strip_prefix("\\x").ok_or_else(|| invalid("it does not begin with \\x"))?;
        let bytes = HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).map_err(invalid)?;
        Self::read(&bytes)
    }
}

fn invalid(why: impl fmt::Display) -> Error {
    Error::new(Kind::Invalid, format!("this text is no HLL: {why}")).remedy("write it as \\x and hexadecimal digits")
}
