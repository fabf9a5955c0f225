//! A block of one's own: decoded as far as it was needed, in memory that a thread keeps from one cursor to the next.
//!
//! ```text
//! | made ……………………… | not yet ……………… | room of older, larger blocks … |
//! 0                     made                   len
//! ```

use crate::codec::{self, Compression, snappy, zstd};
use std::cell::Cell;

/// Larger memory is given back.
const SPARE_MAX: usize = 1 << 20;

thread_local! {
    static SPARE: Cell<Spare> = const { Cell::new(Spare { memory: Vec::new(), decoder: None }) };
}

/// What is kept.
#[derive(Default)]
struct Spare {
    memory: Vec<u8>,
    decoder: Option<Box<zstd::Decoder>>,
}

/// The block that a cursor has open.
#[derive(Default)]
pub(crate) struct Buffer<'a> {
    spare: Spare,
    packed: &'a [u8],
    block_size: u32,
    progress: Progress,
}

/// How far a block has been decoded.
enum Progress {
    /// To its end, of so many bytes.
    Whole(usize),
    Snappy(snappy::Progress),
    Zstd(Box<zstd::Decoder>),
}

impl Default for Progress {
    fn default() -> Self {
        Self::Whole(0)
    }
}

impl<'a> Buffer<'a> {
    /// Turns to the block `packed`, which makes `block_size` bytes at most, of which all are wanted or some. `Err` says what is
    /// wrong with it.
    pub(crate) fn open(
        &mut self,
        compression: Compression,
        packed: &'a [u8],
        block_size: u32,
        is_thorough: bool,
    ) -> Result<(), String> {
        self.close();
        if self.spare.memory.is_empty() {
            // While the thread ends there is none.
            self.spare = SPARE.try_with(Cell::take).unwrap_or_default();
        }
        (self.packed, self.block_size) = (packed, block_size);
        match compression {
            Compression::None => unreachable!("an uncompressed log has no blocks"),
            Compression::Snappy => {
                self.progress = Progress::Snappy(codec::start_snappy(packed, block_size, &mut self.spare.memory)?);
            }
            // The library is faster where all is wanted.
            Compression::Zstd if is_thorough => self.finish_zstd()?,
            Compression::Zstd => self.start_zstd()?,
        }
        if is_thorough { self.reach(usize::MAX) } else { Ok(()) }
    }

    /// Decodes on until `end` bytes are there, or all of the block.
    pub(crate) fn reach(&mut self, end: usize) -> Result<(), String> {
        match &mut self.progress {
            Progress::Whole(_) => Ok(()),
            Progress::Snappy(progress) => progress.decode(self.packed, &mut self.spare.memory, end),
            Progress::Zstd(decoder) => match decoder.decode(self.packed, &mut self.spare.memory, end) {
                Some(()) => Ok(()),
                None => self.finish_zstd(),
            },
        }
    }

    /// What has been decoded.
    #[inline]
    pub(crate) fn made(&self) -> &[u8] {
        let made = match &self.progress {
            Progress::Whole(len) => *len,
            Progress::Snappy(progress) => progress.made,
            Progress::Zstd(decoder) => decoder.made,
        };
        &self.spare.memory[..made]
    }

    /// What the whole block comes to.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match &self.progress {
            Progress::Whole(len) => *len,
            Progress::Snappy(progress) => progress.len,
            Progress::Zstd(decoder) => decoder.len,
        }
    }

    /// Leaves the block.
    fn close(&mut self) {
        if let Progress::Zstd(decoder) = std::mem::take(&mut self.progress) {
            self.spare.decoder = Some(decoder);
        }
    }

    /// Decodes the block step by step if our decoder takes it, and by the library if not.
    fn start_zstd(&mut self) -> Result<(), String> {
        let mut decoder = self.spare.decoder.take().unwrap_or_else(zstd::Decoder::new);
        let is_ours = decoder.open(self.packed, self.block_size as usize).is_some();
        codec::make_room(&mut self.spare.memory, decoder.len + zstd::SLACK);
        self.progress = Progress::Zstd(decoder);
        if is_ours { Ok(()) } else { self.finish_zstd() }
    }

    /// Decodes all of the block by the library.
    fn finish_zstd(&mut self) -> Result<(), String> {
        self.close();
        self.progress = Progress::Whole(codec::decode_zstd(self.packed, self.block_size, &mut self.spare.memory)?);
        Ok(())
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        self.close();
        if (1..=SPARE_MAX).contains(&self.spare.memory.capacity()) {
            let _ = SPARE.try_with(|spare| spare.set(std::mem::take(&mut self.spare)));
        }
    }
}
