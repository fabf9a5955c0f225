//! The workers as the demo has them: processes that are told what to do, and listened to.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use hammerspace_error::{Doing, Error, Kind, Result};

use super::data_source::Source;
use super::memory;
use super::screen::Live;
use super::talk::{Event, Job, Order};
use super::traffic::Place;

/// A worker that says nothing for so long will never say anything.
const PATIENCE: Duration = Duration::from_mins(2);
/// How often the screen moves though nobody says anything.
const TICK: Duration = Duration::from_millis(100);

/// Running workers. Dropping it ends them: they hold nothing that could be lost.
pub(super) struct Crew<'a> {
    workers: Vec<Worker>,
    events: Receiver<(usize, Event)>,
    live: Live<'a>,
    /// Whether memory is looked at while we wait. That slows workers down, so not while they are timed.
    weighing: bool,
}

struct Worker {
    process: Child,
    orders: ChildStdin,
}

impl<'a> Crew<'a> {
    /// Starts one worker per place.
    pub(super) fn start(source: &Source, places: &[Place], live: Live<'a>) -> Result<Self> {
        let (sender, events) = mpsc::channel();
        let mut crew = Self { workers: Vec::new(), events, live, weighing: true };
        for (index, place) in places.iter().enumerate() {
            let worker = Worker::start(index, sender.clone()).doing("start a worker")?;
            crew.workers.push(worker);
            crew.workers[index].tell(&Order::Begin(Job { source: source.clone(), place: place.clone() }))?;
        }
        Ok(crew)
    }

    /// Tells everybody.
    pub(super) fn tell(&mut self, order: &Order) -> Result<()> {
        self.weighing = !matches!(order, Order::Time | Order::Watch);
        self.workers.iter_mut().try_for_each(|worker| worker.tell(order))
    }

    /// Waits until each worker has said what `wanted` looks for; gives it in the order of the workers.
    pub(super) fn hear<T>(&mut self, wanted: impl Fn(Event) -> Option<T>) -> Result<Vec<T>> {
        let mut heard: Vec<Option<T>> = self.workers.iter().map(|_| None).collect();
        let patience = Instant::now() + PATIENCE;
        while heard.iter().any(Option::is_none) {
            match self.next(TICK)? {
                Some((worker, event)) => heard[worker] = wanted(event).or(heard[worker].take()),
                None if Instant::now() > patience => return Err(silent()),
                None => {}
            }
        }
        Ok(heard.into_iter().flatten().collect())
    }

    /// Lets them work for so long.
    pub(super) fn wait(&mut self, time: Duration) -> Result<()> {
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            self.next(left.min(TICK))?;
        }
        Ok(())
    }

    /// What somebody says within `time`; what only the screen wants to know goes there.
    fn next(&mut self, time: Duration) -> Result<Option<(usize, Event)>> {
        let said = self.events.recv_timeout(time);
        if self.weighing {
            self.live.glance(self.workers.iter().map(|worker| worker.process.id()));
        }
        match said {
            Ok((worker, Event::Failed { message })) => return Err(failed(worker, &message)),
            Ok((worker, Event::Pace { per_second })) => self.live.pace(worker, per_second),
            Ok((worker, said)) => {
                if let Event::Saw { version, .. } = said {
                    self.live.saw(worker, version);
                }
                return Ok(Some((worker, said)));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(silent()),
        }
        Ok(None)
    }

    /// Memory of all of them together.
    pub(super) fn pss(&mut self) -> Option<u64> {
        let pss: Vec<Option<u64>> = self.pids().map(memory::pss).collect();
        self.live.weighed(&pss);
        pss.into_iter().sum()
    }

    fn pids(&self) -> impl Iterator<Item = u32> {
        self.workers.iter().map(|worker| worker.process.id())
    }
}

impl Worker {
    fn start(index: usize, to: Sender<(usize, Event)>) -> std::io::Result<Self> {
        let mut process = Command::new(env::current_exe()?)
            .args(["demo", "--worker"])
            // Ctrl-C reaches the demo alone; its workers end in order, with their input.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (orders, events) = (process.stdin.take(), process.stdout.take());
        let (Some(orders), Some(events)) = (orders, events) else { unreachable!("both are piped") };
        thread::spawn(move || listen(index, events, &to));
        Ok(Self { process, orders })
    }

    fn tell(&mut self, order: &Order) -> Result<()> {
        let mut line = serde_json::to_vec(order).map_err(std::io::Error::from).doing("word an order")?;
        line.push(b'\n');
        self.orders.write_all(&line).doing("give an order to a worker")
    }
}

/// Passes on what a worker says, and that it has ended.
fn listen(worker: usize, events: ChildStdout, to: &Sender<(usize, Event)>) {
    for line in BufReader::new(events).lines().map_while(std::io::Result::ok) {
        let event = serde_json::from_str(&line).unwrap_or(Event::Failed { message: line });
        if to.send((worker, event)).is_err() {
            return;
        }
    }
    // If nobody listens, nobody needs to know.
    let _ = to.send((worker, Event::Failed { message: "it has ended before it was done".into() }));
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A worker that is gone already is as good.
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

fn failed(worker: usize, message: &str) -> Error {
    Error::new(Kind::Io, format!("worker {}: {message}", worker + 1))
}

fn silent() -> Error {
    Error::new(Kind::Busy, format!("a worker said nothing for {} s", PATIENCE.as_secs()))
        .remedy("try fewer --workers, or a less busy machine")
}
