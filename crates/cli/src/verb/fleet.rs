//! `hammerspace fleet …`: what follows a URL, seen and steered.

use std::fmt;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use hammerspace_error::Result;
use hammerspace_fleet::{Activation, Collected, Fleet, Report, Status, activate, gc, probe, rollback, run, status};
use indicatif::HumanBytes;
use serde::Serialize;
use serde_json::json;

use crate::exit::Outcome;
use crate::output::Output;

#[derive(Subcommand)]
pub(crate) enum Verb {
    Status(Place),
    Activate(Activate),
    Rollback(Rollback),
    Gc(Gc),
    Check(Check),
}

/// Show the newest version, the active one, and what followers reported within the hour
#[derive(Args)]
#[command(after_help = "Example: hammerspace fleet status s3://tables/words")]
pub(crate) struct Place {
    /// Where it is published: s3://bucket/prefix or file:///directory
    url: String,
}

/// Have all followers make a held version current
#[derive(Args)]
#[command(after_help = "Example: hammerspace fleet activate s3://tables/words --ready 95")]
pub(crate) struct Activate {
    #[command(flatten)]
    place: Place,
    /// The version [default: the newest, if it is held]
    version: Option<u64>,
    /// Refuse while fewer percent of the followers have it ready
    #[arg(long, value_name = "PERCENT", default_value_t = 100, value_parser = clap::value_parser!(u64).range(..=100))]
    ready: u64,
}

/// Publish the data of an older version as a new one
#[derive(Args)]
#[command(after_help = "Example: hammerspace fleet rollback s3://tables/words 41")]
pub(crate) struct Rollback {
    #[command(flatten)]
    place: Place,
    /// The version [default: the last with other data than the newest]
    version: Option<u64>,
    /// Have followers fetch it, and wait for `hammerspace fleet activate`
    #[arg(long)]
    hold: bool,
}

/// Remove old versions, and parts that no version needs
///
/// A version is retired first; its parts go in a later run, when the grace period has passed once more.
#[derive(Args)]
#[command(after_help = "Example: hammerspace fleet gc s3://tables/words --keep 10 --dry-run")]
pub(crate) struct Gc {
    #[command(flatten)]
    place: Place,
    /// The newest versions, which stay
    #[arg(long, value_name = "N", default_value_t = 10)]
    keep: usize,
    /// How long what was named stays, 24h or more
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = humantime::parse_duration)]
    grace: Duration,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

/// Find out whether a store is safe to publish to: whether its conditional put is atomic
#[derive(Args)]
#[command(after_help = "Example: hammerspace fleet check s3://tables/words")]
pub(crate) struct Check {
    #[command(flatten)]
    place: Place,
}

impl Verb {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        match self {
            Self::Status(place) => out.answer(&Shown(run(status(&place.fleet()?))?))?,
            Self::Activate(verb) => {
                let version = run(activate(&verb.place.fleet()?, verb.version, verb.ready))?;
                out.done(&Version { version, what: "active" })?;
            }
            Self::Rollback(verb) => {
                let activation = if verb.hold { Activation::Held } else { Activation::Immediate };
                let version = run(rollback(&verb.place.fleet()?, verb.version, activation))?;
                out.done(&Version { version, what: "published" })?;
            }
            Self::Gc(verb) => {
                let now = SystemTime::now().into();
                let collected = run(gc(&verb.place.fleet()?, verb.keep, verb.grace, now, verb.dry_run))?;
                out.answer(&Removed { collected, dry_run: verb.dry_run })?;
            }
            Self::Check(verb) => {
                run(probe(&verb.place.fleet()?))?;
                if out.json() {
                    out.object(&json!({ "safe": true }))?;
                } else {
                    out.bytes(b"safe to publish to\n")?;
                }
            }
        }
        Ok(Outcome::Found)
    }
}

impl Place {
    fn fleet(&self) -> Result<Fleet> {
        Fleet::open(&self.url)
    }
}

#[derive(Serialize)]
struct Version {
    version: u64,
    #[serde(skip)]
    what: &'static str,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "version {} is {}", self.version, self.what)
    }
}

#[derive(Serialize)]
struct Removed {
    #[serde(flatten)]
    collected: Collected,
    dry_run: bool,
}

impl fmt::Display for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Collected { retired, removed, parts, bytes } = self.collected;
        let would = if self.dry_run { "would be " } else { "" };
        let bytes = HumanBytes(bytes);
        writeln!(f, "versions {would}retired: {retired}, removed: {removed}; parts {would}removed: {parts}, {bytes}")
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Shown(Status);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Status { newest, active, held, followers, current_percent, ready_percent } = &self.0;
        let number = |version: &Option<u64>| version.map_or("none".into(), |version| format!("{version}"));
        writeln!(f, "newest {}, active {}, held {}", number(newest), number(active), number(held))?;
        write!(f, "{} followers within the hour, {current_percent} % at the active version", followers.len())?;
        writeln!(f, "{}", if held.is_some() { format!(", {ready_percent} % ready") } else { String::new() })?;
        followers.iter().try_for_each(|report| {
            let Report { name, current, lag, failures, waits_for, pin, .. } = report;
            let pin = if pin.is_some() { ", pinned" } else { "" };
            let current = number(current);
            writeln!(f, "{name}: version {current}{pin}, {lag} s behind, {failures} failures; waits for {waits_for}")
        })
    }
}
