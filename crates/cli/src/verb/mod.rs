//! The verbs: one file each, with what it takes, what it does and what it says.

mod clear;
mod completions;
mod delete;
mod diff;
mod export;
#[cfg(feature = "fleet")]
mod fleet;
#[cfg(feature = "fleet")]
mod follow;
mod gc;
mod get;
mod info;
mod load;
mod man;
mod publishing;
#[cfg(feature = "fleet")]
mod push;
mod rollback;
mod scan;
#[cfg(feature = "server")]
mod serve;
mod set;
mod split;
#[cfg(feature = "parquet")]
mod stripe;
#[cfg(feature = "parquet")]
mod unstripe;
mod verify;
mod versions;
mod warm;

use clap::Subcommand;
use hammerspace_error::Result;

use crate::demo::Demo;
use crate::exit::{Dialect, Outcome};
use crate::output::Output;
use crate::{sparkey, store};

#[derive(Subcommand)]
pub(crate) enum Verb {
    Load(load::Load),
    Get(get::Get),
    Set(set::Set),
    Delete(delete::Delete),
    Scan(scan::Scan),
    Info(info::Info),
    Verify(verify::Verify),
    Versions(versions::Versions),
    Diff(diff::Diff),
    Rollback(rollback::Rollback),
    Clear(clear::Clear),
    Gc(gc::Gc),
    Export(export::Export),
    Warm(warm::Warm),
    #[cfg(feature = "fleet")]
    Push(push::Push),
    #[cfg(feature = "fleet")]
    Follow(follow::Follow),
    /// See and steer what follows a URL
    #[cfg(feature = "fleet")]
    Fleet {
        #[command(subcommand)]
        verb: fleet::Verb,
    },
    Split(split::Split),
    #[cfg(feature = "parquet")]
    Stripe(stripe::Stripe),
    #[cfg(feature = "parquet")]
    Unstripe(unstripe::Unstripe),
    #[cfg(feature = "server")]
    Serve(serve::Serve),
    /// Work on stores, which change all the time, key by key
    Store {
        #[command(subcommand)]
        verb: store::Verb,
    },
    /// Work on Sparkey files: all that Spotify's tool does, and what its users lack
    #[command(args_override_self = true, after_help = sparkey::EXIT_CODES)]
    Sparkey {
        #[command(subcommand)]
        verb: sparkey::Verb,
    },
    Demo(Demo),
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
            Self::Load(verb) => verb.run(out),
            Self::Get(verb) => verb.run(out),
            Self::Set(verb) => verb.run(out),
            Self::Delete(verb) => verb.run(out),
            Self::Scan(verb) => verb.run(out),
            Self::Info(verb) => verb.run(out),
            Self::Verify(verb) => verb.run(out),
            Self::Versions(verb) => verb.run(out),
            Self::Diff(verb) => verb.run(out),
            Self::Rollback(verb) => verb.run(out),
            Self::Clear(verb) => verb.run(out),
            Self::Gc(verb) => verb.run(out),
            Self::Export(verb) => verb.run(out),
            Self::Warm(verb) => verb.run(out),
            #[cfg(feature = "fleet")]
            Self::Push(verb) => verb.run(out),
            #[cfg(feature = "fleet")]
            Self::Follow(verb) => verb.run(out),
            #[cfg(feature = "fleet")]
            Self::Fleet { verb } => verb.run(out),
            Self::Split(verb) => verb.run(out),
            #[cfg(feature = "parquet")]
            Self::Stripe(verb) => verb.run(out),
            #[cfg(feature = "parquet")]
            Self::Unstripe(verb) => verb.run(out),
            #[cfg(feature = "server")]
            Self::Serve(verb) => verb.run(out),
            Self::Store { verb } => verb.run(out),
            Self::Sparkey { verb } => verb.run(out),
            Self::Demo(verb) => verb.run(out),
            Self::Completions(verb) => verb.run(out),
            Self::Man(verb) => verb.run(out),
        }
    }
}
