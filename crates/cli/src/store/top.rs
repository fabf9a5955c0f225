//! `hammerspace store top STORE`: the same as `info`, once a second, with a map of the segments.
//!
//! ```text
//! @@@%%%#*..     each sign is a segment, or some that lie together: the fuller of live records, the darker
//! ```
//!
//! With `--json` the map is the live bytes of each segment, `null` where a sign would be a space.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::Args;
use console::Term;
use hammerspace::Store;
use hammerspace_error::{Doing, Result};
use serde::Serialize;

use super::overview::Overview;
use crate::exit::Outcome;
use crate::output::Output;

/// From empty to full.
const SHADES: &[u8] = b".:-=+*%#@";
/// Neither live nor dead records: free, or of the index.
const NO_RECORDS: char = ' ';
/// Signs of a map at most.
const SIGNS_MAX: usize = 2048;
const WIDTH: usize = 64;
const PAUSE: Duration = Duration::from_secs(1);

/// Watch a store: its memory, and a map of its segments by what is live in them
#[derive(Args)]
#[command(after_help = "Example: hammerspace store top visits --once")]
pub(crate) struct Top {
    /// The directory of the store
    store: PathBuf,
    /// Look once
    #[arg(long)]
    once: bool,
}

/// What `--json` says.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    overview: Overview,
    segment_size: u64,
    /// Live bytes of each, in order.
    segments: Vec<Option<u64>>,
}

impl Top {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let store = Store::attach(&self.store)?;
        let (term, mut lines) = (Term::stdout(), 0);
        loop {
            let (segments, segment_size) = (store.segments(), store.usage().segment_size);
            let overview = Overview::of(&self.store, &store)?;
            if out.json() {
                out.object(&Shown { overview, segment_size, segments })?;
            } else {
                let screen = format!("{overview}\n{}", map(&segments, segment_size));
                if lines > 0 && term.is_term() {
                    term.clear_last_lines(lines).doing("write to the terminal")?;
                }
                lines = screen.lines().count();
                out.bytes(screen.as_bytes())?;
            }
            out.flush()?;
            if self.once {
                return Ok(Outcome::Found);
            }
            thread::sleep(PAUSE);
        }
    }
}

/// A sign for each segment; for as many as it takes to have no more than `SIGNS_MAX`.
fn map(segments: &[Option<u64>], size: u64) -> String {
    let together = segments.len().div_ceil(SIGNS_MAX).max(1);
    let mut signs: String = segments.chunks(together).map(|part| sign(part, size)).collect();
    signs.truncate(signs.trim_end().len());
    let mut rows = String::new();
    for row in signs.as_bytes().chunks(WIDTH) {
        rows.push_str(str::from_utf8(row).expect("signs are ASCII").trim_end());
        rows.push('\n');
    }
    rows
}

fn sign(segments: &[Option<u64>], size: u64) -> char {
    let live: Vec<u64> = segments.iter().filter_map(|live| *live).collect();
    if live.is_empty() {
        return NO_RECORDS;
    }
    let steps = SHADES.len() as u64 - 1;
    let shade = (live.iter().sum::<u64>() * steps).div_ceil(size * live.len() as u64).min(steps);
    char::from(SHADES[shade as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_shows_what_is_full() {
        assert_eq!(map(&[Some(0), Some(1), Some(50), Some(100), None], 100), ".:+@\n");
        assert_eq!(map(&[None, Some(100)], 100), " @\n");
        let many = vec![Some(100); 3 * SIGNS_MAX];
        assert_eq!(map(&many, 100).lines().count(), SIGNS_MAX / WIDTH);
    }
}
