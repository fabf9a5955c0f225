//! `hammerspace load SPACE FILE…`: translations and tables into a space, published as one version.

use std::fmt;
use std::fs;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hammerspace::{Error, Kind, Result, Space, Writer};
use hammerspace_error::Doing;
use hammerspace_load::i18n::{self, LOCALES, Locales, Parents, Texts};
use hammerspace_load::{Format, Options};
use hammerspace_tables::Pair;
use serde::Serialize;

use super::publishing::Publishing;
use crate::effort::Indexing;
use crate::exit::Outcome;
use crate::output::Output;
use crate::prefix::Prefix;
use crate::progress::Progress;

/// Load translations and tables, and publish them as one version
///
/// What is loaded is merged into what is there, key by key, the last one wins; with --replace it takes its place. Readers
/// see all of it at once, or nothing of it if a file cannot be read.
#[derive(Args)]
pub(crate) struct Load {
    /// The directory of the space; made if it is missing
    space: PathBuf,
    /// What to load, in this order: .po, .mo, .json and .yaml (flat or nested), .ndjson, .csv, .tsv, or a Sparkey pair
    /// by the name of its .spl or .spi; - is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// What the files are in [default: as their names say]
    #[arg(long, value_parser = formats())]
    format: Option<Source>,
    /// What goes before every key. In it {file} is the file's name without extension, {dir} that of its directory, and
    /// {locale} the locale that either of them names
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    prefix: Prefix,
    /// Start empty instead of from the current version
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    publishing: Publishing,
    #[command(flatten)]
    indexing: Indexing,
}

/// What the files themselves do not say.
#[derive(Args)]
struct Reading {
    /// The first row of CSV and TSV names the columns
    #[arg(long)]
    header_row: bool,
    /// Keep the header of .po and .mo, which has the rule for plurals: under the prefix alone
    #[arg(long)]
    catalogue_header: bool,
    /// For Ruby's I18n: JSON and YAML keep their types, lists and trees, and take away what is null; catalogues keep their
    /// header. The prefix is empty, or names with a dot behind each
    #[arg(long)]
    i18n: bool,
}

#[derive(Serialize)]
struct Answer {
    version: u64,
    files: Vec<Loaded>,
}

/// What came from one file.
#[derive(Serialize)]
struct Loaded {
    file: String,
    format: &'static str,
    prefix: String,
    pairs: u64,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Loaded { file, pairs, .. } in &self.files {
            writeln!(f, "{file}: {pairs} pairs")?;
        }
        writeln!(f, "published version {}", self.version)
    }
}

impl Load {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let sources = self.files.iter().map(|file| self.source(file)).collect::<Result<Vec<_>>>()?;
        let bytes = self.files.iter().map(|file| len(file)).sum::<Result<u64>>()?;
        let options = self.publishing.options().effort(self.indexing.effort());
        let writer = if self.replace {
            options.mend().create(&self.space)?.replace()?
        } else {
            self.update(&options.create(&self.space)?)?
        };
        let locales = self.reading.i18n.then(Locales::default);
        let mut target = Target { writer, space: &self.space, locales };
        let progress = Progress::bytes("load", bytes);
        let mut files = Vec::new();
        for (file, source) in self.files.iter().zip(sources) {
            files.push(self.load(file, source, &mut target, &progress).map_err(|error| error.file(file))?);
        }
        drop(progress);
        let publishing = Progress::unknown("publish");
        let version = target.publish()?;
        drop(publishing);
        out.answer(&Answer { version, files })?;
        Ok(Outcome::Found)
    }

    /// A writer that starts from what is there, but for a list of locales, which will be short of those that we load.
    fn update(&self, space: &Space) -> Result<Writer> {
        let is_listed = space.get(LOCALES)?.is_some_and(|value| i18n::is_list(LOCALES, &value));
        let mut writer = space.writer()?;
        if is_listed && !self.reading.i18n {
            writer.delete(LOCALES)?;
        }
        Ok(writer)
    }

    fn source(&self, file: &Path) -> Result<Source> {
        self.format.or_else(|| Source::of(file)).ok_or_else(|| {
            Error::new(Kind::Invalid, "the name does not say what the file is in").file(file).remedy("give --format")
        })
    }

    fn load(&self, file: &Path, source: Source, target: &mut Target, progress: &Progress) -> Result<Loaded> {
        let prefix = self.prefix.of(file)?;
        let parents = if self.reading.i18n { Some(Parents::of(&prefix)?) } else { None };
        let pairs = match (source, parents) {
            (Source::Text(format), Some(parents)) if i18n::is_typed(format) => {
                let mut bytes = Vec::new();
                open(file, progress)?.read_to_end(&mut bytes).doing("read the file")?;
                i18n::read(format, &bytes, &parents, target)?
            }
            (Source::Text(Format::Po | Format::Mo), Some(parents)) if parents.is_empty() => {
                return Err(Error::new(Kind::Invalid, "a catalogue does not name its locale")
                    .remedy("give `--prefix '{locale}.'`, or the locale and a dot"));
            }
            (source, _) => self.load_pairs(file, source, &prefix, target, progress)?,
        };
        let prefix = String::from_utf8_lossy(&prefix).into_owned();
        Ok(Loaded { file: file.to_string_lossy().into_owned(), format: source.name(), prefix, pairs })
    }

    fn load_pairs(
        &self,
        file: &Path,
        source: Source,
        prefix: &[u8],
        target: &mut Target,
        progress: &Progress,
    ) -> Result<u64> {
        let (mut key, mut pairs) = (prefix.to_vec(), 0);
        let mut put = |bare: &[u8], value: &[u8]| {
            key.truncate(prefix.len());
            key.extend_from_slice(bare);
            if i18n::is_list(&key, value) {
                return Ok(());
            }
            pairs += 1;
            target.put(&key, value)
        };
        match source {
            Source::Text(format) => self.read(file, format, progress, &mut put)?,
            Source::Sparkey => read_sparkey(file, progress, &mut put)?,
        }
        Ok(pairs)
    }

    fn read(&self, file: &Path, format: Format, progress: &Progress, put: &mut Put) -> Result<()> {
        let Reading { header_row, catalogue_header, i18n } = self.reading;
        let options = Options { header_row, catalogue_header: catalogue_header || i18n };
        hammerspace_load::read(format, BufReader::with_capacity(1 << 16, open(file, progress)?), options, put)
    }
}

