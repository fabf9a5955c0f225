//! `hammerspace store`: stores, which change all the time, key by key.
//!
//! | verbs | who may |
//! |---|---|
//! | get, scan, info, top | anybody, also while a process owns the store |
//! | put, append, incr, delete, table, raise, verify | who finds the store without an owner: they own it for as long as they take |
//! | create, remove | likewise |
//! | list | anybody; it looks for regions, not at a store |
//! | stress | makes a store of its own |

mod append;
mod create;
mod delete;
mod get;
mod incr;
mod info;
mod list;
mod put;
mod raise;
mod remove;
mod scan;
mod shown;
mod sight;
mod stress;
mod table;
mod target;
mod top;
mod verify;

use clap::Subcommand;
use hammerspace_error::Result;

use crate::exit::Outcome;
use crate::output::Output;

#[derive(Subcommand)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) enum Verb {
    Create(create::Create),
    Get(get::Get),
    Put(put::Put),
    Append(append::Append),
    Incr(incr::Incr),
    Delete(delete::Delete),
    Scan(scan::Scan),
    Table(table::Table),
    Info(info::Info),
    List(list::List),
    Top(top::Top),
    Raise(raise::Raise),
    Verify(verify::Verify),
    Stress(stress::Stress),
    Remove(remove::Remove),
}

impl Verb {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        match self {
            Self::Create(verb) => verb.run(out),
            Self::Get(verb) => verb.run(out),
            Self::Put(verb) => verb.run(out),
            Self::Append(verb) => verb.run(out),
            Self::Incr(verb) => verb.run(out),
            Self::Delete(verb) => verb.run(out),
            Self::Scan(verb) => verb.run(out),
            Self::Table(verb) => verb.run(out),
            Self::Info(verb) => verb.run(out),
            Self::List(verb) => verb.run(out),
            Self::Top(verb) => verb.run(out),
            Self::Raise(verb) => verb.run(out),
            Self::Verify(verb) => verb.run(out),
            Self::Stress(verb) => verb.run(out),
            Self::Remove(verb) => verb.run(out),
        }
    }
}
