//! `--limit N --keys-only`: how keys and values are listed, one pair a line.

use clap::Args;
use hammerspace_error::Result;
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::{Output, Pair};

/// What is printed of the pairs that a verb finds.
#[derive(Args)]
pub(crate) struct Listing {
    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Leave the values out
    #[arg(long)]
    keys_only: bool,
}

impl Listing {
    /// Prints pairs of a key and a value, as many as are wanted, and takes no more of them.
    pub(crate) fn print<K, V>(&self, out: &mut Output, pairs: impl Iterator<Item = Result<(K, V)>>) -> Result<Outcome>
    where
        K: AsRef<[u8]>,
        V: AsRef<[u8]>,
    {
        self.each(pairs, |(key, value)| self.line(out, key.as_ref(), value.as_ref()))
    }

    /// Prints as many objects of pairs as are wanted.
    pub(crate) fn print_objects(
        &self,
        out: &mut Output,
        objects: impl Iterator<Item = Result<impl Serialize>>,
    ) -> Result<Outcome> {
        self.each(objects, |object| out.object(&object))
    }

    /// Whether values are to be left out.
    pub(crate) fn keys_only(&self) -> bool {
        self.keys_only
    }

    fn each<T>(
        &self,
        items: impl Iterator<Item = Result<T>>,
        mut print: impl FnMut(T) -> Result<()>,
    ) -> Result<Outcome> {
        let mut outcome = Outcome::NotFound;
        for item in items.take(self.limit.map_or(usize::MAX, |limit| limit as usize)) {
            print(item?)?;
            outcome = Outcome::Found;
        }
        Ok(outcome)
    }

    fn line(&self, out: &mut Output, key: &[u8], value: &[u8]) -> Result<()> {
        let value = (!self.keys_only).then_some(value);
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
}
