//! `hammerspace store scan STORE`: keys and values of a table, in no order, whoever owns the store.

use clap::Args;
use hammerspace_error::Result;

use super::target::{Place, shown_key, shown_value};
use crate::exit::Outcome;
use crate::output::{Output, Pair};

/// Print keys and values of a table, in no particular order
///
/// What is there from beginning to end is printed once. A line is the key, a tab, the value, each as it is, but numbers in decimal.
#[derive(Args)]
pub(crate) struct Scan {
    #[command(flatten)]
    place: Place,
    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Leave the values out
    #[arg(long)]
    keys_only: bool,
}

impl Scan {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let table = self.place.attach()?;
        let mut found = 0;
        for entry in table.iter().take(self.limit.map_or(usize::MAX, |limit| limit as usize)) {
            let entry = entry?;
            let value = (!self.keys_only).then(|| shown_value(&entry.value));
            line(out, &shown_key(&entry.key), value.as_deref())?;
            found += 1;
        }
        Ok(if found > 0 { Outcome::Found } else { Outcome::NotFound })
    }
}

fn line(out: &mut Output, key: &[u8], value: Option<&[u8]>) -> Result<()> {
    if out.json() {
        return out.object(&Pair { key, value });
    }
    out.bytes(key)?;
    if let Some(value) = value {
        out.bytes(b"\t")?;
        out.bytes(value)?;
    }
    out.bytes(b"\n")
}
