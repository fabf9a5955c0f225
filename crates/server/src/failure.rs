//! Why a command is refused, as the client reads it.

use std::borrow::Cow;

use hammerspace_error::{Error, Kind};

/// The text of an error reply: a word in capitals, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure(pub(crate) Cow<'static, str>);

/// What a command gives that has written its reply.
pub(crate) type Outcome = Result<(), Failure>;

impl Failure {
    pub(crate) const SYNTAX: Self = Self::of("ERR syntax error");
    pub(crate) const NOT_AN_INTEGER: Self = Self::of("ERR value is not an integer or out of range");
    pub(crate) const NOT_A_FLOAT: Self = Self::of("ERR value is not a valid float");
    pub(crate) const WRONG_TYPE: Self = Self::of("WRONGTYPE Operation against a key holding the wrong kind of value");
    pub(crate) const NO_SUCH_KEY: Self = Self::of("ERR no such key");
    pub(crate) const OVERFLOW: Self = Self::of("ERR increment or decrement would overflow");
    pub(crate) const TOO_LONG: Self = Self::of("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    pub(crate) const READ_ONLY: Self =
        Self::of("READONLY this database is a space, which changes as a whole; publish a new version of it");

    pub(crate) const fn of(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(Cow::Owned(text.into()))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error.kind() {
            Kind::Full => Self::of("OOM command not allowed when used memory > 'maxmemory'."),
            _ => Self::new(format!("ERR {error}")),
        }
    }
}
