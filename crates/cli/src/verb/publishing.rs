//! How the verbs that write publish.

use std::time::Duration;

use clap::Args;
use hammerspace::{Compression, Durability, Options, Result, Space, Updated, Writer};

use crate::progress::Progress;
use crate::values::{block_sizes, compressions};

#[derive(Args)]
pub(crate) struct Publishing {
    /// Versions that stay on disk, the new one included; more than one makes rollback possible
    #[arg(long, value_name = "N", default_value_t = 1)]
    keep: usize,
    /// Do not wait for the disk: faster, and a power cut within seconds may damage the space
    #[arg(long)]
    no_sync: bool,
    /// How entries are packed [default: as before, else none]
    #[arg(long, value_name = "none|snappy|zstd", value_parser = compressions())]
    compression: Option<Compression>,
    /// The most bytes of entries that are compressed together [default: as before, else 4096]
    #[arg(long, value_name = "BYTES", value_parser = block_sizes())]
    block_size: Option<u32>,
    /// How long to wait for other updates of the space, which queue
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,
}

impl Publishing {
    /// The same, as a space takes it.
    pub(crate) fn options(&self) -> Options {
        let mut options = Options::new().keep(self.keep).update_timeout(Duration::from_secs(self.timeout));
        if self.no_sync {
            options = options.durability(Durability::None);
        }
        if let Some(compression) = self.compression {
            options = options.compression(compression);
        }
        if let Some(block_size) = self.block_size {
            options = options.block_size(block_size);
        }
        options
    }
}

/// Updates the space in turn, and says on a terminal that it waits.
pub(crate) fn update<T>(space: &Space, mut change: impl FnMut(&mut Writer) -> Result<T>) -> Result<Updated<T>> {
    let mut waiting = Some(Progress::unknown("wait for other updates"));
    space.update(|writer| {
        drop(waiting.take());
        change(writer)
    })
}
