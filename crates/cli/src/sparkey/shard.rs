//! `sparkey shard FILE DIRECTORY --shards N`: the live entries of one pair, divided among many as Scio divides them.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hammerspace_error::Result;
use hammerspace_sparkey::ShardKeys;
use hammerspace_tables::{Pair, Sharding, write_shards};
use serde_json::json;

use super::rewrite::Packing;
use crate::exit::Outcome;
use crate::interrupt;
use crate::output::Output;
use crate::progress::Progress;

/// Divide the live entries of a pair among many, in a directory that Scio reads as one table
///
/// A key goes to shard floorMod(hash, N), by MurmurHash3 with the seed 1: of its bytes, or of the string that they spell in
/// UTF-8, as Scala hashes it. Scio asks by the type of the key, Array[Byte] or String; get, dump, info and verify see for
/// themselves which of the two it was.
#[derive(Args)]
pub(crate) struct Shard {
    #[command(flatten)]
    packing: Packing,
    /// How many shards
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=ShardKeys::COUNT_MAX as i64))]
    shards: u16,
    /// What the keys are hashed as
    #[arg(long, value_name = "bytes|strings", default_value = "bytes", value_parser = keys())]
    keys: ShardKeys,
    /// The log, NAME.spl, or the index, NAME.spi; where there is no index, one is made in memory
    file: PathBuf,
    /// The directory to write, which is new or empty
    directory: PathBuf,
}

impl Shard {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let table = Pair::of_either(&self.file)?.open_or_index()?;
        let log = self.packing.options(table.log().header());
        interrupt::keeps_files(&[&self.directory])?;
        let working = Progress::unknown("shard");
        write_shards(&table, &self.directory, &Sharding { count: self.shards.into(), keys: self.keys, log })?;
        drop(working);
        if out.json() {
            out.object(&json!({
                "output": self.directory.to_string_lossy(),
                "shards": self.shards,
                "keys": self.keys.name(),
                "entries": table.len(),
            }))?;
        }
        Ok(Outcome::Found)
    }
}

fn keys() -> impl TypedValueParser<Value = ShardKeys> {
    PossibleValuesParser::new(ShardKeys::ALL.map(ShardKeys::name))
        .map(|name| ShardKeys::ALL.into_iter().find(|keys| keys.name() == name).expect("one of those"))
}
