//! The verbs: one file each, with what it takes, what it does and what it says.

mod completions;
mod man;

use clap::Subcommand;
use hammerspace_error::Result;

use crate::exit::{Dialect, Outcome};
use crate::output::Output;
use crate::sparkey;

#[derive(Subcommand)]
pub(crate) enum Verb {
    /// Work on Sparkey files: all that Spotify's tool does, and what its users lack
    #[command(after_help = sparkey::EXIT_CODES)]
    Sparkey {
        #[command(subcommand)]
        verb: sparkey::Verb,
    },
    Completions(completions::Completions),
    Man(man::Man),
}

impl Verb {
    /// Whose exit codes it ends with.
    pub(crate) fn dialect(&self) -> Dialect {
        if matches!(self, Self::Sparkey { .. }) { Dialect::Sparkey } else { Dialect::Hammerspace }
    }

    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        match self {
            Self::Sparkey { verb } => verb.run(out),
            Self::Completions(verb) => verb.run(out),
            Self::Man(verb) => verb.run(out),
        }
    }
}
