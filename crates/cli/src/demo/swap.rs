//! New versions, published while all workers read at full rate.

use std::path::Path;
use std::time::{Duration, Instant};

use hammerspace::{Durability, Options, Space};
use hammerspace_error::Result;
use hammerspace_os::clock;

use super::crew::Crew;
use super::talk::{Event, Order};
use super::tally::{Tally, marked};

/// Publications, if time allows. One would do; more show that it was no luck.
const PUBLICATIONS: u64 = 5;
/// Between two publications the workers read in peace for so long.
const PEACE: Duration = Duration::from_millis(150);

/// What came of it.
pub(super) struct Swaps {
    /// How long the last worker took to see each publication.
    pub(super) delays: Vec<Duration>,
    /// Of all workers together.
    pub(super) tally: Tally,
}

impl Swaps {
    /// The longest that a worker took to see a version.
    pub(super) fn longest(&self) -> Duration {
        self.delays.iter().max().copied().unwrap_or_default()
    }

    /// Whether each request saw one version, and each read its key.
    pub(super) fn nobody_missed_a_beat(&self) -> bool {
        self.tally.mixed == 0 && self.tally.missed == 0
    }
}

/// A handle for the writing side. What it publishes can be loaded again, so there is no need to wait for the disk; and the
/// clock starts when `publish` returns, which with a sync would be long after readers can see the version.
pub(super) fn open_to_write(path: &Path) -> Result<Space> {
    Options::new().durability(Durability::None).create(path)
}

/// Publishes at least one version, and more until `end`.
pub(super) fn run(crew: &mut Crew, path: &Path, end: Instant) -> Result<Swaps> {
    let space = open_to_write(path)?;
    let mut delays = Vec::new();
    crew.tell(&Order::Watch)?;
    for version in 1..=PUBLICATIONS {
        let start = Instant::now();
        crew.wait(PEACE)?;
        delays.push(swap(crew, &space, version)?);
        if Instant::now() + start.elapsed() > end {
            break;
        }
    }
    crew.wait(PEACE)?;
    crew.tell(&Order::Rest)?;
    let tallies = crew.hear(|event| if let Event::Watched(tally) = event { Some(tally) } else { None })?;
    Ok(Swaps { delays, tally: tallies.iter().fold(Tally::default(), Tally::and) })
}

/// Publishes a version, and waits until the last worker has seen it. The delay counts from the moment that `publish`
/// returned, or that the first worker saw it, should that be earlier: `publish` has some tidying to do.
fn swap(crew: &mut Crew, space: &Space, version: u64) -> Result<Duration> {
    publish(space, version)?;
    let published = clock::precise();
    let seen = crew.hear(|event| match event {
        Event::Saw { version: seen, at_ns } if seen == version => Some(Duration::from_nanos(at_ns)),
        _ => None,
    })?;
    let first = seen.iter().fold(published, |first, seen| first.min(*seen));
    Ok(seen.into_iter().max().unwrap_or_default().saturating_sub(first))
}

/// Every value changes.
fn publish(space: &Space, version: u64) -> Result<()> {
    let mut writer = space.replace()?;
    space.refresh()?;
    for pair in &space.snapshot() {
        let (key, value) = pair?;
        writer.put(&key, marked(&value, version))?;
    }
    writer.publish().map(drop)
}
