//! A block of one's own: decoded as far as it was needed, in memory that a thread keeps from one cursor to the next.
//!
//! ```text
//! | made ……………………… | not yet ……………… | room of older, larger blocks … |
//! 0                     made                   len
//! ```

use crate::codec::{self, Compression, snappy};
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
    decoder: Option<Box<hammerspace_zstd::Decoder>>,
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
    Zstd(Box<hammerspace_zstd::Decoder>),
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
        if self.spare.memory.is_empty() && self.spare.decoder.is_none() {
            // While the thread ends there is none.
            self.spare = SPARE.try_with(Cell::take).unwrap_or_default();
        }
        (self.packed, self.block_size) = (packed, block_size);
        match compression {
            Compression::None => unreachable!("an uncompressed log has no blocks"),
            Compression::Snappy => {
                self.progress = Progress::Snappy(codec::start_snappy(packed, block_size, &mut self.spare.memory)?);
                if is_thorough { self.reach(usize::MAX) } else { Ok(()) }
            }
            // The library is faster where all is wanted.
            Compression::Zstd if is_thorough => self.finish_zstd(),
            Compression::Zstd => self.start_zstd(),
        }
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
        let mut decoder = self.spare.decoder.take().unwrap_or_else(hammerspace_zstd::Decoder::new);
        if decoder.open(self.packed, self.block_size as usize).is_none() {
            self.spare.decoder = Some(decoder);
            return self.finish_zstd();
        }
        codec::make_room(&mut self.spare.memory, decoder.len + hammerspace_zstd::SLACK);
        self.progress = Progress::Zstd(decoder);
        Ok(())
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
        if self.spare.memory.capacity() > SPARE_MAX {
            self.spare.memory = Vec::new();
        }
        if self.spare.memory.capacity() > 0 || self.spare.decoder.is_some() {
            let _ = SPARE.try_with(|spare| spare.set(std::mem::take(&mut self.spare)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK_SIZE: u32 = 4096;

    fn block() -> Vec<u8> {
        (0..150_u32)
            .flat_map(|number| format!("{} comes before {}, ", number * 17 % 101, number).into_bytes())
            .collect()
    }

    fn packed(compression: Compression) -> Vec<u8> {
        let mut packed = Vec::new();
        codec::Encoder::new(compression).unwrap().unwrap().encode(&block(), &mut packed).unwrap();
        packed
    }

    #[test]
    fn a_block_is_decoded_no_further_than_asked() {
        let block = block();
        for compression in [Compression::Snappy, Compression::Zstd] {
            let (packed, mut buffer) = (packed(compression), Buffer::default());
            for _ in 0..2 {
                buffer.open(compression, &packed, BLOCK_SIZE, false).unwrap();
                assert_eq!((buffer.made().len(), buffer.len()), (0, block.len()));
                buffer.reach(100).unwrap();
                assert!((100..block.len() / 2).contains(&buffer.made().len()));
                assert!(block.starts_with(buffer.made()));
                buffer.reach(usize::MAX).unwrap();
                assert_eq!(buffer.made(), block);
                buffer.open(compression, &packed, BLOCK_SIZE, true).unwrap();
                assert_eq!(buffer.made(), block);
            }
        }
    }

    #[test]
    fn what_our_decoder_leaves_the_library_takes() {
        let block = block();
        let mut compressor = ::zstd::bulk::Compressor::new(3).unwrap();
        compressor.include_checksum(true).unwrap();
        let with_checksum = compressor.compress(&block).unwrap();
        let mut buffer = Buffer::default();
        buffer.open(Compression::Zstd, &with_checksum, BLOCK_SIZE, false).unwrap();
        assert_eq!(buffer.made(), block);

        let broken = &with_checksum[..with_checksum.len() - 1];
        assert!(buffer.open(Compression::Zstd, broken, BLOCK_SIZE, false).is_err());
        assert!(buffer.made().is_empty());
    }

    #[test]
    fn what_is_wrong_with_a_part_the_library_says() {
        let mut packed = packed(Compression::Zstd);
        // Literals and tables are sound; the sequences are not, but for those that a stream's end begins with.
        let len = packed.len();
        packed[len - 300..len - 100].fill(0xff);
        let mut buffer = Buffer::default();
        buffer.open(Compression::Zstd, &packed, BLOCK_SIZE, false).unwrap();
        let finding = buffer.reach(usize::MAX).unwrap_err();
        assert!(finding.contains("is not valid zstd"), "{finding}");
        assert!(buffer.made().is_empty());
    }
}
