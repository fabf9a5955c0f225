//! `hammerspace demo`: the main job, on real translations.
//!
//! ```text
//! the demo ──┬─ loads ──► a space          1. N workers, each with a HashMap of its own:
//!    │       └─ writes ─► traffic             memory, time until ready, latency of random reads
//!    │ orders ▼  ▲ events                  2. N workers on the space: the same, measured the same way
//!    worker … worker: data source          3. new versions: how soon each worker sees them, whole
//! ```
//! A worker is a process, this same command called with a hidden option; it is told what to do and says what it finds
//! over pipes (`talk`). Only workers are measured. All they hold is data, and as little else as we could do with.

mod crew;
mod data;
mod data_source;
mod full;
mod latency;
mod memory;
mod play;
mod report;
mod scratch;
mod screen;
mod swap;
mod talk;
mod tally;
mod traffic;
mod words;
mod worker;

use std::env;
use std::time::Duration;

use clap::{Args, value_parser};
use hammerspace_error::Result;

use self::data::Data;
use self::play::Play;
use self::scratch::Scratch;
use self::screen::Screen;
use crate::exit::Outcome;
use crate::output::Output;

/// See it work: real translations, many processes, one copy
///
/// Worker processes read random keys, first each from a HashMap of its own, then all from one space; then new versions are
/// published while they read. Nothing is left behind, except what --full keeps in the cache.
#[derive(Args)]
pub(crate) struct Demo {
    /// How many worker processes
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = value_parser!(u16).range(1..=256))]
    workers: u16,
    /// How long it may take, fetching packages aside; loading takes what it takes [default: 10, with --full 30]
    #[arg(long, value_name = "S", value_parser = value_parser!(u64).range(1..=3600))]
    seconds: Option<u64>,
    /// The 862,856 strings of LibreOffice in 33 locales, from 32 packages of Debian (25 MB, fetched once)
    #[arg(long)]
    full: bool,
    /// Be a worker
    #[arg(long, hide = true, exclusive = true)]
    worker: bool,
}

impl Demo {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        if self.worker { worker::run(out) } else { self.play(out) }
    }

    fn play(&self, out: &mut Output) -> Result<Outcome> {
        let screen = Screen::new();
        screen.step(
            "Hammerspace",
            "One copy of your data per machine, shared by every process, replaced while they read.",
        );
        if cfg!(debug_assertions) {
            screen.result(
                "This build is for debugging and reads slowly. For the real numbers: cargo run --release -- demo",
            );
        }
        let (scratch, data) = self.data(&screen)?;
        let time = Duration::from_secs(self.seconds.unwrap_or(if self.full { 30 } else { 10 }));
        let report = Play::new(self.workers.into(), time, screen, data, scratch).run()?;
        out.answer(&report)?;
        Ok(if report.swap.nobody_missed_a_beat() { Outcome::Found } else { Outcome::Broken })
    }

    /// A place to work in, and the translations.
    fn data(&self, screen: &Screen) -> Result<(Scratch, Data)> {
        if self.full {
            let cache = full::cache()?;
            let scratch = Scratch::new(&cache)?;
            let data = full::data(screen, &cache, scratch.path())?;
            return Ok((scratch, data));
        }
        let scratch = Scratch::new(&env::temp_dir())?;
        let data = Data::unpack(&scratch.path().join("translations"))?;
        Ok((scratch, data))
    }
}
