//! `hammerspace store set import` and `export`: ordinals as portable Roaring bytes.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;

use clap::Args;
use hammerspace::store::set::RoaringBitmap;
use hammerspace_error::{Doing, Error, Kind, Result};
use serde_json::json;

use super::{Over, Place, answer};
use crate::destination::{Destination, write_file};
use crate::exit::Outcome;
use crate::output::Output;
use crate::progress::Progress;

/// Add ordinals to a set from portable Roaring bytes on standard input, and print how many it has now
#[derive(Args)]
#[command(after_help = "Example: hammerspace store set import shop bought --from bought.roaring")]
pub(crate) struct Import {
    #[command(flatten)]
    place: Place,
    /// The set
    set: String,
    #[command(flatten)]
    over: Over,
    /// Read this file in place of standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
}

impl Import {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let (store, sets) = self.place.own()?;
        let _progress = Progress::unknown("importing");
        let ordinals = self.read()?;
        sets.import(&self.set, &self.over.open(&store)?, ordinals)?;
        answer(out, "count", sets.count(&format!("\"{}\"", self.set))?)?;
        Ok(Outcome::Found)
    }

    fn read(&self) -> Result<RoaringBitmap> {
        let mut bytes = Vec::new();
        match &self.from {
            None => io::stdin().lock().read_to_end(&mut bytes).map(drop).doing("read standard input")?,
            Some(path) => bytes = fs::read(path).doing("read").map_err(|error| error.file(path))?,
        }
        let mut rest = &bytes[..];
        let refused = |finding: String| {
            Error::new(Kind::Corrupt, finding).remedy("give a bitmap of 32 bits in Roaring's portable format")
        };
        let bitmap = RoaringBitmap::deserialize_from(&mut rest)
            .map_err(|cause| refused(format!("this is no Roaring bitmap: {cause}")))?;
        match rest.len() {
            0 => Ok(bitmap),
            more => Err(refused(format!("{more} bytes lie behind the bitmap")).at((bytes.len() - more) as u64)),
        }
    }
}

/// Write the ordinals that an expression over sets has, as portable Roaring bytes
#[derive(Args)]
#[command(after_help = "Example: hammerspace store set export shop 'saw_ad - bought' --output rest.roaring")]
pub(crate) struct Export {
    #[command(flatten)]
    place: Place,
    /// Sets and operators, as `count` takes them
    expression: String,
    /// The file; - is standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: OsString,
}

impl Export {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let (_store, sets) = self.place.attach()?;
        let progress = Progress::unknown("exporting");
        let ordinals = sets.ordinals(&self.expression)?;
        drop(progress);
        match Destination::from(self.output.clone()) {
            Destination::Stdout if out.json() => {
                return Err(Error::new(Kind::Invalid, "bytes and JSON cannot both go to standard output")
                    .remedy("name a file with --output"));
            }
            Destination::Stdout => ordinals.serialize_into(&mut *out).doing("write to standard output")?,
            Destination::File(path) => write_file(&path, |to| ordinals.serialize_into(to).doing("write"))?,
        }
        if out.json() {
            out.object(&json!({ "count": ordinals.len() }))?;
        }
        Ok(Outcome::Found)
    }
}
