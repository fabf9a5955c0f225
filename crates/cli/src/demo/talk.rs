//! What the demo and its workers say to each other: JSON lines, orders on a worker's standard input, events on its standard
//! output. A worker whose input ends is alone, and ends too.

use serde::{Deserialize, Serialize};

use super::data_source::Source;
use super::tally::Tally;
use super::traffic::Place;

/// What a worker shall do, until the next order comes.
#[derive(Serialize, Deserialize)]
pub(super) enum Order {
    /// Get the data, answer one request: [`Event::Ready`].
    Begin(Job),
    /// Read everything once: [`Event::Touched`].
    Touch,
    /// Answer requests and time each read: [`Event::Pace`], and at the end [`Event::Timed`].
    Time,
    /// Answer requests and look out for new versions: [`Event::Pace`], [`Event::Saw`], and at the end
    /// [`Event::Watched`].
    Watch,
    /// Nothing.
    Rest,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) source: Source,
    pub(super) place: Place,
}

#[derive(Serialize, Deserialize)]
pub(super) enum Event {
    /// The data is open, which took so long, and the first request is answered.
    Ready {
        open_ns: u64,
    },
    Touched,
    /// Reads in a second, as of late.
    Pace {
        per_second: f64,
    },
    /// Pairs of nanoseconds and reads.
    Timed {
        laps: Vec<(u64, u32)>,
    },
    /// The first request that saw this version is answered, on the clock of the whole machine.
    Saw {
        version: u64,
        at_ns: u64,
    },
    Watched(Tally),
    Failed {
        message: String,
    },
}
