//! How a space is opened: `Options` of Java as options of the face.
//!
//! They come as text, `keep=3 compression=zstd`, with the names and values that `spec/README.md` gives them.

use std::str::FromStr;
use std::time::Duration;

use hammerspace::{Compression, Durability, Options, Paging};

use crate::errors::{Result, invalid};

pub(crate) fn parse(text: &str) -> Result<Options> {
    let mut options = Options::new();
    for word in text.split_whitespace() {
        let (name, value) = word.split_once('=').ok_or_else(|| impossible("an option", word))?;
        options = option(options, name, value)?;
    }
    Ok(options)
}

fn option(options: Options, name: &str, value: &str) -> Result<Options> {
    Ok(match name {
        "keep" => options.keep(number(name, value)?),
        "compression" => options.compression(compression(value)?),
        "block_size" => options.block_size(number(name, value)?),
        "cache_bytes" => options.cache_bytes(number(name, value)?),
        "durability" => options.durability(one_of(name, value, &DURABILITY)?),
        "poll" => options.poll(duration(name, value)?),
        "paging" => options.paging(one_of(name, value, &Paging::ALL.map(|way| (way.name(), way)))?),
        "update_timeout" => options.update_timeout(duration(name, value)?),
        "mend" => options.mend(),
        _ => return Err(impossible("an option", name)),
    })
}

const COMPRESSION: [(&str, Compression); 3] =
    [("none", Compression::None), ("snappy", Compression::Snappy), ("zstd", Compression::Zstd)];

const DURABILITY: [(&str, Durability); 2] = [("full", Durability::Full), ("none", Durability::None)];

pub(crate) fn compression(name: &str) -> Result<Compression> {
    one_of("compression", name, &COMPRESSION)
}

fn one_of<T: Copy>(name: &str, value: &str, choices: &[(&str, T)]) -> Result<T> {
    let chosen = choices.iter().find(|(name, _)| *name == value);
    chosen.map(|(_, choice)| *choice).ok_or_else(|| impossible(name, value))
}

fn number<T: FromStr>(name: &str, value: &str) -> Result<T> {
    value.parse().map_err(|_| impossible(name, value))
}

/// Seconds and nanoseconds, with a point between them.
fn duration(name: &str, value: &str) -> Result<Duration> {
    let (seconds, nanos) = value.split_once('.').ok_or_else(|| impossible(name, value))?;
    Ok(Duration::new(number(name, seconds)?, number(name, nanos)?))
}

#[cold]
fn impossible(name: &str, value: &str) -> crate::errors::Failure {
    invalid(&format!("{name} cannot be {value}"), "see the documentation of `Options` for what it may be")
}
