//! `hammerspace store count add STORE [KEY]`.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use hammerspace::store::hll::hash;
use hammerspace::store::{OwnedKey, Table};
use hammerspace_error::{Error, Kind, Result};
use serde_json::json;

use super::{described, shown};
use crate::exit::Outcome;
use crate::output::{self, Output};
use crate::store::ids::{Id, Ids};
use crate::store::target::{Place, Spelling};

/// Add ids to what a key counts, and print about how many distinct ones it has now
#[derive(Args)]
#[command(after_help = "\
Example: hammerspace store count add visits monday < ids.txt
         cut -f 1,3 events.tsv | hammerspace store count add visits --keyed --type bigint")]
pub(crate) struct Add {
    #[command(flatten)]
    place: Place,
    /// The key
    #[arg(allow_hyphen_values = true, required_unless_present = "keyed")]
    key: Option<OsString>,
    /// Each line has a key of its own, and a tab, before the id
    #[arg(long, conflicts_with_all = ["key", "words"])]
    keyed: bool,
    #[command(flatten)]
    ids: Ids,
    /// What ids are, and so which hash they have: that of PostgreSQL's function hll_hash_TYPE, or themselves
    #[arg(long = "type", value_name = "TYPE", default_value = "text")]
    of: Type,
    /// The seed of the hash
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(..1 << 31))]
    seed: u32,
    #[command(flatten)]
    spelling: Spelling,
}

#[derive(Clone, Copy, ValueEnum)]
enum Type {
    /// Text; words are taken for bigint
    Text,
    /// Bytes
    Bytea,
    /// Integers of 64 bits
    Bigint,
    /// Integers of 32 bits
    Integer,
    /// Hashes that were made elsewhere: integers of 64 bits
    Hash,
}

/// Ids that are added at a time.
const CHUNK: usize = 1 << 16;

impl Add {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let key = self.key.as_ref().map(|key| self.spelling.key(key)).transpose()?;
        let table = self.place.own()?;
        let mut chunk: Vec<(OwnedKey, u64)> = Vec::new();
        let mut count = 0_u64;
        self.ids.each("adding", |id| {
            chunk.push(self.pair(key.as_ref(), id)?);
            count += 1;
            if chunk.len() == CHUNK { add(&table, &mut chunk) } else { Ok(()) }
        })?;
        add(&table, &mut chunk)?;
        let Some(key) = key else {
            if out.json() {
                out.object(&json!({ "ids": count }))?;
            }
            return Ok(Outcome::Found);
        };
        // An empty input counts nothing, which is a count too.
        table.count_add(key.as_key(), &[])?;
        let hll = table.hll(key.as_key())?.unwrap_or_else(|| unreachable!("it was added"));
        if out.json() {
            let mut answer = described(&hll);
            answer["ids"] = count.into();
            out.object(&answer)?;
        } else {
            out.bytes(format!("{}\n", shown(&hll)).as_bytes())?;
        }
        Ok(Outcome::Found)
    }

    /// The key that an id belongs to, and its hash.
    fn pair(&self, key: Option<&OwnedKey>, id: Id<'_>) -> Result<(OwnedKey, u64)> {
        let (key, id) = match (key, id) {
            (Some(key), id) => (key.clone(), id),
            (None, Id::Line(line)) => {
                let tab = line.iter().position(|byte| *byte == b'\t').ok_or_else(|| {
                    Error::new(Kind::Invalid, format!("{} has no tab", output::shown(line)))
                        .remedy("give a key, a tab and an id in each line, or name one key for all")
                })?;
                (self.spelling.key(std::os::unix::ffi::OsStrExt::from_bytes(&line[..tab]))?, Id::Line(&line[tab + 1..]))
            }
            (None, Id::Word(_)) => unreachable!("refused by the parser"),
        };
        Ok((key, self.of.hash(id, self.seed)?))
    }
}

/// Adds what was gathered, the hashes of one key together.
fn add(table: &Table, chunk: &mut Vec<(OwnedKey, u64)>) -> Result<()> {
    chunk.sort_unstable();
    let hashes: Vec<_> = chunk.iter().map(|(key, hash)| (key.as_key(), *hash)).collect();
    table.count_add_many(&hashes)?;
    chunk.clear();
    Ok(())
}

impl Type {
    fn hash(self, id: Id<'_>, seed: u32) -> Result<u64> {
        Ok(match (self, id) {
            (Self::Text | Self::Bytea, Id::Line(line)) => hash::bytea(line, seed),
            (Self::Text | Self::Bigint, Id::Word(word)) => hash::bigint(word.cast_signed(), seed),
            (Self::Bytea, Id::Word(word)) => hash::bytea(&word.to_le_bytes(), seed),
            (Self::Integer, Id::Word(word)) => hash::integer(of_32_bits(word.cast_signed())?, seed),
            (Self::Hash, Id::Word(word)) => word,
            (Self::Bigint, Id::Line(line)) => hash::bigint(number(line)?, seed),
            (Self::Integer, Id::Line(line)) => hash::integer(of_32_bits(number(line)?)?, seed),
            (Self::Hash, Id::Line(line)) => number(line)?.cast_unsigned(),
        })
    }
}

/// A number of 64 bits, signed as PostgreSQL's, or unsigned.
fn number(line: &[u8]) -> Result<i64> {
    let text = std::str::from_utf8(line).ok();
    let signed = text.and_then(|text| text.parse::<i64>().ok());
    let number = signed.or_else(|| text?.parse::<u64>().ok().map(u64::cast_signed));
    number.ok_or_else(|| {
        Error::new(Kind::Invalid, format!("{} is no integer of 64 bits", output::shown(line)))
            .remedy("give one id a line, or another --type")
    })
}

fn of_32_bits(number: i64) -> Result<i32> {
    i32::try_from(number).map_err(|_| {
        Error::new(Kind::Invalid, format!("{number} is no integer of 32 bits")).remedy("count it with --type bigint")
    })
}
