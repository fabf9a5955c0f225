//! `hammerspace follow URL SPACE`: what is published there, kept current here.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytesize::ByteSize;
use clap::Args;
use hammerspace_error::{Error, Kind, Result};
use hammerspace_fleet::{Fleet, Follower, Polled, State, run};
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;

/// Keep a space here at the version that is published at a URL
///
/// Fetches what is missing, verifies it, and makes it current in one step while others read. Runs until it
/// is interrupted; while the store cannot be reached, the space stays as it is.
#[derive(Args)]
#[command(after_help = "Example: hammerspace follow s3://tables/words words --every 10s")]
pub(crate) struct Follow {
    /// Where from: s3://bucket/prefix or file:///directory
    url: String,
    /// The directory of the space, made if it is not there
    space: PathBuf,
    /// Fetch what is published by now, and end
    #[arg(long)]
    once: bool,
    /// The average time between two questions to the store
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = humantime::parse_duration)]
    every: Duration,
    /// Versions that stay on disk, the current one included
    #[arg(long, value_name = "N", default_value_t = 2)]
    keep: usize,
    /// Stay at this version, whatever is published
    #[arg(long, value_name = "VERSION")]
    pin: Option<u64>,
    /// Fetch so many bytes a second at most, such as 10MiB
    #[arg(long, value_name = "SIZE")]
    rate: Option<ByteSize>,
    /// What to be called in reports [default: the machine's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Write no reports to the store
    #[arg(long, conflicts_with = "name")]
    no_report: bool,
}

impl Follow {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let fleet = Fleet::open(&self.url)?;
        let options = hammerspace_fleet::Follow {
            name: (!self.no_report).then(|| self.name.clone().unwrap_or_else(machine)),
            keep: self.keep,
            pin: self.pin,
            rate: self.rate.map(|rate| rate.as_u64()),
            every: self.every,
            ..hammerspace_fleet::Follow::default()
        };
        let mut follower = Follower::open(fleet, &self.space, options)?;
        if self.once { self.follow_once(&mut follower, out) } else { stay(&mut follower, out) }
    }

    fn follow_once(&self, follower: &mut Follower, out: &mut Output) -> Result<Outcome> {
        run(follower.poll())?;
        let state = follower.state();
        if state.current.is_none() && state.ready.is_none() {
            let error = Error::new(Kind::Missing, format!("nothing is published at {} yet", self.url));
            out.error(&error.remedy("publish with `hammerspace push`"))?;
            return Ok(Outcome::NotFound);
        }
        out.done(&Answer(state))?;
        Ok(Outcome::Found)
    }
}

fn stay(follower: &mut Follower, out: &mut Output) -> Result<Outcome> {
    let told = |state: &State, polled: Result<Polled>| {
        match polled {
            Ok(_) => out.done(&Answer(state))?,
            Err(error) => out.complain(&error)?,
        }
        out.flush()
    };
    run(follower.run(told))?;
    Ok(Outcome::Found)
}

/// What the system calls this machine, in letters that an object's name may have.
fn machine() -> String {
    let name = std::fs::read_to_string(Path::new("/proc/sys/kernel/hostname")).unwrap_or_default();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' };
    let name: String = name.trim().chars().map(plain).collect();
    if name.is_empty() { "unnamed".into() } else { name }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Answer<'a>(&'a State);

impl fmt::Display for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let State { current, ready, waits_for, .. } = self.0;
        match (current, ready) {
            (_, Some(ready)) => write!(f, "version {ready} is ready")?,
            (Some(current), None) => write!(f, "version {current} is current")?,
            (None, None) => write!(f, "no version is here")?,
        }
        writeln!(f, "; waiting for {waits_for}")
    }
}
