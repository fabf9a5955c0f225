//! Requests, found in the bytes that a client sends.
//!
//! ```text
//! *2\r\n $3\r\nGET\r\n $3\r\nkey\r\n        or on one line: GET key\n
//! ```
//!
//! A parser looks at each byte once. Where a request is not complete, it remembers how far it came; the
//! caller appends what arrives and asks again, with a buffer that still begins where the request does.

use std::ops::Range;

use crate::error::ProtocolError;
use crate::inline;
use crate::line::{line, number};

/// How long requests may be. By default as redis-server has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Arguments of a request.
    pub args_max: usize,
    /// Bytes of an argument.
    pub bulk_len_max: usize,
    /// Bytes of a line: of a length, or of a request on one line.
    pub line_len_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { args_max: i32::MAX as usize, bulk_len_max: 512 << 20, line_len_max: 64 << 10 }
    }
}

/// Finds requests, one after the other. One for each connection.
#[derive(Debug, Default)]
pub struct Parser {
    limits: Limits,
    /// Bytes of the request that were looked at.
    at: usize,
    /// Arguments that are still to come; `None` before the first line of a request.
    missing: Option<usize>,
    /// Bytes of the argument that is to come, once its length was read.
    bulk_len: Option<usize>,
    /// Where the arguments lie, from the request's first byte on; of a request on one line, in `unquoted`.
    args: Vec<Range<usize>>,
    unquoted: Vec<u8>,
}

/// A request: its arguments, the first of which is the command. It may have none.
#[derive(Clone, Copy, Debug)]
pub struct Request<'b> {
    bytes: &'b [u8],
    args: &'b [Range<usize>],
    len: usize,
    is_inline: bool,
}

impl<'b> Request<'b> {
    /// Its arguments.
    pub fn args(&self) -> impl ExactSizeIterator<Item = &'b [u8]> + use<'b> {
        let bytes = self.bytes;
        self.args.iter().map(move |range| &bytes[range.clone()])
    }

    /// How many arguments it has.
    pub fn count(&self) -> usize {
        self.args.len()
    }

    /// The argument at this place; the command is at 0.
    #[inline]
    pub fn arg(&self, at: usize) -> Option<&'b [u8]> {
        self.args.get(at).map(|range| &self.bytes[range.clone()])
    }

    /// Where an argument lies, from the request's first byte on; `None` for a request on one line, whose
    /// arguments are copies.
    #[inline]
    pub fn range(&self, at: usize) -> Option<Range<usize>> {
        if self.is_inline { None } else { self.args.get(at).cloned() }
    }

    /// A copy that outlives the buffer.
    pub fn to_owned(&self) -> OwnedRequest {
        OwnedRequest { bytes: self.bytes[..self.args.last().map_or(0, |last| last.end)].into(), args: self.args.into() }
    }

    /// Bytes of the buffer that it takes: the next request begins behind them.
    #[expect(clippy::len_without_is_empty, reason = "every request takes some")]
    pub fn len(&self) -> usize {
        self.len
    }
}

/// A copy of a request, for a transaction that executes it later.
#[derive(Clone, Debug)]
pub struct OwnedRequest {
    bytes: Box<[u8]>,
    args: Box<[Range<usize>]>,
}

impl OwnedRequest {
    /// The request, to be executed.
    pub fn as_request(&self) -> Request<'_> {
        Request { bytes: &self.bytes, args: &self.args, len: self.bytes.len(), is_inline: true }
    }

    /// Bytes that the copy takes.
    pub fn size(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.args)
    }
}

impl Parser {
    /// Replaces the limits, from the next length on. A server grants an authenticated client more.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// A parser of requests within these limits.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// The request that begins the buffer; `None` until all of it is there. O(bytes that came since the last
    /// call).
    ///
    /// ```
    /// # use hammerspace_resp::Parser;
    /// let mut parser = Parser::default();
    /// let mut buffer = b"*2\r\n$3\r\nGET\r\n$3\r\nk".to_vec();
    /// assert!(parser.next(&buffer)?.is_none());
    /// buffer.extend_from_slice(b"ey\r\nPING\r\n");
    /// let request = parser.next(&buffer)?.unwrap();
    /// assert_eq!(request.args().collect::<Vec<_>>(), [&b"GET"[..], b"key"]);
    /// let len = request.len();
    /// buffer.drain(..len);
    /// assert_eq!(parser.next(&buffer)?.unwrap().args().next(), Some(&b"PING"[..]));
    /// # Ok::<(), hammerspace_resp::ProtocolError>(())
    /// ```
    pub fn next<'b>(&'b mut self, buffer: &'b [u8]) -> Result<Option<Request<'b>>, ProtocolError> {
        match buffer.first() {
            None => Ok(None),
            Some(b'*') => self.multibulk(buffer),
            Some(_) => self.inline(buffer),
        }
    }

