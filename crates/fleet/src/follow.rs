//! Following: ask for the next version, fetch it, make it current when it may be.
//!
//! ```text
//!   ask for number+1 ──▶ wanted: the newest version that is not held, or is activated
//!        ▲               staged: the newest held version above it, fetched ahead
//!        │                   │
//!        └── sleep, jitter ◀─┴─ fetch ─▶ adopt (one rename) ─▶ report
//! ```
//! A poll of a follower that is up to date takes one request, and two while a version is held.

use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, Utc};
use hammerspace_error::{Error, Kind, Result};
use tokio::time::Instant;

use crate::fetch::{Moved, fetch};
use crate::local::Local;
use crate::manifest::{Manifest, Standing};
use crate::remote::Fleet;
use crate::report::{Report, check_name};

/// An unchanged report is written again after this long, so that status knows that the follower lives.
const REPORT_EVERY: Duration = Duration::from_mins(10);

/// How to follow.
#[derive(Clone, Debug)]
pub struct Follow {
    /// What the follower is called in reports; none are written without a name.
    pub name: Option<String>,
    /// Local versions that stay, the current one included.
    pub keep: usize,
    /// The one version to be at, whatever is published.
    pub pin: Option<u64>,
    /// Bytes a second, at most.
    pub rate: Option<u64>,
    /// The average time between two polls.
    pub every: Duration,
    /// For jitter.
    pub seed: u64,
}

impl Default for Follow {
    fn default() -> Self {
        Self { name: None, keep: 2, pin: None, rate: None, every: Duration::from_secs(30), seed: fastrand::u64(..) }
    }
}

/// What a follower is at and waits for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct State {
    /// The published version that is current here.
    pub current: Option<u64>,
    /// A held version that is fetched and verified, and waits for its activation.
    pub ready: Option<u64>,
    /// The newest version that it saw.
    pub newest: u64,
    /// When that one was published: an older current version lags by the time since.
    pub newest_published: Option<DateTime<Utc>>,
    /// Bytes fetched since it started.
    pub bytes: u64,
    /// Requests for parts since it started.
    pub requests: u64,
    /// Polls that failed since it started.
    pub failures: u64,
    /// In words.
    pub waits_for: String,
}

/// What one poll came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// Everything is as it was.
    Unchanged,
    /// A held version is ready.
    Ready(u64),
    /// This version is current now.
    Current(u64),
}

/// The one follower of a local space.
pub struct Follower {
    fleet: Fleet,
    local: Local,
    options: Follow,
    state: State,
    /// Whether the versions were listed since the last failure.
    is_caught_up: bool,
    wanted: Option<Manifest>,
    held: Option<Manifest>,
    rng: fastrand::Rng,
    reported: Option<(State, Instant)>,
}

impl Follower {
    /// Begins to follow into the space at `path`, which is made if it is not there.
    pub fn open(fleet: Fleet, path: &Path, options: Follow) -> Result<Self> {
        options.name.as_deref().map_or(Ok(()), check_name)?;
        if options.rate == Some(0) {
            return Err(Error::new(Kind::Invalid, "a rate of 0 bytes a second fetches nothing").remedy("give more"));
        }
        let local = Local::open(path, options.keep)?;
        let current = local.current()?.map(|manifest| manifest.number);
        let state = State {
            current,
            ready: None,
            newest: 0,
            newest_published: None,
            bytes: 0,
            requests: 0,
            failures: 0,
            waits_for: "the first answer of the store".into(),
        };
        let rng = fastrand::Rng::with_seed(options.seed);
        Ok(Self { fleet, local, options, state, is_caught_up: false, wanted: None, held: None, rng, reported: None })
    }

    /// What it is at.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Asks once, and does what there is to do. A failure leaves what is current as it was.
    pub async fn poll(&mut self) -> Result<Polled> {
        let polled = self.try_poll().await;
        if let Err(error) = &polled {
            self.state.failures += 1;
            self.is_caught_up = false;
            self.state.waits_for = error.to_string();
        }
        self.report().await;
        polled
    }

    async fn try_poll(&mut self) -> Result<Polled> {
        self.state.current = self.local.current()?.map(|manifest| manifest.number);
        self.look().await?;
        if let Some(wanted) = self.wanted.clone().filter(|wanted| !self.is_at(wanted)) {
            self.obtain(&wanted).await?;
            self.local.adopt()?;
            self.state.current = Some(wanted.number);
            self.state.ready = None;
            self.state.waits_for = "the next version".into();
            return Ok(Polled::Current(wanted.number));
        }
        let Some(held) = self.held.clone() else {
            self.state.waits_for = if self.wanted.is_some() { "the next version" } else { "the first version" }.into();
            self.state.ready = None;
            return Ok(Polled::Unchanged);
        };
        let was_ready = self.state.ready == Some(held.number);
        if !was_ready {
            self.obtain(&held).await?;
        }
        self.state.ready = Some(held.number);
        self.state.waits_for = format!("the activation of version {}", held.number);
        Ok(if was_ready { Polled::Unchanged } else { Polled::Ready(held.number) })
    }

