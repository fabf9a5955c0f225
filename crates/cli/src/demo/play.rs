//! The run, from loading to the report.

use std::path::Path;
use std::time::{Duration, Instant};

use hammerspace_error::Result;
use indicatif::{DecimalBytes, HumanCount};

use super::crew::Crew;
use super::data::Data;
use super::data_source::Source;
use super::report::{Half, Report};
use super::scratch::Scratch;
use super::screen::Screen;
use super::swap::{self, Swaps};
use super::talk::{Event, Order};
use super::traffic::{self, Place};
use super::{latency, words};

/// A measurement that is cut shorter than this measures nothing.
const SHORTEST: Duration = Duration::from_millis(200);

/// Everything a run needs.
pub(super) struct Play {
    workers: usize,
    screen: Screen,
    data: Data,
    scratch: Scratch,
    /// When it should be over.
    end: Instant,
}

impl Play {
    pub(super) fn new(workers: usize, time: Duration, screen: Screen, data: Data, scratch: Scratch) -> Self {
        Self { workers, screen, data, scratch, end: Instant::now() + time }
    }

    pub(super) fn run(&self) -> Result<Report> {
        let space = self.scratch.path().join("space");
        let (keys, places) = self.load(&space)?;
        let hash_map = self.own(&places)?;
        let (space, swap) = self.shared(&space, &places)?;
        Ok(Report { workers: self.workers, keys, hash_map, space, swap })
    }

    /// Loads the space, and writes down what to ask for. The handle is dropped before a worker starts: pages that we map
    /// would count as ours in part, and the workers would look smaller than they are.
    fn load(&self, path: &Path) -> Result<(u64, Vec<Place>)> {
        let start = Instant::now();
        let space = swap::open_to_write(path)?;
        let (mut writer, mut text) = (space.replace()?, 0);
        self.data.read(&mut |key, value| {
            text += (key.len() + value.len()) as u64;
            writer.put(key, value)
        })?;
        writer.publish()?;
        space.refresh()?;
        let took = words::time(start.elapsed());
        let (keys, locales, text) = (HumanCount(space.len()), self.data.locales()?, DecimalBytes(text));
        self.screen.result(&format!("{keys} translations in {locales} locales, {text}, from {}.", self.data.origin));
        self.screen.result(&format!("One process loaded them into a space, once, in {took}."));
        let places = traffic::write(&space.snapshot(), &self.scratch.path().join("traffic"), self.workers)?;
        Ok((space.len(), places))
    }

    fn own(&self, places: &[Place]) -> Result<Half> {
        let title = format!("1  {} workers, each with a HashMap of its own", self.workers);
        self.screen.step(&title, "Each loads everything for itself, then reads random keys as fast as it can.");
        let (_, half) = self.half(&Source::Files(self.data.clone()), places)?;
        Ok(half)
    }

    fn shared(&self, path: &Path, places: &[Place]) -> Result<(Half, Swaps)> {
        let title = format!("2  {} workers on one space", self.workers);
        self.screen.step(&title, "Each opens the space, which maps the same memory into all of them. Then as before.");
        let (mut crew, half) = self.half(&Source::Space(path.into()), places)?;
        let title = "3  New versions, published while all of them read";
        self.screen
            .step(title, "Every value changes. Each worker takes the newest version before each request of 20 reads.");
        let swaps = swap::run(&mut crew, path, self.end)?;
        let (longest, versions) = (words::time(swaps.longest()), swaps.delays.len());
        self.screen.result(&format!("Versions: {versions}. Each was seen by every worker within {longest}."));
        Ok((half, swaps))
    }

    /// Starts workers and measures them.
    fn half(&self, source: &Source, places: &[Place]) -> Result<(Crew<'_>, Half)> {
        let start = Instant::now();
        let mut crew = Crew::start(source, places, self.screen.live(self.workers))?;
        let mut opened = crew.hear(|event| if let Event::Ready { open_ns } = event { Some(open_ns) } else { None })?;
        let ready = start.elapsed();
        crew.tell(&Order::Touch)?;
        crew.hear(|event| matches!(event, Event::Touched).then_some(()))?;
        let pss = crew.pss();
        let laps = self.time(&mut crew)?;
        let (p50, p99) = latency::p50_p99(&laps)?;
        opened.sort_unstable();
        let open = Duration::from_nanos(opened[opened.len() / 2]);
        self.screen.result(&format!(
            "All ready in {}, {} together, {} reads timed one by one.",
            words::time(ready),
            words::bytes(pss),
            HumanCount(laps.iter().map(|(_, reads)| u64::from(*reads)).sum()),
        ));
        Ok((crew, Half { pss, ready, open, p50, p99 }))
    }

    /// Lets all workers time their reads for a while; gives what all of them timed.
    fn time(&self, crew: &mut Crew) -> Result<Vec<(u64, u32)>> {
        crew.tell(&Order::Time)?;
        crew.wait(self.quarter())?;
        crew.tell(&Order::Rest)?;
        let laps = crew.hear(|event| if let Event::Timed { laps } = event { Some(laps) } else { None })?;
        Ok(laps.concat())
    }

    /// A quarter of the time that is left.
    fn quarter(&self) -> Duration {
        (self.end.saturating_duration_since(Instant::now()) / 4).max(SHORTEST)
    }
}
