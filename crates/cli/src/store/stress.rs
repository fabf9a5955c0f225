//! `hammerspace store stress`: a store whose owner and readers are killed at random, and which must be sound all the while.
//!
//! ```text
//! this process:  spawns ─► owner: threads that write        killed by chance, and the next one adopts the store
//!                       └► readers: check what they read    killed by chance
//! at the end:    no owner ─► every value is whole ─► verify
//! ```
//!
//! Values say what they must be (`values.rs`), and that only ever grows: so a reader knows a torn value, another key's, and a
//! completed change that was lost with its owner.

mod values;
mod worker;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use bytesize::ByteSize;
use clap::{Args, ValueEnum};
use fastrand::Rng;
use hammerspace::Store;
use hammerspace::store::{Options, TableOptions};
use hammerspace_error::{Doing, Error, Kind, Result};
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;
use crate::progress::Progress;

/// Two tables: records change in place where they have no versions.
const TABLES: [&str; 2] = ["default", "plain"];

/// Write, read and kill at random for a while, then verify
#[derive(Args)]
pub(crate) struct Stress {
    /// The directory to make the store in [default: a temporary one]
    store: Option<PathBuf>,
    /// How long
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    time: humantime::Duration,
    /// How much memory the store may take
    #[arg(long, value_name = "SIZE", default_value = "32MiB")]
    limit: ByteSize,
    /// The directory that its memory is a file in [default: /dev/shm]
    #[arg(long, value_name = "DIRECTORY")]
    region: Option<PathBuf>,
    /// Processes that read
    #[arg(long, value_name = "N", default_value_t = 2)]
    readers: usize,
    /// What chance is drawn from [default: another each time]
    #[arg(long)]
    seed: Option<u64>,
    /// What a process does that this one has started
    #[arg(long, hide = true, requires = "store")]
    role: Option<Role>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Role {
    Owner,
    Reader,
}

#[derive(Serialize)]
struct Answer {
    seed: u64,
    owners_killed: u64,
    readers_killed: u64,
    records: u64,
    written: u64,
    moved: u64,
}

impl Stress {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..));
        if let (Some(role), Some(store)) = (self.role, &self.store) {
            return worker::run(role, store, seed);
        }
        let scratch = tempfile::tempdir().doing("make a temporary directory")?;
        let path = self.store.clone().unwrap_or_else(|| scratch.path().join("store"));
        let limit = self.limit.as_u64();
        let options = Options { region: self.region.clone(), ..Options::with_limit(limit) };
        Store::create(&path, &options)?.create_table(TABLES[1], TableOptions { versions: false })?;
        let ended = self.play(&path, seed).map_err(|error| {
            let finding = format!("seed {seed}: {}", error.finding());
            Error::new(error.kind(), finding).remedy("report it with the seed, and with what the processes said above")
        });
        // What is left of a store that failed is evidence, where the user has named a place for it.
        if ended.is_ok() || self.store.is_none() {
            Store::remove(&path)?;
        }
        out.answer(&ended?)?;
        Ok(Outcome::Found)
    }

    fn play(&self, path: &Path, seed: u64) -> Result<Answer> {
        let working = Progress::unknown("stress");
        let (mut rng, begun) = (Rng::with_seed(seed), Instant::now());
        let (mut owners_killed, mut readers_killed) = (0, 0);
        let mut owner = Crew::spawn(path, Role::Owner, &mut rng)?;
        let mut readers =
            (0..self.readers).map(|_| Crew::spawn(path, Role::Reader, &mut rng)).collect::<Result<Vec<_>>>()?;
        while begun.elapsed() < *self.time {
            thread::sleep(Duration::from_millis(rng.u64(20..400)));
            owner.check()?;
            readers.iter_mut().try_for_each(Crew::check)?;
            if rng.bool() || readers.is_empty() {
                owner.kill();
                owner = Crew::spawn(path, Role::Owner, &mut rng)?;
                owners_killed += 1;
            } else {
                let reader = rng.usize(..readers.len());
                readers[reader] = Crew::spawn(path, Role::Reader, &mut rng)?;
                readers_killed += 1;
            }
        }
        owner.kill();
        drop(readers);
        drop(working);
        let store = Store::open(path)?;
        worker::check_all(&store)?;
        let report = store.verify()?;
        if report.faults > 0 {
            return Err(Error::new(Kind::Corrupt, report.findings.join("; ")));
        }
        let usage = store.usage();
        let (records, written, moved) = (report.records, usage.written, usage.moved);
        Ok(Answer { seed, owners_killed, readers_killed, records, written, moved })
    }
}

/// A process at work, which ends with its handle.
struct Crew(Child);

impl Crew {
    fn spawn(path: &Path, role: Role, rng: &mut Rng) -> Result<Self> {
        let role = role.to_possible_value().expect("none is skipped");
        let child = Command::new(std::env::current_exe().doing("find this program")?)
            .args(["store", "stress", "--role", role.get_name(), "--seed", &rng.u64(..).to_string()])
            .arg(path)
            // It ends when this pipe does, so also when we are killed.
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .doing("start a process")?;
        Ok(Self(child))
    }

    /// Nobody ends by itself, but those who found something.
    fn check(&mut self) -> Result<()> {
        match self.0.try_wait().doing("wait for a process")? {
            None => Ok(()),
            Some(status) => Err(Error::new(Kind::Corrupt, format!("a process of the store ended with {status}"))),
        }
    }

    fn kill(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.kill();
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, owners_killed, readers_killed, records, .. } = self;
        writeln!(f, "sound: {records} records, after {owners_killed} owners and {readers_killed} readers were killed")?;
        writeln!(f, "seed {seed}")
    }
}
