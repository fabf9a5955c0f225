//! `hammerspace load SPACE FILE…`: translations and tables into a space, published as one version.
//!
//! ```text
//! FILE… ─ Inputs ─► Input ─ reader of its format ─► Target ─► Writer ─┬─► published
//!                                                                     └─► Changes: said, and not published
//! ```

mod answer;
mod changes;
mod input;
mod plurals;
mod target;

use std::fs;
use std::io::BufReader;
use std::path::PathBuf;

use clap::Args;
use hammerspace::{Error, Kind, Result, Space, Updated, Writer};
use hammerspace_error::Doing;
use hammerspace_load::i18n::{self, LOCALES, Parents, Texts};
use hammerspace_load::{Format, Options, whole};
use hammerspace_tables::Pair;

use self::answer::{Answer, Compared, Loaded};
use self::changes::Changes;
use self::input::{Input, Inputs, Source, formats};
use self::plurals::Plurals;
use self::target::Target;
use super::publishing::{Publishing, update};
use crate::effort::Indexing;
use crate::exit::Outcome;
use crate::interrupt;
use crate::output::Output;
use crate::prefix::Prefix;
use crate::progress::Progress;
use crate::values::delimiter;

/// Load translations and tables, and publish them as one version
///
/// What is loaded is merged into what is there, key by key, the last one wins; with --replace it takes its place. Readers
/// see all of it at once, or nothing of it if a file cannot be read.
#[derive(Args)]
pub(crate) struct Load {
    /// The directory of the space; made if it is missing
    space: PathBuf,
    /// What to load, in this order: .po, .mo, .json and .yaml (flat or nested), .ndjson, .csv, .tsv, each also as .gz or .zst;
    /// .parquet; a Sparkey pair by the name of its .spl or .spi; a directory with such files; - is standard input
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
    /// Say what would change, and publish nothing
    #[arg(long)]
    dry_run: bool,
    /// Publish nothing if nothing changes
    #[arg(long)]
    if_changed: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    table: Table,
    #[command(flatten)]
    publishing: Publishing,
    #[command(flatten)]
    indexing: Indexing,
}

/// What the files themselves do not say.
#[derive(Args)]
struct Reading {
    /// Keep the header of .po and .mo, which has the rule for plurals: under the prefix alone
    #[arg(long)]
    catalogue_header: bool,
    /// For Ruby's I18n: JSON and YAML keep their types, lists and trees, and take away what is null; catalogues keep their
    /// header. The prefix is empty, or names with a dot behind each
    #[arg(long)]
    i18n: bool,
}

/// Where in the rows of CSV and TSV the pairs are.
#[derive(Args)]
struct Table {
    /// The first row of CSV and TSV names the columns
    #[arg(long)]
    header_row: bool,
    /// The column of CSV and TSV with the keys, by its number or its name in the header row [default: the first]; the field of
    /// Parquet, by its path [default: key]
    #[arg(long, value_name = "COLUMN")]
    key_column: Option<String>,
    /// The column of CSV and TSV with the values, likewise; given several times, a value is a JSON object of these columns
    /// [default: the only other one; in Parquet, value]
    #[arg(long = "value-column", value_name = "COLUMN")]
    value_columns: Vec<String>,
    /// What separates the columns of CSV and TSV [default: a comma, a tab]
    #[arg(long, value_name = "CHAR", value_parser = column_delimiter, allow_hyphen_values = true)]
    delimiter: Option<u8>,
}

impl Table {
    #[cfg(feature = "parquet")]
    fn read_parquet(&self, input: &Input, put: &mut Put) -> Result<()> {
        let key = self.key_column.as_deref().unwrap_or("key");
        let usual = ["value".to_owned()];
        let values = if self.value_columns.is_empty() { &usual[..] } else { &self.value_columns };
        hammerspace_stripe::Reader::open(&input.file)?.pairs(key, values, put)
    }

    fn is_default(&self) -> bool {
        !self.header_row && self.key_column.is_none() && self.value_columns.is_empty() && self.delimiter.is_none()
    }
}

fn column_delimiter(given: &str) -> std::result::Result<u8, String> {
    let byte = delimiter(given)?;
    if b"\"\r\n".contains(&byte) { Err("quotes and line ends have a meaning of their own".into()) } else { Ok(byte) }
}

