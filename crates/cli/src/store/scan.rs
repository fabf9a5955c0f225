//! `hammerspace store scan STORE`: keys and values of a table, in no order, whoever owns the store.

use clap::Args;
use hammerspace_error::Result;

use super::target::{Place, shown_key, shown_value};
use crate::exit::Outcome;
use crate::listing::Listing;
use crate::output::Output;

/// Print keys and values of a table, in no particular order
///
/// What is there from beginning to end is printed once. A line is the key, a tab, the value, each as it is, but numbers in decimal.
#[derive(Args)]
pub(crate) struct Scan {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    listing: Listing,
}

impl Scan {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let table = self.place.attach()?;
        let shown = table.iter().map(|entry| entry.map(|entry| (shown_key(&entry.key), shown_value(&entry.value))));
        self.listing.print(out, shown)
    }
}
