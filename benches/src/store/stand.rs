//! A store as programs have it.

use std::path::PathBuf;
use std::time::Duration;

use hammerspace::Store;
use hammerspace::store::{Options, Table, TableOptions};

use crate::Result;
use crate::measure::timed;

/// The table that records come to.
pub(super) const NAME: &str = "records";

/// A store in shared memory with one table, both gone when it is dropped.
pub(super) struct Stand {
    pub(super) table: Table,
    pub(super) store: Store,
    directory: tempfile::TempDir,
}

impl Stand {
    pub(super) fn create(options: &Options, versions: bool) -> Result<Self> {
        let directory = tempfile::tempdir_in("/dev/shm")?;
        let options = Options { region: Some(directory.path().to_path_buf()), ..options.clone() };
        let store = Store::create(path_in(&directory), &options)?;
        Ok(Self {
            table: store.create_table(NAME, TableOptions { versions, ..TableOptions::default() })?,
            store,
            directory,
        })
    }

    /// Where others find it.
    pub(super) fn path(&self) -> PathBuf {
        path_in(&self.directory)
    }

    /// The same store, opened anew, and how long that took.
    pub(super) fn reopen(self) -> Result<(Self, Duration)> {
        let Self { table, store, directory } = self;
        // To unmap what it had mapped is no part of it.
        drop((table, store));
        let (time, store) = timed(|| Store::open(path_in(&directory)));
        let store = store?;
        Ok((Self { table: store.table(NAME)?, store, directory }, time))
    }
}

fn path_in(directory: &tempfile::TempDir) -> PathBuf {
    directory.path().join("store")
}