/// Where everything goes.
struct Target<'a> {
    writer: Writer,
    space: &'a Path,
    /// Of what was put, for I18n.
    locales: Option<Locales>,
}

impl Target<'_> {
    fn publish(mut self) -> Result<u64> {
        if let Some(locales) = self.locales.take() {
            locales.list(&mut self)?;
        }
        self.writer.publish()
    }
}

impl Texts for Target<'_> {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.writer.get(key).map_err(|error| error.file(self.space))
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if let Some(locales) = &mut self.locales {
            locales.note(key);
        }
        self.writer.put(key, value).map_err(|error| error.file(self.space))
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.writer.delete(key).map_err(|error| error.file(self.space))
    }

    fn keys(&mut self) -> Result<Vec<Vec<u8>>> {
        self.writer.keys().map_err(|error| error.file(self.space))
    }
}

fn open(file: &Path, progress: &Progress) -> Result<impl Read> {
    let input: Box<dyn Read> =
        if is_stdin(file) { Box::new(io::stdin().lock()) } else { Box::new(fs::File::open(file).doing("open")?) };
    Ok(progress.reading(input))
}

/// Where the pairs of a file go.
type Put<'a> = dyn FnMut(&[u8], &[u8]) -> Result<()> + 'a;

fn read_sparkey(file: &Path, progress: &Progress, put: &mut Put) -> Result<()> {
    let table = Pair::of_either(file)?.open_or_index()?;
    for entry in &table {
        let entry = entry?;
        put(&entry.key, &entry.value)?;
        progress.add(entry.encoded_len());
    }
    Ok(())
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// Bytes of the file; nobody knows how many will come from standard input.
fn len(file: &Path) -> Result<u64> {
    if is_stdin(file) {
        return Ok(0);
    }
    Ok(fs::metadata(file).doing("look at the file").map_err(|error| error.file(file))?.len())
}

/// What a file is in.
#[derive(Clone, Copy)]
enum Source {
    Text(Format),
    Sparkey,
}

impl Source {
    const SPARKEY: &str = "sparkey";

    fn name(self) -> &'static str {
        match self {
            Self::Text(format) => format.name(),
            Self::Sparkey => Self::SPARKEY,
        }
    }

    fn of(file: &Path) -> Option<Self> {
        Format::of(file).map(Self::Text).or_else(|| Pair::of_either(file).ok().map(|_| Self::Sparkey))
    }

    fn named(name: &str) -> Self {
        Format::ALL.into_iter().find(|format| format.name() == name).map_or(Self::Sparkey, Self::Text)
    }
}

fn formats() -> impl TypedValueParser<Value = Source> {
    let names = Format::ALL.map(Format::name).into_iter().chain([Source::SPARKEY]);
    PossibleValuesParser::new(names).map(|name| Source::named(&name))
}
