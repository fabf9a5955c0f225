//! `hammerspace store count import STORE`.

use clap::Args;
use hammerspace_error::Result;
use serde_json::json;

use super::row;
use crate::exit::Outcome;
use crate::output::Output;
use crate::store::ids::{Id, Lines};
use crate::store::target::{Place, Spelling};

/// Unite keys with HyperLogLogs that PostgreSQL, java-hll or `export` wrote
#[derive(Args)]
#[command(after_help = "\
Example: psql -c 'copy (select day, users from daily) to stdout' | hammerspace store count import visits")]
pub(crate) struct Import {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    lines: Lines,
    #[command(flatten)]
    spelling: Spelling,
}

impl Import {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let table = self.place.own()?;
        let mut count = 0_u64;
        self.lines.each("importing", |line| {
            let Id::Line(line) = line else { unreachable!("lines are asked for") };
            let (key, hll) = row::read(line)?;
            let key = self.spelling.key(std::os::unix::ffi::OsStrExt::from_bytes(&key[..]))?;
            table.count_merge(key.as_key(), &hll)?;
            count += 1;
            Ok(())
        })?;
        if out.json() {
            out.object(&json!({ "imported": count }))?;
        }
        Ok(Outcome::Found)
    }
}
