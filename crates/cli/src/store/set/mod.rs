//! `hammerspace store set`: exact sets of ids, and expressions over them.
//!
//! ```text
//! ids ──► universe: id to ordinal ──► sets of ordinals ──► count, list, export
//! ```

mod add;
mod count;
mod files;
mod holds;
mod list;
mod remove;
mod roaring;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hammerspace::Store;
use hammerspace::store::{Sets, TableOptions, Universe};
use hammerspace_error::{Kind, Result};

use crate::exit::Outcome;
use crate::output::Output;

/// Keep exact sets of ids, and count expressions over them
#[derive(Subcommand)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) enum Set {
    Add(add::Add),
    Remove(remove::Remove),
    Count(count::Count),
    List(list::List),
    Holds(holds::Holds),
    Import(roaring::Import),
    Export(roaring::Export),
}

impl Set {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        match self {
            Self::Add(verb) => verb.run(out),
            Self::Remove(verb) => verb.run(out),
            Self::Count(verb) => verb.run(out),
            Self::List(verb) => verb.run(out),
            Self::Holds(verb) => verb.run(out),
            Self::Import(verb) => verb.run(out),
            Self::Export(verb) => verb.run(out),
        }
    }
}

/// A table of sets.
#[derive(Args)]
struct Place {
    /// The directory of the store
    store: PathBuf,
    /// The table of the sets
    #[arg(long, value_name = "NAME", default_value = "sets")]
    table: String,
}

impl Place {
    /// The sets, to read, and their store.
    fn attach(&self) -> Result<(Store, Sets)> {
        let store = Store::attach(&self.store)?;
        let sets = Sets::open(&store, &self.table)?;
        Ok((store, sets))
    }

    /// The sets, to write; the table is created where there is none.
    fn own(&self) -> Result<(Store, Sets)> {
        let store = Store::open(&self.store)?;
        let options = TableOptions { versions: false, ..TableOptions::default() };
        let sets = or_create(Sets::open(&store, &self.table), || {
            store.create_table(&self.table, options)?;
            Sets::open(&store, &self.table)
        })?;
        Ok((store, sets))
    }
}

/// A universe.
#[derive(Args)]
struct Over {
    /// The table of the universe, which gives ids their ordinals
    #[arg(long, value_name = "NAME", default_value = "universe")]
    universe: String,
}

impl Over {
    /// The universe, which is created where there is none.
    fn own(&self, store: &Store) -> Result<Universe> {
        or_create(Universe::open(store, &self.universe), || Universe::create(store, &self.universe))
    }

    fn open(&self, store: &Store) -> Result<Universe> {
        Universe::open(store, &self.universe)
    }
}

fn or_create<T>(opened: Result<T>, create: impl FnOnce() -> Result<T>) -> Result<T> {
    match opened {
        Err(error) if error.kind() == Kind::Missing => create(),
        opened => opened,
    }
}

/// Prints a number, `what` it is.
fn answer(out: &mut Output, what: &str, number: u64) -> Result<()> {
    if out.json() {
        out.object(&serde_json::json!({ what: number }))
    } else {
        out.bytes(format!("{number}\n").as_bytes())
    }
}
