//! Writing a file so that whoever maps it has it in huge pages.
//!
//! ```text
//! sink:   |        2 MiB        |        2 MiB        |        2 MiB   pending
//! writes: |header|     first    |        next         | ─ ─ ─ ─ ─ ─ ─ ─ ─ ─|      each as far as a huge page goes
//! ```
//! A file system that keeps files in large folios (XFS, ext4 from Linux 6.16 on) takes as much memory at once as a write brings,
//! where the write begins at a multiple of that. Processes that map the file share these huge pages, and neither they nor
//! anybody's settings need to ask for any. Elsewhere it is a buffer like another. See "Huge pages that are shared" in the design notes.

use hammerspace_error::Result;
use hammerspace_os::{Buffer, HUGE_PAGE};
use std::io::{self, Write};
use std::ops::Range;

/// Where a writer stood, and what was pending then.
pub(crate) struct Mark {
    pending: Range<usize>,
    position: u64,
}

/// Hands bytes to a sink, a page of some size at a time. Nothing is written on drop.
pub(crate) struct AlignedWriter<W> {
    sink: W,
    /// The page of the file that is being written: each byte has its place.
    page: Buffer,
    /// Which of its bytes are pending.
    pending: Range<usize>,
    /// Where the sink stands: offset of the first pending byte.
    position: u64,
}

impl<W: Write> AlignedWriter<W> {
    /// Goes on at `position`, where `sink` stands, in huge pages.
    pub(crate) fn new(sink: W, position: u64) -> Result<Self> {
        Self::with_pages(sink, position, HUGE_PAGE)
    }

    /// The same in pages of `len` bytes, for those who have no memory for a huge one.
    pub(crate) fn with_pages(sink: W, position: u64, len: usize) -> Result<Self> {
        let start = (position % len as u64) as usize;
        Ok(Self { sink, page: Buffer::new(len)?, pending: start..start, position })
    }

    /// Adds `bytes`, and writes what fills pages to their ends. After an error nobody knows where the sink stands: who has a
    /// mark goes [back](Self::go_back), and moves the sink to [`position`](Self::position).
    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let end = self.pending.end + bytes.len();
        // Not to the very end: a full page is written.
        if end < self.page.len() {
            self.page[self.pending.end..end].copy_from_slice(bytes);
            self.pending.end = end;
            return Ok(());
        }
        self.write_across(bytes)
    }

    /// The same, beyond the page's end. Pages in the midst of `bytes` are not copied.
    fn write_across(&mut self, bytes: &[u8]) -> io::Result<()> {
        let len = self.page.len();
        let (first, rest) = bytes.split_at(len - self.pending.end);
        self.page[self.pending.end..].copy_from_slice(first);
        self.pending.end = len;
        self.drain()?;
        let (whole, last) = rest.split_at(rest.len() / len * len);
        if !whole.is_empty() {
            self.sink.write_all(whole)?;
            self.position += whole.len() as u64;
        }
        self.page[..last.len()].copy_from_slice(last);
        self.pending = 0..last.len();
        Ok(())
    }

    /// Writes all that is pending. Gives where the sink stands then.
    pub(crate) fn drain(&mut self) -> io::Result<u64> {
        self.sink.write_all(&self.page[self.pending.clone()])?;
        self.position += self.pending.len() as u64;
        self.pending.start = self.pending.end;
        Ok(self.position)
    }

    /// To go back to.
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        Mark { pending: self.pending.clone(), position: self.position }
    }

    /// Forgets what came since the mark.
    pub(crate) fn go_back(&mut self, mark: Mark) {
        if self.position == mark.position {
            self.pending = mark.pending;
            return;
        }
        // What was pending then is written, and its page may have become another.
        let Mark { position, pending } = mark;
        (self.position, self.pending) = (position + pending.len() as u64, pending.end..pending.end);
    }

    /// Where the sink should stand.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The sink, for reading what is in it.
    pub(crate) fn get_ref(&self) -> &W {
        &self.sink
    }

    /// The sink, for writing somewhere else. Whoever moves it puts it back.
    pub(crate) fn sink(&mut self) -> &mut W {
        &mut self.sink
    }

    /// The sink, without what is pending.
    pub(crate) fn into_sink(self) -> W {
        self.sink
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = HUGE_PAGE;

    /// Remembers where each write ended.
    #[derive(Default)]
    struct Ends {
        bytes: Vec<u8>,
        ends: Vec<usize>,
    }

    impl Write for Ends {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.bytes.extend_from_slice(bytes);
            self.ends.push(self.bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn writes_end_where_huge_pages_do() {
        let bytes: Vec<u8> = (0..3 * PAGE).map(|at| (at / 7) as u8).collect();
        let mut writer = AlignedWriter::new(Ends::default(), 0).unwrap();
        writer.write(&bytes[..100]).unwrap();
        assert_eq!(writer.drain().unwrap(), 100, "a header that all shall see");
        for piece in bytes[100..3 * PAGE - 5000].chunks(7777) {
            writer.write(piece).unwrap();
        }
        assert_eq!(writer.sink().ends, [100, PAGE, 2 * PAGE]);
        writer.write(&bytes[3 * PAGE - 5000..]).unwrap();
        assert_eq!(writer.sink().ends[3..], [3 * PAGE], "a full page does not wait");
        writer.write(b"x").unwrap();
        writer.write(&bytes).unwrap();
        assert_eq!(writer.sink().ends[4..], [4 * PAGE, 6 * PAGE], "whole pages go at once");
        assert_eq!(writer.drain().unwrap() as usize, 6 * PAGE + 1);
        writer.write(b"pending").unwrap();
        assert!(writer.into_sink().bytes == [&bytes[..], b"x", &bytes].concat());
    }

    #[test]
    fn a_writer_goes_on_in_the_midst_of_a_page() {
        let mut writer = AlignedWriter::new(Ends::default(), (5 * PAGE - 3) as u64).unwrap();
        writer.write(b"abcde").unwrap();
        assert_eq!(writer.sink().bytes, b"abc");
        assert_eq!(writer.drain().unwrap() as usize, 5 * PAGE + 2);
        assert_eq!(writer.into_sink().bytes, b"abcde");
    }
}
