//! `hammerspace store set count STORE EXPRESSION`.

use std::path::PathBuf;

use clap::Args;
use hammerspace::Store;
use hammerspace::store::Sets;
use hammerspace_error::Result;

use super::{answer, files};
use crate::exit::Outcome;
use crate::output::Output;

/// Print how many ids an expression over sets has
///
/// The operators are `|`, `^`, `&` and `-`, which bind ever tighter, and parentheses. A name of other
/// characters than letters, digits and `_.:/@` stands between double quotes.
#[derive(Args)]
#[command(after_help = "\
Example: hammerspace store set count shop 'saw_ad & bought - bounced'
         hammerspace store set count --files 'saw_ad & bought' saw_ad=a.txt bought=b.txt")]
pub(crate) struct Count {
    /// The directory of the store, and the expression; with --files the expression, and NAME=FILE for each
    /// name
    #[arg(required = true, num_args = 1.., value_names = ["STORE", "EXPRESSION"])]
    given: Vec<String>,
    /// The table of the sets
    #[arg(long, value_name = "NAME", default_value = "sets")]
    table: String,
    /// Sets are files of one id a line, in any order: they are sorted on disk, so they may be larger than
    /// memory
    #[arg(long, conflicts_with = "table")]
    files: bool,
    /// Ids are sorted in so many bytes of memory at a time
    #[arg(long, value_name = "SIZE", default_value = "256MiB", requires = "files")]
    memory: bytesize::ByteSize,
    /// Where what does not go into memory is kept meanwhile [default: the system's directory for such]
    #[arg(long, value_name = "DIRECTORY", requires = "files")]
    scratch: Option<PathBuf>,
}

impl Count {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let count = if self.files {
            let (expression, named) = self.given.split_first().expect("it is required");
            files::count(expression, named, self.memory.as_u64(), self.scratch.as_deref())?
        } else {
            let [store, expression] = &self.given[..] else { return Err(files::wanted("STORE EXPRESSION")) };
            Sets::open(&Store::attach(store)?, &self.table)?.count(expression)?
        };
        answer(out, "count", count)?;
        Ok(Outcome::Found)
    }
}
