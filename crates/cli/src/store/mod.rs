//! `hammerspace store`: stores, which change all the time, key by key.
//!
//! | verbs | who may |
//! |---|---|
//! | get, exists, ttl, scan, export, count, info, top | anybody, also while a process owns the store |
//! | put, append, incr, min, max, expire, persist, delete | anybody, while nobody owns the store: they own it themselves |
//! | table, raise, verify, create, durability, sync, repair, remove | likewise |
//! | count, set | to read anybody, to write likewise |
//! | list | anybody; it looks for regions, not at a store |
//! | stress | makes a store of its own |

mod append;
mod bound;
mod count;
mod create;
mod delete;
mod durability;
mod exists;
mod expire;
mod export;
mod get;
mod ids;
#[cfg(feature = "server")]
mod import;
mod incr;
mod info;
mod list;
mod overview;
mod put;
mod raise;
mod records;
mod remove;
mod repair;
mod scan;
mod set;
pub(crate) mod shown;
mod stress;
mod sync;
mod table;
mod target;
mod top;
mod ttl;
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
    #[cfg(feature = "server")]
    Import(import::Import),
    Append(append::Append),
    Incr(incr::Incr),
    /// Lower the number of a key to this one, if that is less, and print which it is now
    #[command(after_help = "Example: hammerspace store min visits fastest-ms 12")]
    Min(bound::Bound),
    /// Raise the number of a key to this one, if that is more, and print which it is now
    #[command(after_help = "Example: hammerspace store max visits slowest-ms 840")]
    Max(bound::Bound),
    Expire(expire::Expire),
    Persist(expire::Persist),
    Ttl(ttl::Ttl),
    Exists(exists::Exists),
    Delete(delete::Delete),
    Scan(scan::Scan),
    Export(export::Export),
    Count(Box<count::Count>),
    #[command(subcommand)]
    Set(set::Set),
    Table(table::Table),
    Info(info::Info),
    List(list::List),
    Top(top::Top),
    Raise(raise::Raise),
    Durability(durability::Level),
    Sync(sync::Sync),
    Repair(repair::Repair),
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
            #[cfg(feature = "server")]
            Self::Import(verb) => verb.run(out),
            Self::Append(verb) => verb.run(out),
            Self::Incr(verb) => verb.run(out),
            Self::Min(verb) => verb.run(out, |table, key, number| table.min(key, number)),
            Self::Max(verb) => verb.run(out, |table, key, number| table.max(key, number)),
            Self::Expire(verb) => verb.run(out),
            Self::Persist(verb) => verb.run(out),
            Self::Ttl(verb) => verb.run(out),
            Self::Exists(verb) => verb.run(out),
            Self::Delete(verb) => verb.run(out),
            Self::Scan(verb) => verb.run(out),
            Self::Export(verb) => verb.run(out),
            Self::Count(verb) => verb.run(out),
            Self::Set(verb) => verb.run(out),
            Self::Table(verb) => verb.run(out),
            Self::Info(verb) => verb.run(out),
            Self::List(verb) => verb.run(out),
            Self::Top(verb) => verb.run(out),
            Self::Raise(verb) => verb.run(out),
            Self::Durability(verb) => verb.run(out),
            Self::Sync(verb) => verb.run(out),
            Self::Repair(verb) => verb.run(out),
            Self::Verify(verb) => verb.run(out),
            Self::Stress(verb) => verb.run(out),
            Self::Remove(verb) => verb.run(out),
        }
    }
}