    fn inline<'b>(&'b mut self, buffer: &'b [u8]) -> Result<Option<Request<'b>>, ProtocolError> {
        let Some(end) = buffer[self.at..].iter().position(|byte| *byte == b'\n').map(|end| self.at + end) else {
            self.at = buffer.len();
            return if self.at > self.limits.line_len_max { Err(ProtocolError::InlineLine) } else { Ok(None) };
        };
        let line = &buffer[..end];
        self.unquoted.clear();
        self.args = inline::split(line.strip_suffix(b"\r").unwrap_or(line), &mut self.unquoted)?;
        self.at = 0;
        Ok(Some(Request { bytes: &self.unquoted, args: &self.args, len: end + 1, is_inline: true }))
    }

    fn multibulk<'b>(&'b mut self, buffer: &'b [u8]) -> Result<Option<Request<'b>>, ProtocolError> {
        let mut missing = match self.missing {
            Some(missing) => missing,
            None => match self.begin(buffer)? {
                Some(missing) => missing,
                None => return Ok(None),
            },
        };
        while missing > 0 {
            let Some(arg) = self.bulk(buffer)? else {
                self.missing = Some(missing);
                return Ok(None);
            };
            self.args.push(arg);
            missing -= 1;
        }
        let len = std::mem::take(&mut self.at);
        self.missing = None;
        Ok(Some(Request { bytes: buffer, args: &self.args, len, is_inline: false }))
    }

    /// Reads how many arguments there are. A count below 1 is a request of none.
    fn begin(&mut self, buffer: &[u8]) -> Result<Option<usize>, ProtocolError> {
        let Some(line) = line(buffer) else {
            let is_long = buffer.len() > self.limits.line_len_max;
            return if is_long { Err(ProtocolError::MultibulkLine) } else { Ok(None) };
        };
        let count = number(&line[1..]).ok_or(ProtocolError::MultibulkLength)?;
        let count = usize::try_from(count).unwrap_or(0);
        if count > self.limits.args_max {
            return Err(ProtocolError::MultibulkLength);
        }
        self.args.clear();
        self.at = line.len() + 2;
        Ok(Some(count))
    }

    /// The next argument; `None` until all of it is there.
    fn bulk(&mut self, buffer: &[u8]) -> Result<Option<Range<usize>>, ProtocolError> {
        let len = match self.bulk_len {
            Some(len) => len,
            None => match self.begin_bulk(&buffer[self.at..])? {
                Some(len) => len,
                None => return Ok(None),
            },
        };
        // What ends it is two bytes that nobody looks at, as in Redis.
        if buffer.len() - self.at < len + 2 {
            return Ok(None);
        }
        let arg = self.at..self.at + len;
        (self.at, self.bulk_len) = (arg.end + 2, None);
        Ok(Some(arg))
    }

    /// Reads how long the next argument is.
    fn begin_bulk(&mut self, rest: &[u8]) -> Result<Option<usize>, ProtocolError> {
        let Some(line) = line(rest) else {
            let is_long = rest.len() > self.limits.line_len_max;
            return if is_long { Err(ProtocolError::BulkLine) } else { Ok(None) };
        };
        match line.first() {
            Some(b'$') => {}
            Some(byte) => return Err(ProtocolError::ExpectedBulk(*byte)),
            None => return Err(ProtocolError::ExpectedBulk(b'\r')),
        }
        let len = number(&line[1..]).and_then(|len| usize::try_from(len).ok());
        let len = len.filter(|len| *len <= self.limits.bulk_len_max).ok_or(ProtocolError::BulkLength)?;
        (self.at, self.bulk_len) = (self.at + line.len() + 2, Some(len));
        Ok(self.bulk_len)
    }
}
