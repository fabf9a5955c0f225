//! `hammerspace store count union STORE KEY…`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use clap::Args;
use hammerspace::store::OwnedKey;
use hammerspace_error::Result;

use super::{described, shown};
use crate::exit::Outcome;
use crate::output::Output;
use crate::store::target::{Place, Spelling};

/// Print about how many distinct ids several keys have together
#[derive(Args)]
#[command(after_help = "Example: hammerspace store count union visits monday tuesday")]
pub(crate) struct Union {
    #[command(flatten)]
    place: Place,
    /// The keys; one that is not there has no ids
    #[arg(required_unless_present = "prefix")]
    keys: Vec<OsString>,
    /// All keys that begin so, of those that count. All keys of the table are looked at
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "keys")]
    prefix: Option<OsString>,
    /// Print the union itself, as PostgreSQL reads it, in place of its count
    #[arg(long)]
    value: bool,
    #[command(flatten)]
    spelling: Spelling,
}

impl Union {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let table = self.place.attach()?;
        let union = if let Some(prefix) = &self.prefix {
            table.count_union_prefix(prefix.as_bytes())?
        } else {
            let keys = self.keys.iter().map(|key| self.spelling.key(key)).collect::<Result<Vec<_>>>()?;
            table.count_union(&keys.iter().map(OwnedKey::as_key).collect::<Vec<_>>())?
        };
        if out.json() {
            let mut answer = described(&union);
            if self.value {
                answer["value"] = union.to_string().into();
            }
            out.object(&answer)?;
        } else if self.value {
            out.bytes(format!("{union}\n").as_bytes())?;
        } else {
            out.bytes(format!("{}\n", shown(&union)).as_bytes())?;
        }
        Ok(Outcome::Found)
    }
}