impl Load {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let inputs = Inputs::of(&self.files, self.format)?;
        self.check(&inputs)?;
        interrupt::keeps_space(&self.space)?;
        let scratch = self.scratch()?;
        let directory = scratch.as_ref().map_or(self.space.as_path(), |scratch| scratch.path());
        let options = self.publishing.options().effort(self.indexing.effort());
        let options = if self.replace { options.mend() } else { options };
        let space = options.create(directory)?;
        let answer = if self.replace || self.dry_run {
            self.load_alone(&inputs, &space)?
        } else {
            self.load_in_turn(&inputs.repeatable()?, &space)?
        };
        // What a dry run says is what it was asked for.
        let told = if self.dry_run { out.answer(&answer) } else { out.done(&answer) };
        told?;
        Ok(Outcome::Found)
    }

    /// Waits for nobody: what replaces everything, or nothing at all.
    fn load_alone(&self, inputs: &Inputs, space: &Space) -> Result<Answer> {
        let mut writer = if self.replace { space.replace()? } else { space.writer()? };
        let (files, compared) = self.fill_and_compare(inputs, space, &mut writer)?;
        if compared.as_ref().is_some_and(|compared| !compared.published) {
            return Ok(inputs.answer(files, compared, space.snapshot().number(), false));
        }
        let _publishing = Progress::unknown("publish");
        Ok(inputs.answer(files, compared, Some(writer.publish()?), true))
    }

    /// Queues, so that nothing is lost which others write.
    fn load_in_turn(&self, inputs: &Inputs, space: &Space) -> Result<Answer> {
        let mut publishing = None;
        let updated = update(space, |writer| {
            publishing = None;
            space.refresh()?;
            let (files, compared) = self.fill_and_compare(inputs, space, writer)?;
            if compared.as_ref().is_some_and(|compared| !compared.published) {
                // Then there is nothing to publish.
                writer.restart()?;
            }
            publishing = Some(Progress::unknown("publish"));
            Ok((files, compared))
        });
        drop(publishing);
        let Updated { result: (files, compared), version, is_published } = updated?;
        Ok(inputs.answer(files, compared, version, is_published))
    }

    fn fill_and_compare(
        &self,
        inputs: &Inputs,
        space: &Space,
        writer: &mut Writer,
    ) -> Result<(Vec<Loaded>, Option<Compared>)> {
        let files = self.fill(inputs, space, writer)?;
        Ok((files, self.compare(space, writer)?))
    }

    fn check(&self, inputs: &Inputs) -> Result<()> {
        let has_columns = |input: &Input| match input.source {
            Source::Text(format) => matches!(format, Format::Csv | Format::Tsv),
            Source::Sparkey => false,
            #[cfg(feature = "parquet")]
            Source::Parquet => true,
        };
        if self.table.is_default() || inputs.read.iter().any(has_columns) {
            return Ok(());
        }
        Err(Error::new(
            Kind::Invalid,
            "columns, delimiters and header rows are of tables, and no file is one: CSV, TSV, Parquet",
        )
        .remedy("leave these options out, or give `--format csv`"))
    }

    /// A place for the trial of a space that is still to be made.
    fn scratch(&self) -> Result<Option<tempfile::TempDir>> {
        let is_there = fs::read_dir(&self.space).is_ok_and(|mut entries| entries.next().is_some());
        (self.dry_run && !is_there).then(|| tempfile::tempdir().doing("make a directory to try it in")).transpose()
    }

    /// Puts all that is in the files.
    fn fill(&self, inputs: &Inputs, space: &Space, writer: &mut Writer) -> Result<Vec<Loaded>> {
        if !self.replace {
            self.take_list_away(space, writer)?;
        }
        let mut target = Target::new(writer, &self.space, self.reading.i18n);
        let progress = Progress::bytes("load", inputs.len());
        let mut files = Vec::new();
        for input in &inputs.read {
            files.push(self.load(input, &mut target, &progress).map_err(|error| error.file(&input.file))?);
        }
        if self.replace && files.iter().all(|file| file.pairs == 0) && progress.done() > 0 {
            return Err(Error::new(
                Kind::Invalid,
                "the space would be empty: there are no pairs in the files, which are not",
            )
            .file(&self.space)
            .remedy("see whether the files are what they should be; to empty a space, use `hammerspace clear`"));
        }
        target.finish()?;
        Ok(files)
    }

    /// A list of locales would be short of those that we load.
    fn take_list_away(&self, space: &Space, writer: &mut Writer) -> Result<()> {
        let is_listed = space.get(LOCALES)?.is_some_and(|value| i18n::is_list(LOCALES, &value));
        if is_listed && !self.reading.i18n { writer.delete(LOCALES) } else { Ok(()) }
    }

    fn compare(&self, space: &Space, writer: &mut Writer) -> Result<Option<Compared>> {
        if !self.dry_run && !self.if_changed {
            return Ok(None);
        }
        let changes = Changes::between(&space.snapshot(), writer)?;
        Ok(Some(Compared { published: !self.dry_run && !changes.is_empty(), changes }))
    }

    fn load(&self, input: &Input, target: &mut Target, progress: &Progress) -> Result<Loaded> {
        let prefix = self.prefix.of(&input.name)?;
        let parents = if self.reading.i18n { Some(Parents::of(&prefix)?) } else { None };
        let mut plurals = Plurals::default();
        let pairs = match (input.source, parents) {
            (Source::Text(format), Some(parents)) if i18n::is_typed(format) => {
                i18n::read(format, &whole(input.open(progress)?)?, &parents, target)?
            }
            (Source::Text(Format::Po | Format::Mo), Some(parents)) if parents.is_empty() => {
                return Err(Error::new(Kind::Invalid, "a catalogue does not name its locale")
                    .remedy("give `--prefix '{locale}.'`, or the locale and a dot"));
            }
            (source, _) => self.load_pairs(input, source, &prefix, &mut plurals, target, progress)?,
        };
        let prefix = String::from_utf8_lossy(&prefix).into_owned();
        let warning = plurals.warning();
        Ok(Loaded {
            file: input.file.to_string_lossy().into_owned(),
            format: input.source.name(),
            prefix,
            pairs,
            warning,
        })
    }

    fn load_pairs(
        &self,
        input: &Input,
        source: Source,
        prefix: &[u8],
        plurals: &mut Plurals,
        target: &mut Target,
        progress: &Progress,
    ) -> Result<u64> {
        let (mut key, mut pairs) = (prefix.to_vec(), 0);
        let is_catalogue = matches!(source, Source::Text(Format::Po | Format::Mo));
        let keeps_header = self.options().catalogue_header;
        let mut put = |bare: &[u8], value: &[u8]| {
            if is_catalogue {
                plurals.note(bare, value);
                if bare.is_empty() && !keeps_header {
                    return Ok(());
                }
            }
            key.truncate(prefix.len());
            key.extend_from_slice(bare);
            if i18n::is_list(&key, value) {
                return Ok(());
            }
            pairs += 1;
            target.put(&key, value)
        };
        match source {
            Source::Text(format) => {
                let bytes = BufReader::with_capacity(1 << 16, input.open(progress)?);
                // The header is looked at, kept or not.
                let options = Options { catalogue_header: true, ..self.options() };
                hammerspace_load::read(format, bytes, &options, &mut put)?;
            }
            Source::Sparkey => read_sparkey(input, progress, &mut put)?,
            #[cfg(feature = "parquet")]
            Source::Parquet => self.table.read_parquet(input, &mut put)?,
        }
        Ok(pairs)
    }

    fn options(&self) -> Options {
        let Table { header_row, key_column, value_columns, delimiter } = &self.table;
        Options {
            header_row: *header_row,
            delimiter: *delimiter,
            key_column: key_column.clone(),
            value_columns: value_columns.clone(),
            catalogue_header: self.reading.catalogue_header || self.reading.i18n,
        }
    }
}

/// Where the pairs of a file go.
type Put<'a> = dyn FnMut(&[u8], &[u8]) -> Result<()> + 'a;

fn read_sparkey(input: &Input, progress: &Progress, put: &mut Put) -> Result<()> {
    let table = Pair::of_either(&input.file)?.open_or_index()?;
    for entry in &table {
        let entry = entry?;
        put(&entry.key, &entry.value)?;
        progress.add(entry.encoded_len());
    }
    Ok(())
}
