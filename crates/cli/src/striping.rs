//! Records to Parquet files: what `stripe` and the exports share.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use bytesize::ByteSize;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hammerspace::Result;
use hammerspace_error::{Doing, Error, Kind};
use hammerspace_os::File;
use hammerspace_split::{By, Committed, Split, Value};
use hammerspace_stripe::{
    Batch, Compression, Files, Options, Rejected, Router, Schema, Striped, Text, Writer, stripe, stripe_all, stripe_by,
};

use crate::destination::Destination;
use crate::exporting::Records;
use crate::records::object;

/// How much is used for striping.
#[derive(Args)]
pub(crate) struct Effort {
    /// How pages are compressed
    #[arg(long, value_name = "none|snappy|zstd", default_value = "snappy", value_parser = compressions())]
    compression: Compression,
    /// Memory for records and columns, roughly: a number of bytes, or with a unit such as 64MiB. Row groups are larger with
    /// more of it
    #[arg(long, value_name = "SIZE", default_value_t = ByteSize::mib(256))]
    memory: ByteSize,
    /// Threads that stripe [default: as many as the machine runs at once]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Pass over members that the schema does not have, instead of refusing their record
    #[arg(long)]
    ignore_unknown: bool,
}

fn compressions() -> impl TypedValueParser<Value = Compression> {
    PossibleValuesParser::new(Compression::ALL.map(Compression::name)).map(|name| named(&name))
}

fn named(name: &str) -> Compression {
    Compression::ALL.into_iter().find(|compression| compression.name() == name).expect("one of those")
}

impl Effort {
    pub(crate) fn options(&self) -> Options {
        Options {
            compression: self.compression,
            memory: usize::try_from(self.memory.as_u64()).unwrap_or(usize::MAX),
            workers: self.threads.unwrap_or(0),
            ignore_unknown: self.ignore_unknown,
        }
    }
}

/// Records that were written.
pub(crate) struct Count(pub(crate) u64);

/// What is striped, and how.
pub(crate) struct Columns {
    pub(crate) schema: Schema,
    pub(crate) options: Options,
}

/// Where a producer puts batches; `false` says that nobody wants more.
type Put<'a, T> = dyn FnMut(Batch<T>) -> bool + 'a;

/// Gathers records by value.
pub(crate) struct Routing<'a> {
    router: Router,
    put: &'a mut Put<'a, Value>,
}

impl Columns {
    /// By the text of a schema, and the name of a compression.
    pub(crate) fn of_text(schema: &str, compression: Option<&str>) -> Result<Self> {
        let compression = compression.map_or(Compression::default(), named);
        Ok(Self { schema: Schema::parse(schema)?, options: Options { compression, ..Options::default() } })
    }

    /// Writes one file of all records.
    pub(crate) fn write_file(
        &self,
        output: &Destination,
        produce: impl FnOnce(&mut Put<()>) -> Result<()> + Send,
    ) -> Result<Count> {
        self.open(output, |writer| {
            stripe(&self.schema, &self.options, produce, |striped: Striped<()>| {
                refuse(&striped.rejects)?;
                writer.append(striped.group)
            })
        })
    }

    /// Writes one file from what `fill` puts into it.
    pub(crate) fn open(
        &self,
        output: &Destination,
        fill: impl FnOnce(&mut Writer<&mut (dyn Write + Send)>) -> Result<()>,
    ) -> Result<Count> {
        match output.file() {
            None => self.fill(&mut io::stdout(), fill),
            Some(path) => hammerspace_tables::replace(path, |file: &mut File| self.fill(file, fill)),
        }
    }

    fn fill(
        &self,
        to: &mut (dyn Write + Send),
        fill: impl FnOnce(&mut Writer<&mut (dyn Write + Send)>) -> Result<()>,
    ) -> Result<Count> {
        let mut writer = Writer::new(to, &self.schema, &self.options)?;
        fill(&mut writer)?;
        let rows = writer.rows();
        writer.finish()?.flush().doing("write the file")?;
        Ok(Count(rows))
    }

    /// Writes one file for each value of what `produce` routes.
    pub(crate) fn write_files(
        &self,
        split: Split,
        produce: impl FnOnce(Routing) -> Result<()> + Send,
    ) -> Result<Committed> {
        let mut files = Files::new(split, &self.schema, &self.options);
        let router = Router::new(&self.options);
        let produce = |put: &mut Put<Value>| produce(Routing { router, put });
        stripe(&self.schema, &self.options, produce, |striped: Striped<Value>| {
            refuse(&striped.rejects)?;
            files.append(&striped.tag, striped.group)
        })?;
        files.commit()
    }
}

