//! `cargo xtask campaign`: the random tests, for hours and with new seeds. The suite runs the same tests briefly with
//! fixed seeds. `docs/design/campaigns.md` says how a find becomes a case of the corpus.

use std::time::{Duration, Instant, SystemTime};

use clap::Args;

use crate::program::{program, run};
use crate::{Result, fuzz};

/// A name, and what runs for so many seconds.
type Campaign = (&'static str, fn(u64) -> Result);

const CAMPAIGNS: [Campaign; 4] = [
    ("fuzz", fuzz::for_seconds),
    ("schedules", |seconds| rounds(seconds, "cargo test --quiet --package hammerspace-memory --lib schedules")),
    ("histories", |seconds| rounds(seconds, "cargo test --quiet --package hammerspace-memory --test it histories")),
    ("stress", stress),
];

#[derive(Args)]
pub(crate) struct Options {
    /// Hours in all, shared evenly by the campaigns
    #[arg(long, default_value_t = 1.0)]
    hours: f64,
    /// fuzz, schedules, histories or stress; all of them where none is given
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

/// Runs the campaigns one after the other. The first find ends the run.
pub(crate) fn run_all(options: &Options) -> Result {
    let chosen = chosen(&options.names)?;
    let hours = Duration::try_from_secs_f64(options.hours * 3600.0)
        .map_err(|cause| format!("--hours {}: {cause}", options.hours))?;
    let share = hours.as_secs() / chosen.len() as u64;
    for (name, work) in chosen {
        println!("== {name}, for {share} s");
        work(share).map_err(|finding| format!("{name}: {finding}"))?;
    }
    Ok(())
}

fn chosen(names: &[String]) -> Result<Vec<Campaign>> {
    if let Some(unknown) = names.iter().find(|name| CAMPAIGNS.iter().all(|(known, _)| known != name)) {
        let known = CAMPAIGNS.map(|(name, _)| name).join(", ");
        return Err(format!("no campaign is called {unknown:?}; choose among {known}"));
    }
    let is_chosen = |(name, _): &Campaign| names.is_empty() || names.iter().any(|wanted| wanted == name);
    Ok(CAMPAIGNS.into_iter().filter(is_chosen).collect())
}

/// Runs a test again and again, each time with a new seed and ten times the suite's work.
fn rounds(seconds: u64, test: &str) -> Result {
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut seed = new_seed();
    while Instant::now() < end {
        println!("HAMMERSPACE_SEED={seed}");
        let more = [("HAMMERSPACE_SCHEDULES", "10000"), ("HAMMERSPACE_CHANGES", "20000")];
        run(program(test).env("HAMMERSPACE_SEED", seed.to_string()).envs(more))?;
        // Schedules use consecutive seeds.
        seed += 10_000;
    }
    Ok(())
}

/// The command draws a seed, and prints it with a find.
fn stress(seconds: u64) -> Result {
    run(program("cargo run --quiet --release --package hammerspace-cli -- store stress --time")
        .arg(format!("{seconds}s")))
}

fn new_seed() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn campaigns_are_chosen_by_name() {
        let names = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
            chosen(&words).map(|campaigns| campaigns.iter().map(|(name, _)| *name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap().len(), CAMPAIGNS.len());
        assert_eq!(names(&["stress", "fuzz"]).unwrap(), ["fuzz", "stress"]);
        assert!(names(&["stres"]).unwrap_err().contains("histories"));
    }
}
