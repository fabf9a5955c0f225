//! Pairs of a key and a value from two columns or more: how a file goes into a space.

use hammerspace_error::{Error, Kind, Result};
use parquet::errors::ParquetError;

use crate::assembler::Assembler;
use crate::automaton::Automaton;
use crate::read::{Reader, guarded, unreadable};
use crate::render;
use crate::stream::{Stream, Value};

/// One column without lists, of which each record has one entry.
struct Single<'a> {
    automaton: &'a Automaton,
    stream: Stream,
}

impl Reader {
    /// Hands a pair for each record to `put`: what the key's field holds, and what the value's field holds, as text. Of
    /// several fields, or of one with lists on its way, the value is a JSON object. A record whose value is null is left
    /// out; a null key is an error. Fields are named as in [`Schema::select`](crate::Schema::select).
    pub fn pairs(
        &self,
        key: &str,
        values: &[impl AsRef<str>],
        put: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        guarded(|| self.each_pair(key, values, put))
    }

    fn each_pair(
        &self,
        key: &str,
        values: &[impl AsRef<str>],
        mut put: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        let key_leaf = self.single(&self.schema().select(&[key])?).ok_or_else(|| {
            Error::new(Kind::Invalid, format!("`{key}` is not a single value"))
                .remedy("name a field that holds one value")
        })?;
        let values = self.schema().select(values)?;
        let (keys, objects) = (Automaton::new(self.schema(), &[key_leaf]), Automaton::new(self.schema(), &values));
        let is_single = self.single(&values).is_some();
        let mut row = 0;
        for group in 0..self.row_groups() {
            let (mut keys, rows) = self.open_single(group, &keys)?;
            let mut single = if is_single { Some(self.open_single(group, &objects)?.0) } else { None };
            let mut records = self.assembler(group, &objects).map_err(unreadable)?;
            let (mut key, mut value) = (Vec::new(), Vec::new());
            for _ in 0..rows {
                row += 1;
                if !keys.text(&mut key).map_err(unreadable)? {
                    return Err(Error::new(Kind::Invalid, format!("record {row} has no key"))
                        .remedy("choose another key column"));
                }
                if next(single.as_mut(), &mut records, &mut value).map_err(unreadable)? {
                    put(&key, &value)?;
                }
            }
        }
        Ok(())
    }

    /// The leaf, if there is one and no list on its way.
    fn single(&self, leaves: &[usize]) -> Option<usize> {
        match leaves {
            [leaf] if self.schema().columns()[*leaf].max_rep_level() == 0 => Some(*leaf),
            _ => None,
        }
    }

    fn open_single<'a>(&self, group: usize, automaton: &'a Automaton) -> Result<(Single<'a>, u64)> {
        let (mut streams, rows) = self.streams(group, automaton).map_err(unreadable)?;
        let stream = streams.pop().expect("there is a leaf");
        Ok((Single { automaton, stream }, rows))
    }
}

/// Reads a value; `false` where there is none.
fn next(single: Option<&mut Single>, records: &mut Assembler, value: &mut Vec<u8>) -> Result<bool, ParquetError> {
    if let Some(single) = single {
        return single.text(value);
    }
    value.clear();
    let is_there = records.record(value)?;
    value.pop();
    Ok(is_there)
}

impl Single<'_> {
    /// Reads the next entry as text; `false` where it is null.
    fn text(&mut self, text: &mut Vec<u8>) -> Result<bool, ParquetError> {
        text.clear();
        if !self.stream.has_next()? {
            return Err(ParquetError::General("a column has fewer records than its row group".into()));
        }
        match self.stream.take() {
            (_, None) => return Ok(false),
            (_, Some(Value::Bytes(bytes))) if self.automaton.states[0].leaf.is_string() => {
                text.extend_from_slice(bytes);
            }
            (_, Some(value)) => {
                render::write(self.automaton.states[0].leaf, value, text)?;
                // Times and decimals are strings in JSON, and without any escapes.
                if text.first() == Some(&b'"') {
                    text.pop();
                    text.remove(0);
                }
            }
        }
        Ok(true)
    }
}
