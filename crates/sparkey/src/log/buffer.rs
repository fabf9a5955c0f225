//! A block of one's own: decoded as far as it was needed, in memory that a thread keeps from one cursor to the next.
//!
//! ```text
//! | made ……………………… | not yet ……………… | room of older, larger blocks … |
//! 0                     made                   len
//! ```
//! Snappy is decoded step by step, zstd at once: nothing of a frame can be had before most of it is decoded.

use crate::codec::{self, Compression, snappy};
use std::cell::Cell;

/// Larger memory is given back.
const SPARE_MAX: usize = 1 << 20;

thread_local! {
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The block that a cursor has open.
#[derive(Default)]
pub(crate) struct Buffer<'a> {
    memory: Vec<u8>,
    packed: &'a [u8],
    progress: snappy::Progress,
}

impl<'a> Buffer<'a> {
    /// Turns to the block `packed`, which makes `block_size` bytes at most. `Err` says what is wrong with it.
    pub(crate) fn open(&mut self, compression: Compression, packed: &'a [u8], block_size: u32) -> Result<(), String> {
        if self.memory.is_empty() {
            // While the thread ends there is none.
            self.memory = SPARE.try_with(Cell::take).unwrap_or_default();
        }
        (self.packed, self.progress) = (packed, snappy::Progress::default());
        self.progress = match compression {
            Compression::None => unreachable!("an uncompressed log has no blocks"),
            Compression::Snappy => codec::start_snappy(packed, block_size, &mut self.memory)?,
            Compression::Zstd => snappy::Progress::complete(codec::decode_zstd(packed, block_size, &mut self.memory)?),
        };
        Ok(())
    }

    /// Decodes on until `end` bytes are there, or all of the block.
    pub(crate) fn reach(&mut self, end: usize) -> Result<(), String> {
        self.progress.decode(self.packed, &mut self.memory, end)
    }

    /// What has been decoded.
    #[inline]
    pub(crate) fn made(&self) -> &[u8] {
        &self.memory[..self.progress.made]
    }

    /// What the whole block comes to.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.progress.len
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        if (1..=SPARE_MAX).contains(&self.memory.capacity()) {
            let _ = SPARE.try_with(|spare| spare.set(std::mem::take(&mut self.memory)));
        }
    }
}
