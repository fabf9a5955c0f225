//! `hammerspace store scan STORE`: keys and values of a table, in no order, whoever owns the store.

use clap::Args;
use hammerspace::store::Entry;
use hammerspace_error::Result;

use super::shown::{record, shown_key, shown_value};
use super::target::{Beginning, Place};
use crate::exit::Outcome;
use crate::listing::Listing;
use crate::output::Output;

/// Print keys and values of a table, in no particular order
///
/// What is there from beginning to end is printed once. A line is the key, a tab, the value, each as it is, but numbers in decimal; with
/// --json also whether the key is an integer, and the value's kind, version and expiry.
#[derive(Args)]
#[command(after_help = "Example: hammerspace store scan visits --prefix user: --limit 10")]
pub(crate) struct Scan {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    beginning: Beginning,
    #[command(flatten)]
    listing: Listing,
}

impl Scan {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let table = self.place.attach()?;
        let is_of = |entry: &Result<Entry>| entry.as_ref().map_or(true, |entry| self.beginning.is_of(&entry.key));
        let entries = table.iter().filter(is_of);
        if out.json() {
            let is_wanted = !self.listing.keys_only();
            let records =
                entries.map(|entry| entry.map(|Entry { key, value }| record(&key, is_wanted.then_some(&value))));
            return self.listing.print_objects(out, records);
        }
        let shown = entries.map(|entry| entry.map(|entry| (shown_key(&entry.key), shown_value(&entry.value))));
        self.listing.print(out, shown)
    }
}
