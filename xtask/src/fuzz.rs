//! `cargo xtask fuzz`: the checks over the corpus, then each target for a while, then the canary, which must fail.
//! `fuzz/README.md` says what the targets hold the readers against.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::program::{program, root, run, run_quietly, target_dir};
use crate::{Result, debian};

/// Each target, and how many inputs the suite tries on it: as many as took eight seconds of one core. A limit by the
/// clock would try more on a faster machine, and could turn an unrelated change red.
const TARGETS: [(&str, u32); 8] = [
    ("po", 400_000),
    ("mo", 800_000),
    ("json", 250_000),
    ("yaml", 100_000),
    ("log", 60_000),
    ("index", 180_000),
    ("hll", 150_000),
    ("stripe", 10_000),
];
/// Ample for the canary, which takes a second or two where coverage feedback works, and for ever where it does not.
const CANARY_SECONDS: u32 = 120;

/// The suite's seed. With maps that hash alike (`fuzz/src/chance.rs`) and code at the same addresses in every run, a
/// seed means the same inputs.
const SEED: u32 = 24_301;

#[derive(Args)]
pub(crate) struct Options {
    /// Seconds for each target, from where the last run ended
    #[arg(long, default_value_t = 15)]
    seconds: u32,
}

/// As much as a suite has time for, from the corpus on, and the same inputs each time.
pub(crate) fn smoke() -> Result {
    println!("seed {SEED}; other inputs are tried by `cargo xtask fuzz --seconds 3600`");
    run_all(|target, inputs_max, found| {
        // A fuzzer that reads its own finds again does so by the clock.
        let limits = vec![format!("-seed={SEED}"), format!("-runs={inputs_max}"), "-reload=0".into()];
        Ok((limits, emptied(found.join("seeded").join(target))?))
    })
}

/// Each target for as long as asked.
pub(crate) fn campaign(options: &Options) -> Result {
    run_all(|target, _, found| Ok((vec![max_total_time(options.seconds)], found.join(target))))
}

/// All targets within so many seconds.
pub(crate) fn for_seconds(seconds: u64) -> Result {
    let each = seconds / TARGETS.len() as u64;
    campaign(&Options { seconds: u32::try_from(each.max(1)).unwrap_or(u32::MAX) })
}

/// Runs each target with the limits and the directory of its own inputs that `plan` gives.
fn run_all(plan: impl Fn(&str, u32, &Path) -> Result<(Vec<String>, PathBuf)>) -> Result {
    debian::install(&debian::LIBFUZZER)?;
    run(&mut program("cargo test --quiet --manifest-path fuzz/Cargo.toml --lib"))?;
    let found = target_dir().join("fuzz");
    for (target, inputs_max) in TARGETS {
        // New inputs and failures go beside the build; the corpus is only read.
        let (limits, inputs) = plan(target, inputs_max, &found)?;
        fs::create_dir_all(&inputs).map_err(|cause| format!("{}: {cause}", inputs.display()))?;
        run_quietly(fuzzer(target, &found).args(limits).arg(inputs).arg(Path::new("corpus").join(target)))?;
    }
    canary(&found)
}

/// Removes what an earlier run left in a directory.
fn emptied(inputs: PathBuf) -> Result<PathBuf> {
    match fs::remove_dir_all(&inputs) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(format!("{}: {cause}", inputs.display())),
        _ => Ok(inputs),
    }
}

/// A fuzzer that finds no planted fault finds no other either.
fn canary(found: &Path) -> Result {
    match run_quietly(fuzzer("canary", found).arg(max_total_time(CANARY_SECONDS))) {
        Err(said) if said.contains("found, as it should be") => {
            println!("the canary's planted fault was found");
            Ok(())
        }
        Err(said) => Err(said),
        Ok(()) => Err("the canary's planted fault was not found: coverage feedback does not work".into()),
    }
}

/// Some containers refuse it; there, a run may try other inputs than the one before.
fn can_fix_addresses() -> bool {
    program("setarch --addr-no-randomize true").status().is_ok_and(|status| status.success())
}

fn max_total_time(seconds: u32) -> String {
    format!("-max_total_time={seconds}")
}

/// Run from its own directory, whose `.cargo/config.toml` has the flags for coverage.
fn fuzzer(target: &str, found: &Path) -> Command {
    let mut command = if can_fix_addresses() { program("setarch --addr-no-randomize cargo") } else { program("cargo") };
    command.args(["run", "--quiet", "--release", "--bin"]);
    command.current_dir(root().join("fuzz")).env_remove("RUSTFLAGS").args([
        target,
        "--",
        "-verbosity=0",
        "-max_len=4096",
    ]);
    command.args(["-timeout=10", "-rss_limit_mb=512"]);
    command.arg(format!("-artifact_prefix={}/", found.display()));
    command
}
