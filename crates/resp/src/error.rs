//! What a peer sends that is not the protocol.

use std::fmt;

/// Bytes that are not the protocol. The connection cannot go on: where the next request begins is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    /// The count of arguments is no number, or beyond the limit.
    MultibulkLength,
    /// The count of arguments does not end.
    MultibulkLine,
    /// The length of an argument is no number, negative, or beyond the limit.
    BulkLength,
    /// The length of an argument does not end.
    BulkLine,
    /// An argument begins with this byte, where `$` is due.
    ExpectedBulk(u8),
    /// A request on one line does not end.
    InlineLine,
    /// A request on one line has a quote that is not closed, or text right behind one that is.
    Quotes,
    /// A reply is not of the protocol, or is nested too deep.
    Reply,
}

impl fmt::Display for ProtocolError {
    /// As Redis says it, behind `-ERR `.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Protocol error: ")?;
        match self {
            Self::MultibulkLength => f.write_str("invalid multibulk length"),
            Self::MultibulkLine => f.write_str("too big mbulk count string"),
            Self::BulkLength => f.write_str("invalid bulk length"),
            Self::BulkLine => f.write_str("too big bulk count string"),
            Self::ExpectedBulk(byte) => write!(f, "expected '$', got '{}'", char::from(*byte)),
            Self::InlineLine => f.write_str("too big inline request"),
            Self::Quotes => f.write_str("unbalanced quotes in request"),
            Self::Reply => f.write_str("a reply that is not of the protocol"),
        }
    }
}

impl std::error::Error for ProtocolError {}
