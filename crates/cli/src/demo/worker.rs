//! A worker: what a server process does with translations, without the server.
//!
//! It keeps its own memory small, since that is what is measured: no list of keys, no results that grow.

use std::hint::black_box;
use std::io::{self, BufRead};
use std::process;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::clock;

use super::data_source::{DataSource, Version};
use super::latency::Stopwatch;
use super::talk::{Event, Job, Order};
use super::tally::Tally;
use super::traffic::Traffic;
use super::words::per_second;
use crate::exit::Outcome;
use crate::output::Output;

/// How often a busy worker says how fast it is.
const PULSE: Duration = Duration::from_millis(100);
/// How long a worker that looks out for versions keeps the processor. A server waits for its next request now and then, and
/// others run. Without that, nine processes on two cores would tell the length of the kernel's time slices: a worker sees
/// nothing while it waits for those of all the others. Where reads are timed there is no such break: the more often
/// processes take turns, the more they drive each other's maps from the caches, and we do not want to win by that.
const TURN: Duration = Duration::from_millis(1);

/// Does as told until its standard input ends.
pub(super) fn run(out: &mut Output) -> Result<Outcome> {
    let orders = listen();
    match Worker::begin(&orders, out).and_then(|mut worker| worker.work()) {
        Ok(()) => {}
        Err(error) => say(out, &Event::Failed { message: error.to_string() })?,
    }
    Ok(Outcome::Found)
}

/// Takes orders in a thread of its own: an order ends what is being done, and the end of the orders ends the process.
fn listen() -> Receiver<Order> {
    let (sender, orders) = mpsc::channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(io::Result::ok) {
            let Ok(order) = serde_json::from_str(&line) else { break };
            if sender.send(order).is_err() {
                break;
            }
        }
        process::exit(0);
    });
    orders
}

fn say(out: &mut Output, event: &Event) -> Result<()> {
    out.object(event)?;
    out.flush()
}

struct Worker<'a> {
    data: DataSource,
    traffic: Traffic,
    orders: &'a Receiver<Order>,
    out: &'a mut Output,
}

impl<'a> Worker<'a> {
    fn begin(orders: &'a Receiver<Order>, out: &'a mut Output) -> Result<Self> {
        let Ok(Order::Begin(Job { source, place })) = orders.recv() else { return Err(alone()) };
        let mut traffic = Traffic::from(&place)?;
        let start = Instant::now();
        let data = DataSource::open(&source)?;
        let open_ns = start.elapsed().as_nanos() as u64;
        let newest = data.newest()?;
        traffic.request()?.iter().try_for_each(|key| read(&newest, key))?;
        drop(newest);
        say(out, &Event::Ready { open_ns })?;
        Ok(Self { data, traffic, orders, out })
    }

    fn work(&mut self) -> Result<()> {
        let mut order = Order::Rest;
        loop {
            order = match order {
                Order::Time => self.time()?,
                Order::Watch => self.watch()?,
                Order::Touch => {
                    self.data.touch()?;
                    say(self.out, &Event::Touched)?;
                    self.await_order()?
                }
                Order::Rest | Order::Begin(_) => self.await_order()?,
            };
        }
    }

    fn await_order(&self) -> Result<Order> {
        self.orders.recv().map_err(|_| alone())
    }

    /// Times every read. What it takes to get the newest version is part of the first read of each request.
    fn time(&mut self) -> Result<Order> {
        let (mut stopwatch, mut pulse) = (Stopwatch::new(), Pulse::new());
        loop {
            if let Ok(order) = self.orders.try_recv() {
                say(self.out, &Event::Timed { laps: stopwatch.laps() })?;
                return Ok(order);
            }
            let keys = self.traffic.request()?;
            stopwatch.start();
            let newest = self.data.newest()?;
            for key in keys {
                read(&newest, key)?;
                stopwatch.lap();
            }
            pulse.beat(keys.len(), self.out)?;
        }
    }

    /// Says when it sees a new version, and keeps count of what must not be.
    fn watch(&mut self) -> Result<Order> {
        let (mut tally, mut pulse, mut turn) = (Tally::default(), Pulse::new(), Instant::now());
        loop {
            if let Ok(order) = self.orders.try_recv() {
                say(self.out, &Event::Watched(tally))?;
                return Ok(order);
            }
            let keys = self.traffic.request()?;
            let newest = self.data.newest()?;
            if let Some(version) = tally.count(keys.iter().map(|key| newest.get(key)))? {
                let at_ns = clock::precise().as_nanos() as u64;
                say(self.out, &Event::Saw { version, at_ns })?;
            }
            pulse.beat(keys.len(), self.out)?;
            if turn.elapsed() > TURN {
                thread::yield_now();
                turn = Instant::now();
            }
        }
    }
}

/// Looks a key up that must be there, and looks at its value.
#[inline]
fn read(version: &Version, key: &[u8]) -> Result<()> {
    let value = version.get(key)?.ok_or_else(|| missing(key))?;
    black_box((value.first(), value.last()));
    Ok(())
}

#[cold]
fn missing(key: &[u8]) -> Error {
    Error::new(Kind::Corrupt, format!("`{}` was loaded, and is not found", key.escape_ascii()))
}

fn alone() -> Error {
    Error::new(Kind::Invalid, "a worker takes its orders from `hammerspace demo`").remedy("run `hammerspace demo`")
}

/// Tells now and then how fast it goes.
struct Pulse {
    reads: u64,
    since: Instant,
}

impl Pulse {
    fn new() -> Self {
        Self { reads: 0, since: Instant::now() }
    }

    fn beat(&mut self, reads: usize, out: &mut Output) -> Result<()> {
        self.reads += reads as u64;
        let time = self.since.elapsed();
        if time < PULSE {
            return Ok(());
        }
        say(out, &Event::Pace { per_second: per_second(self.reads, time) })?;
        *self = Self::new();
        Ok(())
    }
}
