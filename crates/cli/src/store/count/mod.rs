//! `hammerspace store count`: distinct elements, by HyperLogLog; or the keys of a table.
//!
//! ```text
//! ids on standard input ──► hashes, as PostgreSQL's hll_hash_* ──► add ──► values of kind hll
//!                                        rows for COPY ◄── export ◄──┘ └──► get, union: estimates
//! ```

mod add;
mod export;
mod get;
mod import;
mod keys;
mod row;
mod union;

use clap::{Args, Subcommand};
use hammerspace::store::hll::HllBuf;
use hammerspace_error::Result;
use serde_json::{Value as Json, json};

use crate::exit::Outcome;
use crate::output::Output;

/// Count the keys of a table, or distinct elements by HyperLogLog
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
Example: hammerspace store count visits --prefix user:
         hammerspace store count add visits monday < ids.txt")]
pub(crate) struct Count {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    keys: keys::Keys,
}

#[derive(Subcommand)]
enum Verb {
    Add(add::Add),
    Get(get::Get),
    Union(union::Union),
    Import(import::Import),
    Export(export::Export),
}

impl Count {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        match &self.verb {
            Some(Verb::Add(verb)) => verb.run(out),
            Some(Verb::Get(verb)) => verb.run(out),
            Some(Verb::Union(verb)) => verb.run(out),
            Some(Verb::Import(verb)) => verb.run(out),
            Some(Verb::Export(verb)) => verb.run(out),
            None => self.keys.run(out),
        }
    }
}

/// What a set counts, as JSON.
fn described(hll: &HllBuf) -> Json {
    let (hll, bytes) = (hll.as_hll(), hll.as_bytes().len());
    let (kind, error) = (hll.kind().name(), hll.params().relative_error());
    let error = if hll.hashes().is_some() { 0.0 } else { error };
    json!({ "estimate": hll.estimate(), "relative_error": error, "representation": kind, "bytes": bytes })
}

/// What a set counts, for people: rounded to a whole number; empty, as PostgreSQL's null, if it is UNDEFINED.
fn shown(hll: &HllBuf) -> String {
    hll.as_hll().estimate().map_or_else(String::new, |estimate| format!("{estimate:.0}"))
}
