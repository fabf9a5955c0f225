//! What most verbs are about: a store, one of its tables, a key in it.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::Args;
use hammerspace::Store;
use hammerspace::store::{DEFAULT_TABLE, Options, OwnedKey, Table};
use hammerspace_error::{Error, Kind, Result};

use crate::progress::Progress;
use crate::values::bytes;

/// A table of a store.
#[derive(Args)]
pub(super) struct Place {
    /// The directory of the store
    store: PathBuf,
    /// The table
    #[arg(long, value_name = "NAME", default_value = DEFAULT_TABLE)]
    table: String,
}

impl Place {
    /// The table, to read.
    pub(super) fn attach(&self) -> Result<Table> {
        Store::attach(&self.store)?.table(&self.table)
    }

    /// The table, to write, which keeps the store owned.
    pub(super) fn own(&self) -> Result<Table> {
        open(&self.store)?.table(&self.table)
    }
}

/// Owns a store, and shows how far it is recovered if that takes long.
pub(super) fn open(store: &Path) -> Result<Store> {
    let bar = OnceCell::new();
    Store::open_telling(store, &Options::with_limit(0), &|done, all| {
        let bar = bar.get_or_init(|| Progress::bytes("recover", all));
        bar.add(done - bar.done());
    })
}

/// How keys begin.
#[derive(Args)]
pub(super) struct Beginning {
    /// Only keys that begin so; an integer begins with nothing. All keys of the table are looked at
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prefix: Option<OsString>,
}

impl Beginning {
    /// Whether a key begins as it should.
    pub(super) fn is_of(&self, key: &OwnedKey) -> bool {
        match (&self.prefix, key) {
            (None, _) => true,
            (Some(prefix), OwnedKey::Bytes(key)) => key.starts_with(prefix.as_bytes()),
            (Some(_), OwnedKey::Integer(_)) => false,
        }
    }
}

/// How keys are given.
#[derive(Args)]
pub(super) struct Spelling {
    /// Keys are given in hex
    #[arg(long)]
    hex: bool,
    /// Keys are integers of 64 bits: 7 is another key than the text 7
    #[arg(long, conflicts_with = "hex")]
    integer: bool,
}

impl Spelling {
    pub(super) fn key(&self, given: &OsStr) -> Result<OwnedKey> {
        if !self.integer {
            return Ok(OwnedKey::Bytes(bytes(given, self.hex)?));
        }
        let number = given.to_str().and_then(|given| given.parse().ok());
        number.map(OwnedKey::Integer).ok_or_else(|| {
            let finding = format!("{} is no key", given.to_string_lossy());
            Error::new(Kind::Invalid, finding).remedy(format!("give an integer from 0 to {}", u64::MAX))
        })
    }
}
