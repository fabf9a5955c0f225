//! Writing a log: create, or append to one that exists.
//!
//! ```text
//! put/delete ─► block (compressed logs only) ─► a huge page ─► sink        header: rewritten in one write, after the data
//! ```
//! What always holds:
//! 1. Until `flush` or `finish`, the header in the sink says what it said before: a reader sees the old log.
//! 2. Nothing is written on drop. A forked child, or a caller that gives up, drops its writer and leaves the file alone.
//! 3. What failed can be tried again: nothing of it counts, and what was pending before is pending still. Where a write stopped
//!    halfway the next one begins anew.
//!
//! Blocks are cut as C does, not as Java does: an entry that would fit a block of its own is never split. Java fills blocks
//! better by letting entries span; but then a read decodes two blocks where one would do.

use super::entry::{EntryKind, Head, KEY_LEN_MAX};
use super::header::LogHeader;
use crate::aligned::AlignedWriter;
use crate::codec::{Compression, Encoder};
use crate::fault;
use hammerspace_bytes::vlq::{self, LEN_MAX};
use hammerspace_error::{Doing, Error, Result};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};

/// The smallest block that is sure to hold an entry's two lengths.
pub const BLOCK_SIZE_MIN: u32 = 10;

/// Larger blocks are outside Java's range.
const BLOCK_SIZE_MAX: u32 = i32::MAX as u32;

/// How to make a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// How entries are packed.
    pub compression: Compression,
    /// Bytes per block before compression, 10 to 2^31-1. Without compression it means nothing.
    pub block_size: u32,
}

impl Default for LogOptions {
    /// No compression; blocks of 4 KiB if there is any.
    fn default() -> Self {
        Self { compression: Compression::None, block_size: 4096 }
    }
}

/// Appends puts and deletes to a log. See the module's promises about dropping and failing.
pub struct LogWriter<W> {
    out: AlignedWriter<W>,
    header: LogHeader,
    packer: Option<Packer>,
    /// Whether a write failed, and the sink stands who knows where.
    astray: bool,
}

impl<W: Write + Seek> LogWriter<W> {
    /// Starts an empty log at the beginning of `sink`, which should be empty, and writes its header.
    pub fn create(sink: W, options: &LogOptions) -> Result<Self> {
        let identifier = getrandom::u32().map_err(std::io::Error::from).doing("draw a file identifier")?;
        Self::create_with_identifier(sink, options, identifier)
    }

    /// The same with a chosen file identifier: for logs that come out byte by byte the same.
    pub fn create_with_identifier(sink: W, options: &LogOptions, file_identifier: u32) -> Result<Self> {
        let LogOptions { compression, block_size } = *options;
        let block_size = if compression == Compression::None { 0 } else { block_size };
        let header = LogHeader::empty(file_identifier, compression, block_size);
        let mut writer = Self::new(sink, header)?;
        writer.write_header()?;
        Ok(writer)
    }

    fn new(sink: W, header: LogHeader) -> Result<Self> {
        let packer = Packer::new(header.compression, header.block_size)?;
        let out = AlignedWriter::new(sink, header.data_end)?;
        Ok(Self { out, header, packer, astray: false })
    }

    /// What the log says of itself as of now; `data_end` is that of the last flush.
    pub fn header(&self) -> &LogHeader {
        &self.header
    }

    /// Puts and deletes in the log so far.
    pub fn len(&self) -> u64 {
        self.header.num_puts.saturating_add(self.header.num_deletes)
    }

