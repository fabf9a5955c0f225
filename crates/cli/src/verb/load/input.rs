//! Which files `load` reads, and what each of them is in.
//!
//! ```text
//! FILE ──► a file, standard input                       read, whatever it is called, if --format says what it is in
//!   └────► a directory ──► its files, by name ─┬─► read, if the name or --format says what they are in
//!                                              └─► skipped, and the answer says so
//! ```
//! Names that begin with a dot are not looked at below a directory.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_load::{Format, Packing};
use hammerspace_tables::{Pair, scratch};
use walkdir::{DirEntry, WalkDir};

use super::answer::{Answer, Compared, Loaded};
use crate::progress::Progress;

/// What a file is in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Text(Format),
    Sparkey,
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Source {
    const SPARKEY: &str = "sparkey";
    #[cfg(feature = "parquet")]
    const PARQUET: &str = "parquet";
    /// Those that are read in place.
    const FILES: &[&str] = &[
        Self::SPARKEY,
        #[cfg(feature = "parquet")]
        Self::PARQUET,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text(format) => format.name(),
            Self::Sparkey => Self::SPARKEY,
            #[cfg(feature = "parquet")]
            Self::Parquet => Self::PARQUET,
        }
    }

    fn of(file: &Path) -> Option<Self> {
        #[cfg(feature = "parquet")]
        if file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(Self::PARQUET)) {
            return Some(Self::Parquet);
        }
        Format::of(file).map(Self::Text).or_else(|| Pair::of_either(file).ok().map(|_| Self::Sparkey))
    }

    fn named(name: &str) -> Self {
        #[cfg(feature = "parquet")]
        if name == Self::PARQUET {
            return Self::Parquet;
        }
        Format::ALL.into_iter().find(|format| format.name() == name).map_or(Self::Sparkey, Self::Text)
    }
}

/// Reads the name of a format.
pub(super) fn formats() -> impl TypedValueParser<Value = Source> {
    let names = Format::ALL.map(Format::name).into_iter().chain(Source::FILES.iter().copied());
    PossibleValuesParser::new(names).map(|name| Source::named(&name))
}

/// One file to read.
pub(super) struct Input {
    pub(super) file: PathBuf,
    /// The file's name without the extension that says how it is packed.
    pub(super) name: PathBuf,
    packing: Packing,
    pub(super) source: Source,
    /// Bytes of the file; none of standard input, whose length is not known.
    len: u64,
    /// Of what can be read only once.
    copy: Option<File>,
}

/// All files to read, in order, and those below a directory that are not.
#[derive(Default)]
pub(super) struct Inputs {
    pub(super) read: Vec<Input>,
    pub(super) skipped: Vec<PathBuf>,
}

impl Inputs {
    /// What `given` names, directories with all below them.
    pub(super) fn of(given: &[PathBuf], format: Option<Source>) -> Result<Self> {
        let mut inputs = Self::default();
        for file in given {
            if file.is_dir() { inputs.add_directory(file, format)? } else { inputs.read.push(Input::of(file, format)?) }
        }
        Ok(inputs)
    }

    fn add_directory(&mut self, directory: &Path, format: Option<Source>) -> Result<()> {
        let before = self.read.len();
        let walk = WalkDir::new(directory).min_depth(1).follow_links(true).sort_by_file_name();
        for entry in walk.into_iter().filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry)) {
            let entry =
                entry.map_err(io::Error::from).doing("look through the directory").map_err(|e| e.file(directory))?;
            if !entry.file_type().is_dir() {
                self.add_below(entry, format)?;
            }
        }
        if self.read.len() > before {
            return Ok(());
        }
        let finding = "no file below this directory has a name that says what it is in";
        Err(Error::new(Kind::Invalid, finding).file(directory).remedy("give `--format`, or the files themselves"))
    }

    fn add_below(&mut self, entry: DirEntry, format: Option<Source>) -> Result<()> {
        if entry.file_name() == SPACE_LOG {
            return Err(Error::new(Kind::Invalid, "a space lies there, and its files are of several versions")
                .file(entry.path())
                .remedy("`hammerspace export` that space, and load what comes out"));
        }
        let is_read =
            entry.file_type().is_file() && (format.is_some() || Source::of(&Packing::of(entry.path()).1).is_some());
        if !is_read {
            self.skipped.push(entry.into_path());
        } else if !is_index_beside_its_log(entry.path()) {
            self.read.push(Input::of(entry.path(), format)?);
        }
        Ok(())
    }

    /// The same, each to be read as often as is wanted. What can be read only once is copied: an update that waits for it in
    /// its turn would keep others waiting, and may have to read it again.
    pub(super) fn repeatable(mut self) -> Result<Self> {
        for input in &mut self.read {
            if is_stdin(&input.file) || !fs::metadata(&input.file).doing("look at the file")?.is_file() {
                input.copy = Some(input.copied().map_err(|error| error.file(&input.file))?);
            }
        }
        Ok(self)
    }

    /// What came of reading them.
    pub(super) fn answer(
        &self,
        files: Vec<Loaded>,
        compared: Option<Compared>,
        version: Option<u64>,
        is_published: bool,
    ) -> Answer {
        let skipped = self.skipped.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        Answer { version, is_published, compared, files, skipped }
    }

    /// Bytes of all files.
    pub(super) fn len(&self) -> u64 {
        self.read.iter().map(|input| input.len).sum()
    }
}

impl Input {
    fn of(file: &Path, format: Option<Source>) -> Result<Self> {
        let (packing, name) = Packing::of(file);
        let source = format.or_else(|| Source::of(&name)).ok_or_else(|| {
            Error::new(Kind::Invalid, "the name does not say what the file is in").file(file).remedy("give `--format`")
        })?;
        if !matches!(source, Source::Text(_)) && packing != Packing::Plain {
            return Err(Error::new(
                Kind::Invalid,
                format!("a {} file is read in place, and this one is packed", source.name()),
            )
            .file(file)
            .remedy("unpack it first"));
        }
        let len = if is_stdin(file) { 0 } else { len(file).map_err(|error| error.file(file))? };
        Ok(Self { file: file.into(), name, packing, source, len, copy: None })
    }

    /// The bytes as they were before they were packed.
    pub(super) fn open<'p>(&self, progress: &'p Progress) -> Result<Box<dyn Read + 'p>> {
        let input: Box<dyn Read> = match &self.copy {
            Some(copy) => Box::new(from_start(copy).doing("read the copy")?),
            None => self.once()?,
        };
        self.packing.unpack(BufReader::with_capacity(1 << 16, progress.reading(input)))
    }

    /// The bytes as they are.
    fn once(&self) -> Result<Box<dyn Read>> {
        if is_stdin(&self.file) {
            return Ok(Box::new(io::stdin().lock()));
        }
        Ok(Box::new(File::open(&self.file).doing("open")?))
    }

    /// A copy of them, in a file without a name.
    fn copied(&self) -> Result<File> {
        let (progress, mut copy) = (Progress::bytes("read", 0), scratch()?);
        io::copy(&mut progress.reading(self.once()?), &mut copy).doing("copy the input")?;
        Ok(copy)
    }
}

fn from_start(file: &File) -> io::Result<File> {
    let mut file = file.try_clone()?;
    file.rewind()?;
    Ok(file)
}

/// What the log of every version of a space is called.
const SPACE_LOG: &str = "hammerspace.spl";

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

/// Either file names the pair, which is loaded once.
fn is_index_beside_its_log(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "spi") && file.with_extension("spl").exists()
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

fn len(file: &Path) -> Result<u64> {
    Ok(fs::metadata(file).doing("look at the file")?.len())
}
