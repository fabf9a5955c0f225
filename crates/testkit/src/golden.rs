//! The files in `golden/`, which Spotify's C and Java writers made, and what their manifest says of them.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

/// What there is.
#[derive(Deserialize)]
pub struct Manifest {
    /// What logs hold, by name.
    pub contents: HashMap<String, Vec<Op>>,
    /// Sound files.
    pub pairs: Vec<Pair>,
    /// Damaged ones.
    pub reject: Vec<Reject>,
}

/// An entry: kind, key and value in hex, and how often it is repeated.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Op {
    /// Once.
    Once(String, String, String),
    /// So many times.
    Repeated(String, String, String, usize),
}

/// A log, its index, and what is in them.
#[derive(Deserialize)]
pub struct Pair {
    /// Without an ending.
    pub name: String,
    /// The index.
    pub spi: String,
    /// The log.
    pub spl: String,
    /// Which of the contents.
    pub content: String,
    /// Entries that the index covers.
    pub indexed_entries: usize,
    /// Entries in the log.
    pub log_entries: usize,
    /// Keys in the index.
    pub live_entries: usize,
    /// Keys that are not there.
    pub absent: Vec<String>,
    /// Such keys that have the hash of one that is.
    #[serde(default)]
    pub absent_colliding: Vec<String>,
    /// Fields by name.
    pub log_header: HashMap<String, u64>,
    /// Fields by name.
    pub index_header: HashMap<String, u64>,
    /// By whose rule ties in the table were broken, where that is known.
    pub table_rule: Option<String>,
}

/// A damaged log or index.
#[derive(Deserialize)]
pub struct Reject {
    /// Without an ending.
    pub name: String,
    /// The index.
    pub spi: String,
    /// The log.
    pub spl: String,
    /// Whether a reader must not take it for sound.
    #[serde(rename = "must_reject")]
    pub must_be_refused: bool,
    /// What C's `sparkey_logreader_open` returns.
    pub c_logreader_open: i32,
    /// What C's `sparkey_hash_open` returns.
    pub c_hash_open: i32,
}

/// Where the file of this name lies; of no name, all of them.
pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/sparkey").join(name)
}

/// The bytes of the file of this name.
pub fn bytes(name: &str) -> Vec<u8> {
    fs::read(path(name)).unwrap_or_else(|error| panic!("golden/sparkey/{name}: {error}"))
}

/// The manifest.
pub fn manifest() -> Manifest {
    serde_json::from_slice(&bytes("manifest.json")).expect("a manifest as described here")
}