    /// Whether the log has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gives `key` this value from here on. Keys of 2^31 bytes and more are outside the format.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let head = self.add(EntryKind::Put, key, value)?;
        // Saturating: what was in the header of a log that we append to need not be true.
        self.header.num_puts = self.header.num_puts.saturating_add(1);
        self.header.put_size = self.header.put_size.saturating_add(head.entry_len());
        self.header.max_value_len = self.header.max_value_len.max(head.value_len);
        Ok(())
    }

    /// Ends the life of `key`, which need not have one.
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        let head = self.add(EntryKind::Delete, key, b"")?;
        self.header.num_deletes = self.header.num_deletes.saturating_add(1);
        self.header.delete_size = self.header.delete_size.saturating_add(head.entry_len());
        Ok(())
    }

    /// Makes everything so far visible to readers: the sink takes the data, then the header. Syncing it is the caller's.
    pub fn flush(&mut self) -> Result<()> {
        if let Some(packer) = &mut self.packer {
            packer.close()?;
            self.header.max_entries_per_block = self.header.max_entries_per_block.max(packer.max_entries);
            self.write_packed()?;
        }
        self.attempt("write the log", |writer| {
            writer.header.data_end = writer.out.drain()?;
            Ok(())
        })?;
        self.write_header()
    }

    /// The sink, with what was flushed.
    pub fn sink(&self) -> &W {
        self.out.get_ref()
    }

    /// Flushes, and gives the sink back.
    pub fn finish(mut self) -> Result<(W, LogHeader)> {
        self.flush()?;
        Ok((self.out.into_sink(), self.header))
    }

    fn add(&mut self, kind: EntryKind, key: &[u8], value: &[u8]) -> Result<Head> {
        if key.len() > KEY_LEN_MAX {
            let finding = format!("a key of {} bytes is longer than {KEY_LEN_MAX}", key.len());
            return Err(fault::invalid(finding).remedy("use a shorter key"));
        }
        let head = Head::of(kind, key.len(), value.len());
        self.write_packed()?;
        match &mut self.packer {
            None => self.attempt("write the log", |writer| {
                writer.out.write(head.encode(&mut [0; Head::LEN_MAX]))?;
                writer.out.write(key)?;
                writer.out.write(value)
            })?,
            Some(packer) => {
                packer.add(head, key, value)?;
                // Should that fail, the next one says so: this entry is in the log.
                drop(self.write_packed());
            }
        }
        // Deletes count too, unlike in C and Java: Java's reader takes its buffers from this, and overruns them.
        self.header.max_key_len = self.header.max_key_len.max(head.key_len);
        Ok(head)
    }

    /// Writes the blocks that are packed.
    fn write_packed(&mut self) -> Result<()> {
        if self.packer.as_ref().is_none_or(|packer| packer.packed.is_empty()) {
            return Ok(());
        }
        self.attempt("write the log", |writer| {
            let Some(packer) = &mut writer.packer else { return Ok(()) };
            writer.out.write(&packer.packed)?;
            packer.packed.clear();
            Ok(())
        })
    }

    /// Replaces the header in one write, and returns to the end of the data.
    fn write_header(&mut self) -> Result<()> {
        self.attempt("write the log's header", |writer| {
            let sink = writer.out.sink();
            sink.seek(SeekFrom::Start(0))?;
            sink.write_all(&writer.header.encode())?;
            sink.seek(SeekFrom::Start(writer.header.data_end))?;
            sink.flush()
        })
    }

    fn attempt(&mut self, doing: &str, write: impl FnOnce(&mut Self) -> std::io::Result<()>) -> Result<()> {
        if self.astray {
            self.find_back()?;
        }
        let mark = self.out.mark();
        write(self).doing(doing).inspect_err(|_| {
            self.out.go_back(mark);
            self.astray = true;
        })
    }

    #[cold]
    fn find_back(&mut self) -> Result<()> {
        let position = self.out.position();
        self.out.sink().seek(SeekFrom::Start(position)).doing("seek to the end of the log's data")?;
        self.astray = false;
        Ok(())
    }
}

