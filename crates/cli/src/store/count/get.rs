//! `hammerspace store count get STORE KEY`.

use std::ffi::OsString;

use clap::Args;
use hammerspace_error::Result;
use serde_json::json;

use super::{described, shown};
use crate::exit::Outcome;
use crate::output::Output;
use crate::store::target::{Place, Spelling};

/// Print about how many distinct ids a key has
#[derive(Args)]
#[command(after_help = "Example: hammerspace store count get visits monday")]
pub(crate) struct Get {
    #[command(flatten)]
    place: Place,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    #[command(flatten)]
    spelling: Spelling,
}

impl Get {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let hll = self.place.attach()?.hll(self.spelling.key(&self.key)?.as_key())?;
        if out.json() {
            let mut answer = json!({ "found": hll.is_some() });
            if let Some(described) = hll.as_ref().map(described) {
                answer.as_object_mut().expect("an object").extend(described.as_object().expect("an object").clone());
            }
            out.object(&answer)?;
        } else if let Some(hll) = &hll {
            out.bytes(format!("{}\n", shown(hll)).as_bytes())?;
        }
        Ok(if hll.is_some() { Outcome::Found } else { Outcome::NotFound })
    }
}
