//! `hammerspace store stress`: a store whose owner and readers are killed at random, and which must be sound all the while.
//!
//! ```text
//! this process:  spawns ─► owner: threads that write        killed by chance ─► every key is as the board says ─► verify ─► the next
//!                       └► readers: check what they read    killed by chance
//! ```
//!
//! What a value must be follows from its key and the number of its changes (`values.rs`), which stands on a board that no death takes
//! away (`board.rs`): so a reader knows a torn value, another key's, and one that has gone back; and this process a change that was
//! completed and lost with its owner.

mod board;
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
use hammerspace::store::{Options, TableOptions, Usage};
use hammerspace_error::{Doing, Error, Kind, Result};
use serde::Serialize;

use self::worker::Work;
use crate::exit::Outcome;
use crate::output::Output;
use crate::progress::Progress;

/// Two tables: numbers change in place where records have no versions.
const TABLES: [&str; 2] = ["default", "plain"];

/// Write, read and kill at random for a while, and verify what the dead leave
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
    #[arg(long, hide = true, requires_all = ["store", "board"])]
    role: Option<Role>,
    /// The directory that it finds the board in
    #[arg(long, hide = true)]
    board: Option<PathBuf>,
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
        if let (Some(role), Some(store), Some(board)) = (self.role, &self.store, &self.board) {
            return worker::run(role, store, board, seed);
        }
        let scratch = tempfile::tempdir().doing("make a temporary directory")?;
        let path = self.store.clone().unwrap_or_else(|| scratch.path().join("store"));
        let limit = self.limit.as_u64();
        let options = Options { region: self.region.clone(), ..Options::with_limit(limit) };
        let store = Store::create(&path, &options)?;
        store.create_table(TABLES[1], TableOptions { versions: false, ..TableOptions::default() })?;
        drop(Work::begin(store, scratch.path())?);
        let scene = Scene { store: &path, board: scratch.path() };
        let ended = self.play(scene, seed).map_err(|error| {
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

    fn play(&self, scene: Scene<'_>, seed: u64) -> Result<Answer> {
        let working = Progress::unknown("stress");
        let (mut rng, begun) = (Rng::with_seed(seed), Instant::now());
        let (mut owners_killed, mut readers_killed) = (0, 0);
        let mut owner = scene.spawn(Role::Owner, &mut rng)?;
        let mut readers = (0..self.readers).map(|_| scene.spawn(Role::Reader, &mut rng)).collect::<Result<Vec<_>>>()?;
        while begun.elapsed() < *self.time {
            thread::sleep(Duration::from_millis(rng.u64(20..400)));
            owner.check()?;
            readers.iter_mut().try_for_each(Crew::check)?;
            if rng.bool() || readers.is_empty() {
                owner.kill();
                scene.settle()?;
                owner = scene.spawn(Role::Owner, &mut rng)?;
                owners_killed += 1;
            } else {
                let reader = rng.usize(..readers.len());
                readers[reader] = scene.spawn(Role::Reader, &mut rng)?;
                readers_killed += 1;
            }
        }
        owner.kill();
        let (records, usage) = scene.settle()?;
        readers.iter_mut().try_for_each(Crew::check)?;
        drop(readers);
        drop(working);
        let (written, moved) = (usage.written, usage.moved);
        Ok(Answer { seed, owners_killed, readers_killed, records, written, moved })
    }
}

/// Where it all takes place.
#[derive(Clone, Copy)]
struct Scene<'p> {
    store: &'p Path,
    /// The directory of the board.
    board: &'p Path,
}

impl Scene<'_> {
    fn spawn(self, role: Role, rng: &mut Rng) -> Result<Crew> {
        let role = role.to_possible_value().expect("none is skipped");
        let child = Command::new(std::env::current_exe().doing("find this program")?)
            .args(["store", "stress", "--role", role.get_name(), "--seed", &rng.u64(..).to_string(), "--board"])
            .args([self.board, self.store])
            // It ends when this pipe does, so also when we are killed.
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .doing("start a process")?;
        Ok(Crew(child))
    }

    /// Adopts what an owner left that was killed, and looks at everything. Gives how many records there are.
    fn settle(self) -> Result<(u64, Usage)> {
        let work = Work::on(Store::open(self.store)?, self.board)?;
        work.settle()?;
        let report = work.store.verify()?;
        if report.faults > 0 {
            return Err(Error::new(Kind::Corrupt, report.findings.join("; ")));
        }
        Ok((report.records, work.store.usage()))
    }
}

/// A process at work, which ends with its handle.
struct Crew(Child);

impl Crew {
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

#[cfg(test)]
mod tests {
    use hammerspace::store::Table;

    use super::*;

    /// In the second table: one in parts, one that is put, one that is appended to, one that counts.
    const KEYS: [u64; 4] = [1024, 3, 4, 5];

    /// What comes of looking at a store of which some keys were changed so often, and with which somebody has tampered.
    fn settle(changes: u64, tamper: impl FnOnce(&Table)) -> Result<()> {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::anonymous(&Options { cleaners: 0, writers: 1, ..Options::with_limit(8 << 20) }).unwrap();
        let table = store.create_table(TABLES[1], TableOptions { versions: false, ..TableOptions::default() }).unwrap();
        let work = Work::begin(store, scratch.path()).unwrap();
        for key in KEYS {
            (0..changes).for_each(|_| work.change((1, key)).unwrap());
            assert_eq!(table.get(key).unwrap().map(|value| value.bytes), values::after(key, changes));
        }
        work.settle()?;
        tamper(&table);
        let settled = work.settle();
        assert_eq!(work.store.verify().unwrap().findings, Vec::<String>::new());
        settled
    }

    #[test]
    fn all_changes_come_to_what_they_should() {
        for changes in [0, 1, 7, 8, 16, 24, 25, 301] {
            settle(changes, |_| ()).unwrap();
        }
    }

    /// A harness that cannot see these cannot see any.
    #[test]
    fn canary_a_lost_change_is_noticed() {
        for key in KEYS {
            let lost = |tamper: &dyn Fn(&Table)| settle(12, tamper).unwrap_err().to_string();
            let is_named = |said: &str| said.contains(&format!("key {key} of table plain"));
            let gone = lost(&|table| assert!(table.delete(key).unwrap()));
            assert!(is_named(&gone) && gone.contains("is not there after none of its changes 12 to 12"), "{gone}");
            let before = values::after(key, 11).unwrap();
            let stale = lost(&|table| assert!(table.put(key, &before).is_ok()));
            assert!(is_named(&stale) && stale.contains("has these"), "{stale}");
            let torn = lost(&|table| assert!(table.put(key, &before[1..]).is_ok()));
            assert!(is_named(&torn), "{torn}");
        }
    }
}