impl<W: Read + Write + Seek> LogWriter<W> {
    /// Goes on with the log in `sink`, at its `data_end`: bytes behind that are overwritten, but not cut off.
    pub fn append(mut sink: W) -> Result<Self> {
        let mut header = read_header(&mut sink)?;
        if header.compression == Compression::None {
            // Java writes 1, of which C makes indexes that newer Java cannot read; and any block size, which C sets to 0 too.
            (header.max_entries_per_block, header.block_size) = (0, 0);
        }
        let len = sink.seek(SeekFrom::End(0)).doing("find the end of the log")?;
        if header.data_end > len {
            return Err(fault::log(
                len as usize,
                format!("the log ends here, short of its data_end {}", header.data_end),
            ));
        }
        sink.seek(SeekFrom::Start(header.data_end)).doing("seek to the end of the log's data")?;
        Self::new(sink, header)
    }
}

fn read_header(sink: &mut (impl Read + Seek)) -> Result<LogHeader> {
    let mut bytes = [0; LogHeader::SIZE];
    sink.seek(SeekFrom::Start(0)).doing("seek to the log's header")?;
    let mut len = 0;
    while len < bytes.len() {
        match sink.read(&mut bytes[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io("read the log's header", error)),
        }
    }
    LogHeader::parse(&bytes[..len])
}

/// Cuts the stream of entries into blocks and packs them.
struct Packer {
    encoder: Encoder,
    block_size: usize,
    /// The open block.
    block: Vec<u8>,
    /// It, packed, for a moment.
    packed_block: Vec<u8>,
    /// Blocks that are packed and not written.
    packed: Vec<u8>,
    /// Entries that start in the open block.
    entries: u32,
    /// The most that any block so far had.
    max_entries: u32,
}

impl Packer {
    /// `None` where nothing is packed.
    fn new(compression: Compression, block_size: u32) -> Result<Option<Self>> {
        let Some(encoder) = Encoder::new(compression).doing("set up the compressor")? else { return Ok(None) };
        if !(BLOCK_SIZE_MIN..=BLOCK_SIZE_MAX).contains(&block_size) {
            let finding = format!("block size {block_size} is outside {BLOCK_SIZE_MIN} to {BLOCK_SIZE_MAX}");
            return Err(fault::invalid(finding).remedy("try 4096"));
        }
        let block_size = block_size as usize;
        let (block, packed_block, packed) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Some(Self { encoder, block_size, block, packed_block, packed, entries: 0, max_entries: 0 }))
    }

    fn add(&mut self, head: Head, key: &[u8], value: &[u8]) -> Result<()> {
        if head.len > self.block_size {
            let finding = format!("a value of {} bytes does not fit blocks of {}", value.len(), self.block_size);
            return Err(fault::invalid(finding).remedy("use larger blocks"));
        }
        let room = self.block_size - self.block.len();
        let len = usize::try_from(head.entry_len()).unwrap_or(usize::MAX);
        if room < head.len || (room < len && len <= self.block_size) {
            self.close()?;
        }
        self.block.extend_from_slice(head.encode(&mut [0; Head::LEN_MAX]));
        self.entries += 1;
        let spans = self.fill(key)? | self.fill(value)?;
        // What follows an entry that came here from an earlier block must start a new one.
        if spans { self.close() } else { Ok(()) }
    }

    /// Adds bytes, and closes blocks that they fill to go on in the next. Gives whether they did.
    fn fill(&mut self, mut bytes: &[u8]) -> Result<bool> {
        let mut closed = false;
        loop {
            let (now, later) = bytes.split_at(bytes.len().min(self.block_size - self.block.len()));
            self.block.extend_from_slice(now);
            if later.is_empty() {
                return Ok(closed);
            }
            self.close()?;
            (bytes, closed) = (later, true);
        }
    }

    /// Packs the open block, unless it is empty.
    fn close(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        self.encoder.encode(&self.block, &mut self.packed_block).doing("compress a block")?;
        let mut len = [0; LEN_MAX];
        let len_len = vlq::write(self.packed_block.len() as u64, &mut len);
        self.packed.extend_from_slice(&len[..len_len]);
        self.packed.extend_from_slice(&self.packed_block);
        self.max_entries = self.max_entries.max(self.entries);
        self.entries = 0;
        self.block.clear();
        Ok(())
    }
}
