//! The conformance cases over Rust's own interface.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hammerspace::{Compression, Durability, Error, Options, Snapshot, Space, Value, Writer};
use hammerspace_testkit::spec::{self, Outcome, Subject, Word};

#[test]
fn rust_does_what_the_cases_say() {
    let scratch = tempfile::tempdir().unwrap();
    spec::run_all(scratch.path(), |path| Rust { path: path.into(), handles: HashMap::new() });
}

/// The handles of a case.
struct Rust {
    path: PathBuf,
    handles: HashMap<String, Handle>,
}

struct Handle {
    space: Space,
    pending: Option<Writer>,
    held: Option<Value>,
    /// What is being iterated over. An iterator borrows its snapshot, so it is made again and skips the first pair.
    walk: Option<Snapshot>,
}

impl Subject for Rust {
    fn perform(&mut self, name: &str, verb: &str, arguments: &[Word]) -> Result<Outcome, String> {
        if let "open" | "create" = verb {
            let opened = open(&self.path, verb, arguments)?;
            return Ok(opened.map_err(kind).map(|space| {
                self.handles.insert(name.into(), Handle { space, pending: None, held: None, walk: None });
                Vec::new()
            }));
        }
        let handle = self.handles.get_mut(name).ok_or("there is no such handle")?;
        let writes = ["put", "delete", "update", "replace", "turn", "publish", "discard"].contains(&verb);
        let results = if writes { handle.write(verb, arguments) } else { handle.read(verb, arguments) };
        let unknown = || "there is no such verb with these arguments".into();
        results.transpose().ok_or_else(unknown).map(|results| results.map_err(kind))
    }
}

/// What a verb gives; `None` where there is no such verb with these arguments.
type Results = Result<Option<Vec<Word>>, Error>;

impl Handle {
    fn read(&mut self, verb: &str, arguments: &[Word]) -> Results {
        let Self { space, .. } = self;
        let results = match (verb, arguments) {
            ("refresh", []) => vec![Word::yes(space.refresh()?)],
            ("get", [key]) => vec![value(space.get(key.bytes())?.as_ref())],
            ("get_many", keys) => {
                let keys: Vec<&[u8]> = keys.iter().map(Word::bytes).collect();
                space.get_many(&keys)?.iter().map(|found| value(found.as_ref())).collect()
            }
            ("has", [key]) => vec![Word::yes(space.contains(key.bytes())?)],
            ("len", []) => vec![Word::number(space.len())],
            ("pairs", []) => pairs(&space.snapshot(), 0, usize::MAX)?,
            ("walk", []) => pairs(self.walk.insert(space.snapshot()), 0, 1)?,
            ("rest", []) => match &self.walk {
                Some(snapshot) => pairs(snapshot, 1, usize::MAX)?,
                None => return Ok(None),
            },
            ("hold", [key]) => {
                self.held = space.get(key.bytes())?;
                vec![value(self.held.as_ref())]
            }
            ("held", []) => vec![value(self.held.as_ref())],
            ("clear", []) => space.clear().map(|()| Vec::new())?,
            ("versions", []) => {
                space.versions()?.iter().filter_map(|version| version.number.map(Word::number)).collect()
            }
            ("rollback", []) => vec![Word::number(space.rollback(None)?)],
            ("rollback", [number]) => match number.to_number() {
                Ok(number) => vec![Word::number(space.rollback(Some(number))?)],
                Err(_) => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some(results))
    }

    fn write(&mut self, verb: &str, arguments: &[Word]) -> Results {
        match (verb, arguments) {
            ("update", []) => self.pending = Some(self.space.writer()?),
            ("replace", []) => self.pending = Some(self.space.replace()?),
            ("turn", []) => self.pending = Some(self.space.updater_within(Duration::from_millis(50))?),
            ("put", [key, value]) => self.begun()?.put(key.bytes(), value.bytes())?,
            ("delete", [key]) => self.begun()?.delete(key.bytes())?,
            ("publish", []) => {
                let Some(writer) = self.pending.take() else { return Ok(None) };
                return Ok(Some(vec![Word::number(writer.publish()?)]));
            }
            ("discard", []) => drop(self.pending.take()),
            _ => return Ok(None),
        }
        Ok(Some(Vec::new()))
    }

    fn begun(&mut self) -> Result<&mut Writer, Error> {
        if self.pending.is_none() {
            self.pending = Some(self.space.writer()?);
        }
        Ok(self.pending.as_mut().expect("begun above"))
    }
}

fn open(path: &Path, verb: &str, words: &[Word]) -> Result<Result<Space, Error>, String> {
    // What a power cut takes is the business of other suites.
    let mut options = Options::new().durability(Durability::None);
    for word in words {
        options = option(options, word.text()?)?;
    }
    Ok(if verb == "open" { options.open(path) } else { options.create(path) })
}

fn option(options: Options, word: &str) -> Result<Options, String> {
    let unknown = || format!("there is no option {word}");
    let (name, value) = word.split_once('=').ok_or_else(unknown)?;
    Ok(match (name, value) {
        ("keep", versions) => options.keep(versions.parse().map_err(|_| unknown())?),
        ("block_size", bytes) => options.block_size(bytes.parse().map_err(|_| unknown())?),
        ("compression", "none") => options.compression(Compression::None),
        ("compression", "snappy") => options.compression(Compression::Snappy),
        ("compression", "zstd") => options.compression(Compression::Zstd),
        ("mend", "yes") => options.mend(),
        _ => return Err(unknown()),
    })
}

fn pairs(snapshot: &Snapshot, skip: usize, take: usize) -> Result<Vec<Word>, Error> {
    let mut words = Vec::new();
    for pair in snapshot.iter().skip(skip).take(take) {
        let (key, value) = pair?;
        words.extend([Word::of(key), Word::of(value)]);
    }
    Ok(words)
}

fn value(found: Option<&Value>) -> Word {
    found.map_or(Word::NOTHING, |value| Word::of(&**value))
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn kind(error: Error) -> String {
    error.kind().to_string()
}
