//! Ids from a file or standard input: one a line, or words of eight bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use clap::Args;
use hammerspace::store::OwnedKey;
use hammerspace_error::{Doing, Error, Kind, Result};

use crate::output::shown;
use crate::progress::Progress;

/// An id as it comes.
#[derive(Clone, Copy)]
pub(super) enum Id<'i> {
    /// A line without its end.
    Line(&'i [u8]),
    /// A little-endian word.
    Word(u64),
}

/// Where lines come from.
#[derive(Args)]
pub(super) struct Lines {
    /// Read this file in place of standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
}

/// Where ids come from, and how they are written.
#[derive(Args)]
pub(super) struct Ids {
    #[command(flatten)]
    lines: Lines,
    /// Ids are little-endian words of eight bytes, back to back, in place of lines
    #[arg(long)]
    words: bool,
}

impl Ids {
    /// Gives each id to `take`, in order, with a bar that says what is being done.
    pub(super) fn each(&self, doing: &'static str, mut take: impl FnMut(Id<'_>) -> Result<()>) -> Result<()> {
        if !self.words {
            return self.lines.each(doing, take);
        }
        self.lines.read(doing, |input| {
            let (mut word, mut at) = ([0; 8], 0_u64);
            loop {
                match read_up_to(input, &mut word)? {
                    0 => return Ok(()),
                    8 => take(Id::Word(u64::from_le_bytes(word))).map_err(|error| error.at(at))?,
                    len => {
                        let error = Error::new(Kind::Invalid, format!("the last word has {len} bytes of 8"));
                        return Err(error.at(at).remedy("give whole words, or one id a line without --words"));
                    }
                }
                at += 8;
            }
        })
    }
}

/// What ids are.
#[derive(Args, Clone, Copy)]
pub(super) struct IdType {
    /// Lines are integers of 64 bits: 7 is another id than the text 7; words always are
    #[arg(long)]
    integer: bool,
}

/// Ids that are given at a time.
const CHUNK: usize = 1 << 16;

impl Ids {
    /// Gives all ids to `take`, some at a time, in order.
    pub(super) fn each_chunk(
        &self,
        doing: &'static str,
        of: IdType,
        mut take: impl FnMut(&[OwnedKey]) -> Result<()>,
    ) -> Result<()> {
        let mut chunk = Vec::new();
        self.each(doing, |id| {
            chunk.push(of.key(id)?);
            if chunk.len() == CHUNK {
                take(&chunk)?;
                chunk.clear();
            }
            Ok(())
        })?;
        take(&chunk)
    }
}

impl IdType {
    fn key(self, id: Id<'_>) -> Result<OwnedKey> {
        match id {
            Id::Word(word) => Ok(OwnedKey::Integer(word)),
            Id::Line(line) if !self.integer => Ok(OwnedKey::Bytes(line.to_vec())),
            Id::Line(line) => {
                let number = std::str::from_utf8(line).ok().and_then(|line| line.parse().ok());
                number.map(OwnedKey::Integer).ok_or_else(|| {
                    Error::new(Kind::Invalid, format!("{} is no integer from 0 to {}", shown(line), u64::MAX))
                        .remedy("give one id a line, or leave out --integer")
                })
            }
        }
    }
}

impl Lines {
    /// Gives each line to `take`, in order. An error of a line has its offset.
    pub(super) fn each(&self, doing: &'static str, mut take: impl FnMut(Id<'_>) -> Result<()>) -> Result<()> {
        self.read(doing, |input| {
            let (mut line, mut at) = (Vec::new(), 0_u64);
            loop {
                line.clear();
                let len = input.read_until(b'\n', &mut line).doing("read")?;
                if len == 0 {
                    return Ok(());
                }
                take(Id::Line(line.strip_suffix(b"\n").unwrap_or(&line))).map_err(|error| error.at(at))?;
                at += len as u64;
            }
        })
    }

    fn read(&self, doing: &'static str, go: impl FnOnce(&mut dyn BufRead) -> Result<()>) -> Result<()> {
        match &self.from {
            None => go(&mut BufReader::with_capacity(1 << 16, Progress::bytes(doing, 0).reading(io::stdin().lock()))),
            Some(path) => {
                let open = || File::open(path).and_then(|file| file.metadata().map(|about| (file, about.len())));
                let (file, len) = open().doing("open").map_err(|error| error.file(path))?;
                let progress = Progress::bytes(doing, len);
                go(&mut BufReader::with_capacity(1 << 16, progress.reading(file))).map_err(|error| error.file(path))
            }
        }
    }
}

/// Fills `word`, or as much of it as there is.
fn read_up_to(input: &mut dyn BufRead, word: &mut [u8]) -> Result<usize> {
    let mut len = 0;
    while len < word.len() {
        match input.read(&mut word[len..]).doing("read")? {
            0 => break,
            more => len += more,
        }
    }
    Ok(len)
}
