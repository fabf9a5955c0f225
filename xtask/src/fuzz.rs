//! `cargo xtask fuzz`: the checks over the corpus, then each target for a while, then the canary, which must fail.
//! `fuzz/README.md` says what the targets hold the readers against.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::program::{program, root, run, run_quietly, target_dir};
use crate::{Result, debian};

const TARGETS: [&str; 8] = ["po", "mo", "json", "yaml", "log", "index", "hll", "stripe"];
/// Ample for the canary, which takes a second or two where coverage feedback works, and for ever where it does not.
const CANARY_SECONDS: u32 = 120;

/// The suite's seed. A run that draws its own could turn an unrelated change red.
const SEED: u32 = 24_301;

#[derive(Args)]
pub(crate) struct Options {
    /// Seconds for each target
    #[arg(long, default_value_t = 15)]
    seconds: u32,
    /// Try the same inputs each time, from the corpus on; without a seed, go on from where the last run ended
    #[arg(long)]
    seed: Option<u32>,
}

/// As much as a suite has time for, and the same each time.
pub(crate) fn smoke() -> Result {
    println!("seed {SEED}; other inputs are tried by `cargo xtask fuzz --seconds 3600`");
    run_all(&Options { seconds: 15, seed: Some(SEED) })
}

pub(crate) fn run_all(options: &Options) -> Result {
    debian::install(&debian::LIBFUZZER)?;
    run(&mut program("cargo test --quiet --manifest-path fuzz/Cargo.toml --lib"))?;
    let found = target_dir().join("fuzz");
    for target in TARGETS {
        // New inputs and failures go beside the build; the corpus is only read.
        let inputs = match options.seed {
            Some(_) => emptied(found.join("seeded").join(target))?,
            None => found.join(target),
        };
        fs::create_dir_all(&inputs).map_err(|cause| format!("{}: {cause}", inputs.display()))?;
        let mut fuzzer = fuzzer(target, &found, options.seconds);
        fuzzer.args(options.seed.map(|seed| format!("-seed={seed}")));
        run_quietly(fuzzer.arg(inputs).arg(Path::new("corpus").join(target)))?;
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
    match run_quietly(&mut fuzzer("canary", found, CANARY_SECONDS)) {
        Err(said) if said.contains("found, as it should be") => {
            println!("the canary's planted fault was found");
            Ok(())
        }
        Err(said) => Err(said),
        Ok(()) => Err("the canary's planted fault was not found: coverage feedback does not work".into()),
    }
}

/// Run from its own directory, whose `.cargo/config.toml` has the flags for coverage.
fn fuzzer(target: &str, found: &Path, seconds: u32) -> Command {
    let mut command = program("cargo run --quiet --release --bin");
    command.current_dir(root().join("fuzz")).env_remove("RUSTFLAGS").args([
        target,
        "--",
        "-verbosity=0",
        "-max_len=4096",
    ]);
    command.args(["-timeout=10", "-rss_limit_mb=512"]).arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-artifact_prefix={}/", found.display()));
    command
}
