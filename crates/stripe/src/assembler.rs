//! The assembler: puts records together from the columns asked for, as lines of JSON.

use parquet::errors::{ParquetError, Result};

use crate::automaton::{Automaton, State, Step};
use crate::render;
use crate::stream::{Stream, Value};

/// Columns of a row group, and the automaton that reads them.
pub(crate) struct Assembler<'a> {
    automaton: &'a Automaton,
    streams: Vec<Stream>,
    rows: u64,
    /// Whether something was written into each open step.
    filled: Vec<bool>,
}

impl<'a> Assembler<'a> {
    /// One stream for each state, of a row group with so many records.
    pub(crate) fn new(automaton: &'a Automaton, streams: Vec<Stream>, rows: u64) -> Self {
        Self { automaton, streams, rows, filled: Vec::new() }
    }

    /// Writes the next record and a newline. `false` after the last.
    pub(crate) fn record(&mut self, to: &mut Vec<u8>) -> Result<bool> {
        if self.rows == 0 {
            return Ok(false);
        }
        self.rows -= 1;
        let states = &self.automaton.states;
        let mut at = 0;
        let mut steps: &[Step] = &[];
        while let Some(state) = states.get(at) {
            let stream = &mut self.streams[at];
            if !stream.has_next()? {
                return Err(ParquetError::General("a column has fewer records than its row group".into()));
            }
            let (def, value) = stream.take();
            steps = &state.steps;
            open(&mut self.filled, steps, def, to);
            match value {
                Some(value) => write(&mut self.filled, state, value, to)?,
                // A null is an item of a list that is there while nothing below it is.
                None if Some(def) == steps.get(self.filled.len()).map_or(state.null_from, |step| step.null_from) => {
                    comma(&mut self.filled, to);
                    to.extend_from_slice(b"null");
                }
                None => {}
            }
            let rep = stream.rep()?;
            let turn = usize::try_from(rep).ok().and_then(|rep| state.next.get(rep));
            let turn = turn.ok_or_else(|| ParquetError::General(format!("there is no repetition level {rep} here")))?;
            self.close(turn.open, steps, to);
            at = turn.state;
        }
        self.close(0, steps, to);
        to.push(b'\n');
        Ok(true)
    }

    /// Closes all steps but the first `open`.
    fn close(&mut self, open: usize, steps: &[Step], to: &mut Vec<u8>) {
        while self.filled.len() > open {
            self.filled.pop();
            to.push(if steps[self.filled.len()].is_list { b']' } else { b'}' });
        }
    }
}

/// Opens the steps that are there at this definition level.
fn open(filled: &mut Vec<bool>, steps: &[Step], def: i16, to: &mut Vec<u8>) {
    while let Some(step) = steps.get(filled.len()).filter(|step| step.def <= def) {
        comma(filled, to);
        to.extend_from_slice(step.label.as_bytes());
        to.push(if step.is_list { b'[' } else { b'{' });
        filled.push(false);
    }
}

/// Writes a value and what stands before it.
fn write(filled: &mut [bool], state: &State, value: Value, to: &mut Vec<u8>) -> Result<()> {
    comma(filled, to);
    let start = to.len();
    to.extend_from_slice(state.label.as_bytes());
    if render::write(state.leaf, value, to)? {
        relabel(start, state, to);
    }
    Ok(())
}

fn comma(filled: &mut [bool], to: &mut Vec<u8>) {
    if let Some(is_filled) = filled.last_mut()
        && std::mem::replace(is_filled, true)
    {
        to.push(b',');
    }
}

/// Gives the value that was just written, in base64, the label that says so. An item of a list has none, and becomes an object.
fn relabel(start: usize, state: &State, to: &mut Vec<u8>) {
    let value = to.split_off(start + state.label.len());
    to.truncate(start);
    if state.label.is_empty() {
        to.extend_from_slice(b"{\"base64\":");
        to.extend_from_slice(&value);
        to.push(b'}');
    } else {
        to.extend_from_slice(state.base64_label.as_bytes());
        to.extend_from_slice(&value);
    }
}