/// Records of ours fit their schema; where one does not, as with `--text`, that ends it.
fn refuse(rejects: &[Rejected]) -> Result<()> {
    match rejects.first() {
        None => Ok(()),
        Some(first) => {
            Err(Error::new(Kind::Invalid, format!("record {} does not fit the schema: {}", first.line, first.why))
                .remedy("export it as ndjson, or without --text"))
        }
    }
}

impl Records<'_> {
    /// Hands all records to `put`, many at a time.
    pub(crate) fn batch(&self, put: &mut Put<()>) -> Result<()> {
        let size = Options::default().block();
        let (mut lines, mut count, mut first, mut goes_on) = (Vec::new(), 0, 1, true);
        (self.each)(&mut |record| {
            count += 1;
            object(record, &mut lines)?;
            if lines.len() >= size && goes_on {
                let lines = std::mem::take(&mut lines);
                goes_on = put(Batch { tag: (), lines: Text::Lines(lines, first) });
                first = count + 1;
            }
            if goes_on { Ok(()) } else { Err(Error::new(Kind::Invalid, "the export was given up")) }
        })
        .or_else(|error| if goes_on { Err(error) } else { Ok(()) })?;
        put(Batch { tag: (), lines: Text::Lines(lines, first) });
        Ok(())
    }

    /// Hands all records to a router, by what they go by.
    pub(crate) fn route(&self, by: &By, mut routing: Routing) -> Result<()> {
        let (mut line, mut count, mut goes_on) = (Vec::new(), 0, true);
        (self.each)(&mut |record| {
            count += 1;
            line.clear();
            object(record, &mut line)?;
            line.pop();
            goes_on = routing.router.push(by.of_json(&line), &line, count, routing.put);
            if goes_on { Ok(()) } else { Err(Error::new(Kind::Invalid, "the export was given up")) }
        })
        .or_else(|error| if goes_on { Err(error) } else { Ok(()) })?;
        let _ = routing.router.finish().all(routing.put);
        Ok(())
    }
}

/// Reads a schema from a file.
pub(crate) fn read_schema(path: &Path) -> Result<Schema> {
    let text = fs::read_to_string(path).doing("read the schema").map_err(|error| error.file(path))?;
    Schema::parse(&text).map_err(|error| error.file(path))
}

/// Lines that do not fit: set aside, or the end of it all.
pub(crate) struct Rejects<'a> {
    to: Option<&'a mut dyn Write>,
    pub(crate) count: u64,
    pub(crate) first: Option<String>,
}

impl<'a> Rejects<'a> {
    pub(crate) fn new(to: Option<&'a mut dyn Write>) -> Self {
        Self { to, count: 0, first: None }
    }

    fn take(&mut self, rejects: Vec<Rejected>, file: &Path) -> Result<()> {
        for mut rejected in rejects {
            let Some(to) = &mut self.to else { return Err(rejected.error().file(file)) };
            self.count += 1;
            self.first.get_or_insert_with(|| format!("{}, line {}: {}", file.display(), rejected.line, rejected.why));
            rejected.text.write_to(to).doing("write the rejects")?;
        }
        Ok(())
    }
}

impl Columns {
    /// Stripes a file's lines into one file.
    pub(crate) fn add_lines<W: Write + Send>(
        &self,
        from: impl Read + Send,
        file: &Path,
        writer: &mut Writer<W>,
        rejects: &mut Rejects,
    ) -> Result<()> {
        stripe_all(from, &self.schema, &self.options, |striped| {
            rejects.take(striped.rejects, file)?;
            writer.append(striped.group)
        })
    }

    /// Stripes a file's lines into one file for each value.
    pub(crate) fn add_lines_by(
        &self,
        from: impl Read + Send,
        file: &Path,
        by: &By,
        files: &mut Files,
        rejects: &mut Rejects,
    ) -> Result<()> {
        stripe_by(from, by, &self.schema, &self.options, |striped| {
            rejects.take(striped.rejects, file)?;
            files.append(&striped.tag, striped.group)
        })
    }
}
