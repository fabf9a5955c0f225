//! Where we are in a nested document, as a dotted key.

use hammerspace_error::{Error, Kind, Result};
use std::io::Write;

/// How deep objects and arrays may be nested.
pub const DEPTH_MAX: usize = 128;

/// The dotted key of the place we are at, and how much of it each open object or array contributed.
#[derive(Default)]
pub(crate) struct Path {
    key: Vec<u8>,
    open: Vec<Level>,
}

struct Level {
    /// Bytes of the key that all members share, their dot included.
    prefix_len: usize,
    /// The next element, in an array.
    index: Option<u64>,
}

impl Path {
    /// Where everything lies below `key`, which is itself the key of a single value.
    pub(crate) fn below(key: &[u8]) -> Self {
        Self { key: key.to_vec(), open: vec![Level { prefix_len: key.len(), index: None }] }
    }

    /// The member of this name is next.
    pub(crate) fn name(&mut self, name: &str) {
        if let Some(level) = self.open.last() {
            self.key.truncate(level.prefix_len);
            self.key.extend_from_slice(name.as_bytes());
        }
    }

    /// A value begins: in an array it has no name yet.
    fn number(&mut self) {
        if let Some(Level { prefix_len, index: Some(index) }) = self.open.last_mut() {
            self.key.truncate(*prefix_len);
            write!(self.key, "{index}").expect("a Vec takes all that is written");
            *index += 1;
        }
    }

    pub(crate) fn open(&mut self, array: bool) -> Result<()> {
        if self.open.len() == DEPTH_MAX {
            return Err(too_deep());
        }
        self.number();
        if !self.open.is_empty() {
            self.key.push(b'.');
        }
        self.open.push(Level { prefix_len: self.key.len(), index: array.then_some(0) });
        Ok(())
    }

    pub(crate) fn close(&mut self) {
        self.open.pop();
    }

    pub(crate) fn leaf(&mut self) -> Result<&[u8]> {
        if self.open.is_empty() {
            return Err(Error::new(Kind::Corrupt, "the document is a single value, which has no key")
                .remedy("put it below a name: {\"key\": value} in JSON, `key: value` in YAML"));
        }
        self.number();
        Ok(&self.key)
    }
}

#[cold]
pub(crate) fn too_deep() -> Error {
    Error::new(Kind::Corrupt, format!("nested deeper than {DEPTH_MAX} levels"))
        .remedy("flatten the document: nested names are joined by `.` anyway")
}
