//! Replies of a server, as values.

use crate::error::ProtocolError;
use crate::line::{line, number};

/// How deep values may lie within each other.
pub const DEPTH_MAX: usize = 32;

/// A reply of either version.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A short text.
    Simple(Vec<u8>),
    /// An error.
    Error(Vec<u8>),
    /// A number.
    Integer(i64),
    /// Any bytes; text for people, too, without its kind.
    Bulk(Vec<u8>),
    /// Nothing.
    Null,
    /// Values in order.
    Array(Vec<Value>),
    /// Keys and values, in order.
    Map(Vec<(Value, Value)>),
    /// Values of which none is there twice.
    Set(Vec<Value>),
    /// Values that no request asked for.
    Push(Vec<Value>),
    /// A double.
    Double(f64),
    /// A truth value.
    Boolean(bool),
    /// A number of any size, as its digits.
    BigNumber(Vec<u8>),
}

/// The reply that begins the input, and how many bytes it takes; `None` until all of it is there.
///
/// O(bytes) for each call: for clients that read a reply as a whole.
pub fn decode(input: &[u8]) -> Result<Option<(Value, usize)>, ProtocolError> {
    let mut reply = Reply { input, at: 0 };
    Ok(reply.value(0)?.map(|value| (value, reply.at)))
}

struct Reply<'i> {
    input: &'i [u8],
    at: usize,
}

impl Reply<'_> {
    fn value(&mut self, depth: usize) -> Result<Option<Value>, ProtocolError> {
        if depth > DEPTH_MAX {
            return Err(ProtocolError::Reply);
        }
        let Some(line) = line(&self.input[self.at..]) else { return Ok(None) };
        let (kind, text) = line.split_first().ok_or(ProtocolError::Reply)?;
        self.at += line.len() + 2;
        let owned = || text.to_vec();
        let whole = match kind {
            b'+' => Value::Simple(owned()),
            b'-' => Value::Error(owned()),
            b':' => Value::Integer(number(text).ok_or(ProtocolError::Reply)?),
            b',' => {
                Value::Double(str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(ProtocolError::Reply)?)
            }
            b'#' => Value::Boolean(boolean(text)?),
            b'(' => Value::BigNumber(owned()),
            b'_' => Value::Null,
            b'$' | b'*' if text == b"-1" => Value::Null,
            b'$' | b'!' => return self.bytes(text, if *kind == b'$' { Value::Bulk } else { Value::Error }),
            b'=' => return self.bytes(text, |text| Value::Bulk(text.get(4..).unwrap_or_default().to_vec())),
            b'*' => return self.values(text, depth, Value::Array),
            b'~' => return self.values(text, depth, Value::Set),
            b'>' => return self.values(text, depth, Value::Push),
            b'%' => return self.pairs(text, depth),
            _ => return Err(ProtocolError::Reply),
        };
        Ok(Some(whole))
    }

    fn bytes(&mut self, len: &[u8], value: impl FnOnce(Vec<u8>) -> Value) -> Result<Option<Value>, ProtocolError> {
        let end = self.at.checked_add(count(len)?).ok_or(ProtocolError::Reply)?;
        let Some(bytes) = self.input.get(self.at..end) else { return Ok(None) };
        match self.input.get(end..) {
            Some([b'\r', b'\n', ..]) => {}
            Some([] | [b'\r']) => return Ok(None),
            _ => return Err(ProtocolError::Reply),
        }
        self.at = end + 2;
        Ok(Some(value(bytes.to_vec())))
    }

    fn values(
        &mut self,
        len: &[u8],
        depth: usize,
        value: impl FnOnce(Vec<Value>) -> Value,
    ) -> Result<Option<Value>, ProtocolError> {
        let mut values = Vec::new();
        for _ in 0..count(len)? {
            let Some(next) = self.value(depth + 1)? else { return Ok(None) };
            values.push(next);
        }
        Ok(Some(value(values)))
    }

    fn pairs(&mut self, len: &[u8], depth: usize) -> Result<Option<Value>, ProtocolError> {
        let mut pairs = Vec::new();
        for _ in 0..count(len)? {
            let Some(key) = self.value(depth + 1)? else { return Ok(None) };
            let Some(value) = self.value(depth + 1)? else { return Ok(None) };
            pairs.push((key, value));
        }
        Ok(Some(Value::Map(pairs)))
    }
}

fn count(text: &[u8]) -> Result<usize, ProtocolError> {
    number(text).and_then(|count| usize::try_from(count).ok()).ok_or(ProtocolError::Reply)
}

fn boolean(text: &[u8]) -> Result<bool, ProtocolError> {
    match text {
        b"t" => Ok(true),
        b"f" => Ok(false),
        _ => Err(ProtocolError::Reply),
    }
}
