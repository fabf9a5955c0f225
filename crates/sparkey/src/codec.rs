//! How the entries of a log are packed: plainly, or in blocks of raw snappy or of one zstd frame each.
//!
//! Decoding never asks for more memory than a block may hold *and* its bytes can justify: a header that claims blocks of
//! 4 GiB, or a frame that claims to hold as much, costs nothing until bytes back it up.

pub(crate) mod snappy;

use std::cell::Cell;
use std::io;
use zstd::{bulk, zstd_safe};

/// How a log packs its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Back to back: fastest to read, values are slices of the file.
    #[default]
    None,
    /// Blocks of raw snappy.
    Snappy,
    /// Blocks of one zstd frame each. Readers from before July 2020 refuse it.
    Zstd,
}

impl Compression {
    /// The number that stands for it in a header.
    pub const fn code(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Snappy => 1,
            Self::Zstd => 2,
        }
    }

    /// What a header's number stands for.
    pub const fn from_code(code: u32) -> Option<Self> {
        match code {
            0 => Some(Self::None),
            1 => Some(Self::Snappy),
            2 => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Its name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Snappy => "snappy",
            Self::Zstd => "zstd",
        }
    }
}

/// The level that Spotify's writers use, in C and in Java.
const ZSTD_LEVEL: i32 = 3;

/// A zstd block takes 3 bytes or more and holds 128 KiB at most.
const ZSTD_EXPANSION_MAX: u64 = (128 << 10) / 3 + 1;

thread_local! {
    // A context is some 100 KiB to set up, a block a few microseconds to decode.
    static ZSTD: Cell<Option<bulk::Decompressor<'static>>> = const { Cell::new(None) };
}

/// Replaces `out` by what the block `packed` decodes to, all of it. `Err` says what is wrong with it.
pub(crate) fn decode(
    compression: Compression,
    packed: &[u8],
    block_size: u32,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let len = match compression {
        Compression::None => unreachable!("an uncompressed log has no blocks"),
        Compression::Snappy => {
            let mut progress = start_snappy(packed, block_size, out)?;
            progress.decode(packed, out, usize::MAX)?;
            progress.len
        }
        Compression::Zstd => decode_zstd(packed, block_size, out)?,
    };
    out.truncate(len);
    Ok(())
}

/// Makes room in `memory` for what the block of snappy `packed` claims to hold. `Err` says what is wrong with it.
pub(crate) fn start_snappy(packed: &[u8], block_size: u32, memory: &mut Vec<u8>) -> Result<snappy::Progress, String> {
    let progress = snappy::Progress::start(packed)?;
    check_len(progress.len, block_size)?;
    make_room(memory, progress.len + snappy::SLACK);
    Ok(progress)
}

/// Decodes the zstd frame `packed` into `memory`; gives its length. `Err` says what is wrong with it.
pub(crate) fn decode_zstd(packed: &[u8], block_size: u32, memory: &mut Vec<u8>) -> Result<usize, String> {
    if zstd_safe::find_frame_compressed_size(packed) != Ok(packed.len()) {
        return Err("is not one zstd frame".into());
    }
    let claimed = zstd_safe::get_frame_content_size(packed).map_err(|error| error.to_string())?;
    if let Some(claimed) = claimed.filter(|claimed| *claimed > block_size.into()) {
        return Err(oversize(claimed, block_size));
    }
    let justified = packed.len() as u64 * ZSTD_EXPANSION_MAX;
    let room = claimed.unwrap_or(block_size.into()).min(justified) as usize;
    make_room(memory, room);
    let mut context = match ZSTD.try_with(Cell::take) {
        Ok(Some(context)) => context,
        // While the thread ends there is none.
        _ => bulk::Decompressor::new().map_err(|error| error.to_string())?,
    };
    let len = context.decompress_to_buffer(packed, &mut memory[..room]);
    let _ = ZSTD.try_with(|kept| kept.set(Some(context)));
    let len = len.map_err(|error: io::Error| format!("is not valid zstd within {block_size} bytes ({error})"))?;
    check_len(len, block_size)?;
    Ok(len)
}

/// Bytes of older blocks may stay: clearing them would cost as much as decoding a little.
pub(crate) fn make_room(memory: &mut Vec<u8>, len: usize) {
    if memory.len() < len {
        memory.reserve_exact(len - memory.len());
        memory.resize(len, 0);
    }
}

fn check_len(len: usize, block_size: u32) -> Result<(), String> {
    match len {
        0 => Err("decodes to nothing".into()),
        len if len > block_size as usize => Err(oversize(len as u64, block_size)),
        _ => Ok(()),
    }
}

fn oversize(len: u64, block_size: u32) -> String {
    format!("decodes to {len} bytes, past the log's block size {block_size}")
}

