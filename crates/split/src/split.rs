//! A run: files that are written in private, and become visible together.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_os::File;

use crate::by::Value;
use crate::directory::{Directory, Stage, in_the_way};
use crate::journal::Journal;
use crate::name::Name;
use crate::pool::{Pool, Staged};

/// What becomes of a file that is there already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnExisting {
    /// It stays, and the run fails.
    #[default]
    Error,
    /// It goes.
    Replace,
    /// Its records come first, those of the run behind them.
    Merge,
}

/// How a run writes.
#[derive(Clone, Debug)]
pub struct Options {
    /// What follows the dot in names.
    pub extension: String,
    /// What becomes of a file that is there already.
    pub on_existing: OnExisting,
    /// Files that are open at a time, at most.
    pub open_max: usize,
    /// What this run is called. A directory takes a run of one name once, so that it can be tried again.
    pub id: Option<String>,
}

impl Options {
    /// The usual ones: 64 files open, an error where a file exists, no name.
    pub fn new(extension: &str) -> Self {
        Self { extension: extension.into(), on_existing: OnExisting::default(), open_max: 64, id: None }
    }
}

/// A run that goes on. Dropped without [`commit`](Self::commit), it leaves nothing.
pub struct Split {
    directory: Directory,
    stage: Option<Stage>,
    options: Options,
    pool: Arc<Mutex<Pool>>,
    written: BTreeMap<Name, Written>,
}

/// What was written to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Records, as far as they were counted.
    pub records: u64,
    /// The value, where the name is not the value as it stands.
    pub value: Option<String>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Committed {
    /// Its files are visible: by their names in full, what was written to each.
    Done(Vec<(String, Written)>),
    /// A run of this name was done before. Nothing has changed.
    Before,
}

/// Writes `new` behind `old`, into an empty file.
pub type Merge<'a> = dyn Fn(File, File, &mut File) -> Result<()> + 'a;

impl Split {
    /// Begins a run that writes to a directory, which is made if it is missing.
    pub fn begin(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        if let Some(id) =
            options.id.as_deref().filter(|id| id.is_empty() || id.starts_with('.') || id.contains(['/', '\n']))
        {
            return Err(Error::new(Kind::Invalid, format!("{id:?} cannot be the name of a run"))
                .remedy("give letters, digits, hyphens and underscores"));
        }
        let directory = Directory::open(path.as_ref())?;
        let stage = directory.lock()?.stage()?;
        let pool = Pool::new(directory.open_stage(&stage)?, options.open_max);
        Ok(Self { directory, stage: Some(stage), options, pool, written: BTreeMap::new() })
    }

    /// The file for a value. Where one of its name exists and must not, this says so at once.
    pub fn file(&mut self, value: &Value) -> Result<(Staged, &mut Written)> {
        let name = Name::of(value);
        let staged = Staged::new(Arc::clone(&self.pool), self.full(&name));
        if !self.written.contains_key(&name) {
            let full = self.full(&name);
            if self.options.on_existing == OnExisting::Error && self.directory.dir.open_file(&full)?.is_some() {
                return Err(in_the_way(&self.directory.dir, &full));
            }
            self.written.insert(name.clone(), Written::default());
        }
        let written = self.written.get_mut(&name).expect("it is there");
        if let Some(text) = name.stands_for(value) {
            written.value = Some(text.to_owned());
        }
        Ok((staged, written))
    }

    /// Writes a record to the file for a value.
    pub fn append(&mut self, value: &Value, record: &[u8]) -> Result<()> {
        let (mut file, written) = self.file(value)?;
        written.records += 1;
        file.write_all(record).doing("write a record")
    }

    fn full(&self, name: &Name) -> String {
        format!("{}.{}", name.as_str(), self.options.extension)
    }

    /// Makes all files visible; those that are merged with what is there are put behind it as they are.
    pub fn commit(self) -> Result<Committed> {
        self.commit_with(&append_text)
    }

    /// The same, with files that are merged by `merge`.
    pub fn commit_with(mut self, merge: &Merge) -> Result<Committed> {
        let names: Vec<String> = self.written.keys().map(|name| self.full(name)).collect();
        for name in &names {
            Staged::new(Arc::clone(&self.pool), name.clone()).finish()?;
        }
        let stage = self.stage.as_ref().expect("a run commits once");
        let locked = self.directory.lock()?;
        if let Some(id) = &self.options.id
            && locked.is_done(id)?
        {
            return Ok(Committed::Before);
        }
        for name in &names {
            self.settle(stage, name, merge)?;
        }
        stage.dir.sync()?;
        locked.commit(&Journal { stage: stage.name.clone(), id: self.options.id.clone(), names: names.clone() })?;
        self.stage = None;
        let written = std::mem::take(&mut self.written).into_values();
        Ok(Committed::Done(names.into_iter().zip(written).collect()))
    }

    /// Sees to what is there of a name.
    fn settle(&self, stage: &Stage, name: &str, merge: &Merge) -> Result<()> {
        let Some(old) = self.directory.dir.open_file(name)? else { return Ok(()) };
        match self.options.on_existing {
            OnExisting::Replace => Ok(()),
            OnExisting::Error => Err(in_the_way(&self.directory.dir, name)),
            OnExisting::Merge => {
                const MERGED: &str = ".merged";
                let new = stage.dir.open_file(name)?.ok_or_else(|| gone(stage, name))?;
                let mut merged = stage.dir.create_file(MERGED)?;
                merge(old, new, &mut merged).map_err(|error| error.file(self.directory.dir.path().join(name)))?;
                merged.sync()?;
                stage.dir.rename(MERGED, name)
            }
        }
    }
}

impl Drop for Split {
    fn drop(&mut self) {
        if let Some(stage) = self.stage.take() {
            // What stays is removed by the next run.
            drop(self.directory.lock().and_then(|locked| locked.abandon(stage)));
        }
    }
}

#[cold]
fn gone(stage: &Stage, name: &str) -> Error {
    Error::new(Kind::Missing, "somebody removed this file of a run that goes on").file(stage.dir.path().join(name))
}

/// Puts a text behind another, on a line of its own.
fn append_text(mut old: File, mut new: File, to: &mut File) -> Result<()> {
    let copied = std::io::copy(&mut old, to).doing("copy what is there")?;
    let mut last = [b'\n'];
    if copied > 0 {
        old.seek(SeekFrom::End(-1)).and_then(|_| old.read_exact(&mut last)).doing("read what is there")?;
    }
    if last != *b"\n" {
        to.write_all(b"\n").doing("write")?;
    }
    std::io::copy(&mut new, to).doing("copy the new records").map(drop)
}
