//! `hammerspace store count STORE`: how many keys a table has.

use std::path::PathBuf;

use clap::Args;
use hammerspace::Store;
use hammerspace::store::{DEFAULT_TABLE, Table};
use hammerspace_error::Result;
use serde_json::json;

use crate::exit::Outcome;
use crate::output::Output;
use crate::store::target::Beginning;

/// Which keys are counted, one by one.
#[derive(Args)]
pub(super) struct Keys {
    /// The directory of the store; ./add if it has the name of a verb
    #[arg(required = true)]
    store: Option<PathBuf>,
    /// The table
    #[arg(long, value_name = "NAME", default_value = DEFAULT_TABLE)]
    table: String,
    #[command(flatten)]
    beginning: Beginning,
}

impl Keys {
    fn table(&self) -> Result<Table> {
        Store::attach(self.store.as_ref().expect("it is required"))?.table(&self.table)
    }

    pub(super) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let mut count = 0_u64;
        for entry in &self.table()? {
            count += u64::from(self.beginning.is_of(&entry?.key));
        }
        if out.json() {
            out.object(&json!({ "keys": count }))?;
        } else {
            out.bytes(format!("{count}\n").as_bytes())?;
        }
        Ok(Outcome::Found)
    }
}
