//! How a space is opened: an object of JavaScript as options of the face.
//!
//! Options come as words, `keep=3`, with the names that `lib/options.cjs` gives them.

use std::str::FromStr;
use std::time::Duration;

use hammerspace::{Compression, Durability, Error, Options, Paging, Result};

use crate::errors::invalid;

pub(crate) fn parse(words: &[String]) -> Result<Options> {
    words.iter().try_fold(Options::new(), |options, word| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        option(options, name, value)
    })
}

fn option(options: Options, name: &str, value: &str) -> Result<Options> {
    Ok(match name {
        "keep" => options.keep(number(name, value)?),
        "compression" => options.compression(one_of(name, value, &COMPRESSION)?),
        "blockSize" => options.block_size(number(name, value)?),
        "cacheBytes" => options.cache_bytes(number(name, value)?),
        "durability" => options.durability(one_of(name, value, &DURABILITY)?),
        "poll" => options.poll(milliseconds(name, value)?),
        "paging" => options.paging(one_of(name, value, &Paging::ALL.map(|way| (way.name(), way)))?),
        "mend" if one_of(name, value, &[("true", true), ("false", false)])? => options.mend(),
        "mend" => options,
        _ => return Err(invalid(&format!("there is no option {name}"), "see the guide for those that there are")),
    })
}

const COMPRESSION: [(&str, Compression); 3] =
    [("none", Compression::None), ("snappy", Compression::Snappy), ("zstd", Compression::Zstd)];

const DURABILITY: [(&str, Durability); 2] = [("full", Durability::Full), ("none", Durability::None)];

fn one_of<T: Copy>(name: &str, value: &str, choices: &[(&str, T)]) -> Result<T> {
    let chosen = choices.iter().find(|(choice, _)| *choice == value);
    let names = || choices.iter().map(|(choice, _)| *choice).collect::<Vec<_>>().join(", ");
    chosen.map(|(_, choice)| *choice).ok_or_else(|| impossible(name, value, &format!("give one of {}", names())))
}

fn number<T: FromStr>(name: &str, value: &str) -> Result<T> {
    value.parse().map_err(|_| impossible(name, value, "give a whole number"))
}

fn milliseconds(name: &str, value: &str) -> Result<Duration> {
    let milliseconds: f64 = number(name, value)?;
    if milliseconds == f64::INFINITY {
        return Ok(Duration::MAX);
    }
    Duration::try_from_secs_f64(milliseconds / 1000.0)
        .map_err(|_| impossible(name, value, "give a number of milliseconds, or Infinity"))
}

#[cold]
fn impossible(name: &str, value: &str, remedy: &str) -> Error {
    invalid(&format!("{name} cannot be {value}"), remedy)
}