    fn is_at(&self, manifest: &Manifest) -> bool {
        self.state.current == Some(manifest.number)
    }

    /// Finds out which version is wanted, and which is to be made ready.
    async fn look(&mut self) -> Result<()> {
        if let Some(pin) = self.options.pin {
            return self.look_at_pin(pin).await;
        }
        if !self.is_caught_up {
            return self.catch_up().await;
        }
        while let Some(manifest) = self.fleet.manifest(self.state.newest + 1).await? {
            if manifest.standing != Standing::Live {
                return self.catch_up().await;
            }
            self.saw(&manifest);
            if self.fleet.is_active(&manifest).await? {
                (self.wanted, self.held) = (Some(manifest), None);
            } else {
                self.held = Some(manifest);
            }
        }
        if let Some(held) = &self.held
            && self.fleet.is_active(held).await?
        {
            self.wanted = self.held.take();
        }
        Ok(())
    }

    /// Lists all versions: at the start, after a failure, and after a long absence.
    async fn catch_up(&mut self) -> Result<()> {
        let numbers = self.fleet.numbers().await?;
        self.wanted = self.fleet.newest_active(&numbers).await?;
        let newest = match numbers.last() {
            Some(number) => self.fleet.manifest(*number).await?,
            None => None,
        };
        self.held = None;
        if let Some(newest) = newest {
            self.saw(&newest);
            let is_active = self.wanted.as_ref().is_some_and(|wanted| wanted.number == newest.number);
            self.held = Some(newest).filter(|_| !is_active);
        }
        self.is_caught_up = true;
        Ok(())
    }

    async fn look_at_pin(&mut self, pin: u64) -> Result<()> {
        if self.wanted.as_ref().is_none_or(|wanted| wanted.number != pin) {
            let manifest = self.fleet.manifest(pin).await?.filter(|manifest| manifest.standing == Standing::Live);
            let manifest = manifest.ok_or_else(|| {
                Error::new(Kind::Missing, format!("{} has no version {pin} to be pinned to", self.fleet.url()))
                    .remedy("see `hammerspace fleet status`")
            })?;
            self.saw(&manifest);
            self.wanted = Some(manifest);
        }
        Ok(())
    }

    fn saw(&mut self, manifest: &Manifest) {
        self.state.newest = manifest.number;
        self.state.newest_published = Some(manifest.published);
    }

    /// Has this version staged, whole and verified.
    async fn obtain(&mut self, manifest: &Manifest) -> Result<()> {
        if self.local.staged()?.is_some_and(|staged| staged.push == manifest.push) {
            return Ok(());
        }
        self.state.ready = None;
        let mut moved = Moved::default();
        let fetched = fetch(&self.fleet, &self.local, manifest, self.options.rate, &mut moved).await;
        self.state.bytes += moved.bytes;
        self.state.requests += moved.requests;
        fetched
    }

    /// How long to sleep until the next poll: half to one and a half times the average, so that followers
    /// spread.
    pub fn pause(&mut self) -> Duration {
        self.options.every.mul_f64(0.5 + self.rng.f64())
    }

    /// Polls until the process ends; `told` hears of every change and of the first of several equal failures.
    pub async fn run(&mut self, mut told: impl FnMut(&State, Result<Polled>) -> Result<()>) -> Result<()> {
        let mut last_failure = None;
        // The whole fleet may have been started by one command.
        loop {
            match self.poll().await {
                Ok(Polled::Unchanged) if last_failure.take().is_none() => {}
                Err(error) if last_failure.as_deref() == Some(error.finding()) => {}
                polled => {
                    last_failure = polled.as_ref().err().map(|error| error.finding().to_owned());
                    told(&self.state, polled)?;
                }
            }
            let pause = self.pause();
            tokio::time::sleep(pause).await;
        }
    }

    /// Followers may lack the right to write reports; what they follow is no less current.
    async fn report(&mut self) {
        let Some(name) = self.options.name.clone() else { return };
        let is_recent = |(state, at): &(State, Instant)| *state == self.state && at.elapsed() < REPORT_EVERY;
        if self.reported.as_ref().is_some_and(is_recent) {
            return;
        }
        let report = Report::new(&name, &self.state, self.options.pin);
        // Failed or not, the next attempt waits for a change or its time.
        drop(report.write(&self.fleet).await);
        self.reported = Some((self.state.clone(), Instant::now()));
    }
}