/// Packs blocks for a writer; keeps its context from block to block.
pub(crate) enum Encoder {
    Snappy(Box<snap::raw::Encoder>),
    Zstd(bulk::Compressor<'static>),
}

impl Encoder {
    /// `None` where nothing is to be packed.
    pub(crate) fn new(compression: Compression) -> io::Result<Option<Self>> {
        Ok(match compression {
            Compression::None => None,
            Compression::Snappy => Some(Self::Snappy(Box::new(snap::raw::Encoder::new()))),
            Compression::Zstd => Some(Self::Zstd(bulk::Compressor::new(ZSTD_LEVEL)?)),
        })
    }

    /// Replaces `out` by the packed `block`.
    pub(crate) fn encode(&mut self, block: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Snappy(encoder) => {
                out.resize(snap::raw::max_compress_len(block.len()), 0);
                let len = encoder.compress(block, out).map_err(io::Error::other)?;
                out.truncate(len);
            }
            Self::Zstd(encoder) => {
                out.clear();
                out.reserve(zstd_safe::compress_bound(block.len()));
                encoder.compress_to_buffer(block, out)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::mpsc, thread};

    fn encoded(compression: Compression, block: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Encoder::new(compression).unwrap().unwrap().encode(block, &mut out).unwrap();
        out
    }

    #[test]
    fn blocks_come_back_up_to_the_block_size_and_no_further() {
        for compression in [Compression::Snappy, Compression::Zstd] {
            for len in [1_usize, 10, 4096, 1 << 20] {
                let block: Vec<u8> = (0..len).map(|at| (at / 7) as u8).collect();
                let (packed, mut out) = (encoded(compression, &block), vec![1; 3]);
                assert_eq!(decode(compression, &packed, len as u32, &mut out), Ok(()));
                assert_eq!(out, block);
                assert!(decode(compression, &packed, len as u32 - 1, &mut out).is_err());
            }
            let mut out = Vec::new();
            assert!(decode(compression, &encoded(compression, b""), 100, &mut out).is_err(), "an empty block");
            assert!(decode(compression, b"", 100, &mut out).is_err(), "no block at all");
        }
    }

    #[test]
    fn a_claim_of_4_gib_costs_nothing() {
        let snappy = [0xff, 0xff, 0xff, 0xff, 0x0f, 0, b'x'];
        // Magic, descriptor "single segment, 8-byte content size", the size, one empty last block.
        let zstd = [0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 1, 0, 0];
        for (compression, block) in [(Compression::Snappy, &snappy[..]), (Compression::Zstd, &zstd)] {
            let mut out = Vec::new();
            assert!(decode(compression, block, u32::MAX, &mut out).is_err());
            assert!(out.capacity() < 1 << 20, "{compression:?} reserved {}", out.capacity());
        }
    }

    #[test]
    fn a_block_is_one_frame_and_no_more() {
        let (frame, mut out) = (encoded(Compression::Zstd, b"abc"), Vec::new());
        assert_eq!(decode(Compression::Zstd, &frame, 100, &mut out), Ok(()));
        for wrong in [[&frame[..], &frame].concat(), [&frame[..], b"x"].concat(), frame[..frame.len() - 1].to_vec()] {
            assert!(decode(Compression::Zstd, &wrong, 100, &mut out).is_err());
        }
    }

    #[test]
    fn zstd_frames_without_a_content_size_are_read() {
        let mut packed = encoded(Compression::Zstd, &[7; 300]);
        let mut context = bulk::Compressor::new(3).unwrap();
        context.include_contentsize(false).unwrap();
        packed.clear();
        packed.reserve(1000);
        context.compress_to_buffer(&[7; 300], &mut packed).unwrap();
        assert!(zstd_safe::get_frame_content_size(&packed).unwrap().is_none());
        let mut out = Vec::new();
        assert_eq!(decode(Compression::Zstd, &packed, 4096, &mut out), Ok(()));
        assert_eq!(out, [7; 300]);
        out.reserve(4096);
        assert!(decode(Compression::Zstd, &packed, 299, &mut out).is_err(), "however much memory is at hand");
    }

    #[test]
    fn a_thread_that_ends_still_decodes() {
        struct AtTheEnd(mpsc::Sender<Result<usize, String>>);
        impl Drop for AtTheEnd {
            fn drop(&mut self) {
                let packed = encoded(Compression::Zstd, &[7; 300]);
                let _ = self.0.send(decode_zstd(&packed, 4096, &mut Vec::new()));
            }
        }
        thread_local!(static LAST: Cell<Option<AtTheEnd>> = const { Cell::new(None) });

        let (sender, decoded) = mpsc::channel();
        let thread = thread::spawn(move || {
            // What a thread takes first goes last: the context is gone when this decodes.
            LAST.set(Some(AtTheEnd(sender)));
            decode_zstd(&encoded(Compression::Zstd, b"abc"), 100, &mut Vec::new())
        });
        assert_eq!(thread.join().unwrap(), Ok(3));
        assert_eq!(decoded.recv().unwrap(), Ok(300));
    }
}
