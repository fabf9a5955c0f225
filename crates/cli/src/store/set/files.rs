//! Expressions over files of ids, which may be larger than memory: each is sorted on disk, and all are
//! merged.
//!
//! ```text
//! file ──► runs, sorted in memory ──► temporary files ──► merge ──┐
//! file ──► …                                              merge ──┴──► each id, and which sets hold it
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Seek, Write};
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::vec;

use hammerspace::store::set::{Expression, Operator};
use hammerspace_error::{Doing, Error, Kind, Result};

use crate::progress::Progress;

/// What an id takes in memory beside its bytes: a vector, and what the allocator adds.
const ID_OVERHEAD: u64 = 40;
/// Runs of one set that are open at once; more are merged into one first.
const RUNS_MAX: usize = 64;

/// How many distinct ids an expression over files has.
pub(super) fn count(expression: &str, named: &[String], memory: u64, scratch: Option<&Path>) -> Result<u64> {
    let expression = Expression::parse(expression)?;
    let files = named.iter().map(|pair| named_file(pair)).collect::<Result<Vec<_>>>()?;
    if let Some(name) = expression.names().iter().find(|name| !files.iter().any(|file| file.0 == **name)) {
        return Err(wanted(&format!("{name}=FILE")));
    }
    let sorter = Sorter { memory, scratch: scratch.map_or_else(std::env::temp_dir, Path::to_path_buf) };
    let mut sets = Vec::new();
    for (name, path) in files {
        let ids = sorter.sort(&path).map_err(|error| if error.path().is_some() { error } else { error.file(&path) })?;
        sets.push((name.to_owned(), ids.peekable()));
    }
    count_merged(&expression, &mut sets)
}

/// A set of ids by name, in ascending order.
type Sorted = (String, Peekable<Merge>);

fn count_merged(expression: &Expression, sets: &mut [Sorted]) -> Result<u64> {
    let progress = Progress::unknown("counting");
    let mut count = 0;
    loop {
        let mut least: Option<Vec<u8>> = None;
        for (_, set) in sets.iter_mut() {
            match set.peek() {
                Some(Ok(id)) if least.as_ref().is_none_or(|least| id < least) => least = Some(id.clone()),
                Some(Err(error)) => return Err(error.clone()),
                _ => {}
            }
        }
        let Some(least) = least else { return Ok(count) };
        let mut holding = Vec::new();
        for (name, set) in sets.iter_mut() {
            if set.next_if(|id| id.as_ref().is_ok_and(|id| *id == least)).is_some() {
                holding.push(name.as_str());
            }
        }
        count += u64::from(holds(expression, &holding));
        progress.add(1);
    }
}

/// Whether what is in these sets, and in no other, is in what an expression comes to.
fn holds(expression: &Expression, holding: &[&str]) -> bool {
    match expression {
        Expression::Name(name) => holding.contains(&name.as_str()),
        Expression::Operation(operator, sides) => {
            let [left, right] = sides.each_ref().map(|side| holds(side, holding));
            match operator {
                Operator::Union => left || right,
                Operator::SymmetricDifference => left != right,
                Operator::Intersection => left && right,
                Operator::Difference => left && !right,
            }
        }
    }
}

fn named_file(pair: &str) -> Result<(&str, PathBuf)> {
    let (name, path) = pair.split_once('=').ok_or_else(|| wanted(&format!("NAME=FILE in place of {pair}")))?;
    Ok((name, path.into()))
}

/// Says what the command line lacks.
pub(super) fn wanted(what: &str) -> Error {
    Error::new(Kind::Invalid, "the command line names no such sets").remedy(format!("give {what}"))
}

/// Sorts more than memory holds.
struct Sorter {
    memory: u64,
    scratch: PathBuf,
}

impl Sorter {
    fn sort(&self, path: &Path) -> Result<Merge> {
        let file = File::open(path).doing("open")?;
        let progress = Progress::bytes("sorting", file.metadata().doing("look at")?.len());
        let mut input = BufReader::with_capacity(1 << 16, progress.reading(file));
        let (mut runs, mut ids, mut bytes) = (Vec::new(), Vec::new(), 0);
        while let Some(id) = next_line(&mut input)? {
            bytes += id.len() as u64 + ID_OVERHEAD;
            ids.push(id);
            if bytes >= self.memory {
                runs.push(self.spill(Merge::of(vec![in_memory(std::mem::take(&mut ids))])?)?);
                bytes = 0;
            }
            if runs.len() == RUNS_MAX {
                runs = vec![self.spill(Merge::of(runs)?)?];
            }
        }
        runs.push(in_memory(ids));
        Merge::of(runs)
    }

    /// Writes ids to a file that goes with its handle.
    fn spill(&self, ids: Merge) -> Result<Run> {
        let write = || {
            let mut to = BufWriter::with_capacity(1 << 16, tempfile::tempfile_in(&self.scratch).doing("create")?);
            for id in ids {
                to.write_all(&id?).and_then(|()| to.write_all(b"\n")).doing("write")?;
            }
            let mut file = to.into_inner().map_err(std::io::IntoInnerError::into_error).doing("write")?;
            file.rewind().doing("read")?;
            Ok(Run::File(BufReader::with_capacity(1 << 16, file)))
        };
        write().map_err(|error: Error| error.file(&self.scratch))
    }
}

fn in_memory(mut ids: Vec<Vec<u8>>) -> Run {
    ids.sort_unstable();
    ids.dedup();
    Run::Memory(ids.into_iter())
}

/// Ids in ascending order.
enum Run {
    Memory(vec::IntoIter<Vec<u8>>),
    File(BufReader<File>),
}

impl Run {
    fn next(&mut self) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Memory(ids) => Ok(ids.next()),
            Self::File(file) => next_line(file),
        }
    }
}

fn next_line(input: &mut impl BufRead) -> Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if input.read_until(b'\n', &mut line).doing("read")? == 0 {
        return Ok(None);
    }
    line.pop_if(|byte| *byte == b'\n');
    Ok(Some(line))
}

/// Runs merged into one: ascending, each id once.
struct Merge {
    runs: Vec<Run>,
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
}

impl Merge {
    fn of(mut runs: Vec<Run>) -> Result<Self> {
        let mut heads = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next()?.map(|id| Reverse((id, number))));
        }
        Ok(Self { runs, heads })
    }

    /// Takes the least head.
    fn pop(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(Reverse((id, number))) = self.heads.pop() else { return Ok(None) };
        self.heads.extend(self.runs[number].next()?.map(|id| Reverse((id, number))));
        Ok(Some(id))
    }

    fn step(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(id) = self.pop()? else { return Ok(None) };
        while self.heads.peek().is_some_and(|Reverse((next, _))| *next == id) {
            self.pop()?;
        }
        Ok(Some(id))
    }
}

impl Iterator for Merge {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}
