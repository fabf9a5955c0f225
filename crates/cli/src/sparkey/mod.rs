//! Spotify's `sparkey` tool: its verbs with its output and exit codes, and four that its users lack.
//!
//! | verb | as in Spotify's tool |
//! |---|---|
//! | info, get, writehash, createlog, appendlog | yes: same arguments, same standard output, same exit codes |
//! | rewrite | yes, but it trims: dead entries stay behind, and deleted keys do not come back |
//! | dump, delete, verify, shard | ours |
//!
//! Where the two part, ours is stricter or loses less: files of section 3.3 of the format are refused, headers are
//! written in one piece, an index replaces the old one by rename, a last line without a newline is not dropped.

mod appendlog;
mod createlog;
mod delete;
mod dump;
mod get;
mod info;
mod rewrite;
mod shard;
mod source;
mod verify;
mod writehash;

use std::ffi::OsString;

use clap::{Args, Subcommand};
use hammerspace_error::Result;
use hammerspace_sparkey::{Effort, IndexHeader};
use hammerspace_tables::Pair;

use crate::exit::Outcome;
use crate::output::Output;
use crate::progress::Progress;

pub(crate) const EXIT_CODES: &str = "Exit codes: 0 found or done, 1 error, 2 not found.";

#[derive(Subcommand)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) enum Verb {
    Info(info::Info),
    Get(get::Get),
    Writehash(writehash::Writehash),
    Createlog(createlog::Createlog),
    Appendlog(appendlog::Appendlog),
    Rewrite(rewrite::Rewrite),
    Dump(dump::Dump),
    Delete(delete::Delete),
    Shard(shard::Shard),
    Verify(verify::Verify),
}

impl Verb {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        match self {
            Self::Info(verb) => verb.run(out),
            Self::Get(verb) => verb.run(out),
            Self::Writehash(verb) => verb.run(out),
            Self::Createlog(verb) => verb.run(out),
            Self::Appendlog(verb) => verb.run(out),
            Self::Rewrite(verb) => verb.run(out),
            Self::Dump(verb) => verb.run(out),
            Self::Delete(verb) => verb.run(out),
            Self::Shard(verb) => verb.run(out),
            Self::Verify(verb) => verb.run(out),
        }
    }
}

/// Words beyond what a verb of Spotify's tool takes, which that tool ignores.
#[derive(Args)]
struct Ignored {
    #[arg(hide = true)]
    ignored: Vec<OsString>,
}

/// Builds an index afresh, with a sign of life.
pub(crate) fn build_index(pair: &Pair, effort: &Effort) -> Result<IndexHeader> {
    let _working = Progress::unknown("index");
    pair.build_index_within(effort)
}
