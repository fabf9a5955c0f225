//! `hammerspace store count export STORE`.

use clap::Args;
use hammerspace::store::ValueKind;
use hammerspace::store::hll::HllBuf;
use hammerspace_error::Result;
use serde_json::json;

use super::{described, row};
use crate::exit::Outcome;
use crate::output::{Output, Pair};
use crate::progress::Progress;
use crate::store::shown::shown_key;
use crate::store::target::{Beginning, Place};

/// Print all keys that count and their HyperLogLogs, as rows for PostgreSQL's COPY
#[derive(Args)]
#[command(after_help = "\
Example: hammerspace store count export visits | psql -c 'copy daily from stdin'")]
pub(crate) struct Export {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    beginning: Beginning,
}

impl Export {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let table = self.place.attach()?;
        let progress = Progress::entries("exporting", table.len()?);
        let mut outcome = Outcome::NotFound;
        for entry in &table {
            let entry = entry?;
            progress.add(1);
            if entry.value.meta.kind != ValueKind::Hll || !self.beginning.is_of(&entry.key) {
                continue;
            }
            let (key, hll) = (shown_key(&entry.key), HllBuf::open(entry.value.bytes)?);
            if out.json() {
                let mut object = json!(Pair { key: &key, value: Some(hll.to_string().as_bytes()) });
                let described = described(&hll);
                object.as_object_mut().expect("an object").extend(described.as_object().expect("an object").clone());
                out.object(&object)?;
            } else {
                out.bytes(&row::write(&key, &hll))?;
            }
            outcome = Outcome::Found;
        }
        Ok(outcome)
    }
}
