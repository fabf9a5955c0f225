//! One run: fill, overwrite, clean when nothing is free, count.

use std::cmp::Reverse;
use std::collections::VecDeque;

use fastrand::Rng;
use hammerspace_workloads::{Picker, Skew};

use crate::future::Future;
use crate::log::{Log, Segment, SegmentId, Stream};
use crate::policy::{Age, Clock, Order, Pass, Policy, Score, Shape, Streams, Victim};

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// What is written.
    pub skew: Skew,
    /// Segments that the live records would fill.
    pub live_segments: u32,
    /// Records that fit into a segment.
    pub capacity: u32,
    /// All segments there are.
    pub segments: u32,
    /// How is cleaned.
    pub policy: Policy,
    /// When the run ends.
    pub end: End,
    /// Another seed, another run.
    pub seed: u64,
}

impl Setup {
    /// Segments that live data fill to so many percent, open heads and all.
    pub const fn segments_filled(live_segments: u32, percent: u32) -> u32 {
        live_segments * 100 / percent
    }

    /// The same, with the open heads left out, which are half full on average, and the segment that a pass needs.
    pub const fn segments_closed(live_segments: u32, percent: u32, policy: &Policy) -> u32 {
        let heads = policy.heads();
        (2 * live_segments - heads) * 100 / (2 * percent) + heads + RESERVE as u32
    }
}

/// When a run ends, and what its figures are over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// When the LFS cost has changed by less than 0.0001 over two capacities of writes; figures are from the first write on.
    Stable,
    /// After so many turns of the live data; figures are over the last so many of them.
    Turns {
        /// Before the figures begin.
        warm: u32,
        /// That count.
        measured: u32,
    },
}

/// What a record written costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// With segments read whole: (new + moved + what non-empty victims hold) / new.
    pub lfs: f64,
    /// In memory: (new + moved) / new.
    pub appended: f64,
}

/// Runs it.
pub fn simulate(setup: &Setup) -> Cost {
    let mut simulator = Simulator::new(setup);
    match setup.end {
        End::Stable => simulator.run_until_stable(),
        End::Turns { warm, measured } => {
            let records = u64::from(setup.live_segments * setup.capacity);
            simulator.run(u64::from(warm) * records);
            simulator.count = Count::default();
            simulator.run(u64::from(measured) * records);
        }
    }
    simulator.cost()
}

/// How far an oracle sees, in turns of the live data.
const ORACLE_TURNS: usize = 8;
/// Free segments that a pass of streams may count on.
const RESERVE: usize = 1;
/// ℓ is the mean life of so many segments.
const LIVES: usize = 16;

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    written: u64,
    moved: u64,
    /// Victims in which something lived.
    read: u64,
}

struct Simulator<'a> {
    setup: &'a Setup,
    log: Log,
    future: Future,
    rng: Rng,
    now: u64,
    /// The open segment of each stream.
    heads: Vec<Option<SegmentId>>,
    /// How long the last short-lived segments lived until they were cleaned.
    lives: VecDeque<u64>,
    /// ℓ.
    life: f64,
    count: Count,
}

impl<'a> Simulator<'a> {
    fn new(setup: &'a Setup) -> Self {
        let records = setup.live_segments * setup.capacity;
        let mut rng = Rng::with_seed(setup.seed);
        let mut fill: Vec<u32> = (0..records).collect();
        rng.shuffle(&mut fill);
        let picker = Picker::new(setup.skew, u64::from(records), setup.seed);
        let horizon = match setup.policy.pass {
            Pass::Batch { order: Order::Oracle, .. } => ORACLE_TURNS * records as usize,
            _ => 0,
        };
        Self {
            setup,
            log: Log::new(setup.segments, setup.capacity, records),
            future: Future::new(fill, picker, horizon),
            rng,
            now: 0,
            heads: vec![None; setup.policy.heads() as usize],
            lives: VecDeque::with_capacity(LIVES),
            life: f64::INFINITY,
            count: Count::default(),
        }
    }

    fn run(&mut self, writes: u64) {
        for _ in 0..writes {
            self.write();
        }
    }

    fn run_until_stable(&mut self) {
        let patience = 2 * self.log.segments.len() as u64 * u64::from(self.setup.capacity);
        let (mut cost, mut since) = (0.0, 0);
        while since < patience {
            self.write();
            since += 1;
            let lfs = self.cost().lfs;
            if f64::abs(lfs - cost) >= 0.0001 {
                (cost, since) = (lfs, 0);
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    fn cost(&self) -> Cost {
        let Count { written, moved, read } = self.count;
        let per_write = |records: u64| records as f64 / written as f64;
        let appended = per_write(written + moved);
        Cost { lfs: appended + per_write(read * u64::from(self.setup.capacity)), appended }
    }

    fn write(&mut self) {
        let record = self.future.next();
        let head = match self.setup.policy.pass {
            Pass::Batch { segments, order, reset } => self.head_of_batches(segments, order, reset),
            Pass::Streams(streams) => {
                let stream = self.user_stream(&streams, record);
                self.user_head(&streams, stream)
            }
        };
        let created = self.log.segment(head).created;
        self.append(head, record, self.now, as_f64(created));
        self.now += 1;
        self.count.written += 1;
    }

    /// Appends, and closes what is full.
    fn append(&mut self, head: SegmentId, record: u32, written: u64, birth: f64) {
        self.log.append(head, record, written, birth);
        if self.log.room(head) == 0 {
            self.log.close(head);
            let stream = self.log.segment(head).stream;
            self.heads[stream as usize] = None;
        }
    }

    /// The head of a stream; a new one, if there is none and something is free.
    fn head(&mut self, stream: Stream) -> Option<SegmentId> {
        let head = &mut self.heads[stream as usize];
        if head.is_none() {
            *head = self.log.open(stream, self.now);
        }
        *head
    }

    fn closed(&self) -> impl Iterator<Item = (SegmentId, &Segment)> {
        (0..).zip(&self.log.segments).filter(|(_, segment)| segment.closed)
    }

    fn score(&self, segment: &Segment) -> f64 {
        let Victim { score, age, shape } = self.setup.policy.victim;
        let u = self.log.utilisation(segment);
        if segment.live == 0 {
            return f64::INFINITY;
        }
        if score == Score::Greedy {
            return 1.0 - u;
        }
        let born = match age {
            Age::Youngest => as_f64(segment.latest()),
            Age::Mean => segment.mean_time(),
            Age::Creation => as_f64(segment.created),
            Age::Inherited => segment.birth(),
        };
        let age = (as_f64(self.now) - born).max(1.0);
        let age = match shape {
            Shape::Linear => age,
            Shape::Root => age.sqrt(),
            Shape::Log => age.log2(),
        };
        match score {
            Score::Greedy | Score::Lfs => (1.0 - u) * age / (1.0 + u),
            Score::Ramcloud => (1.0 - u) * age / u,
            Score::Decay => ((1.0 - u) * age).sqrt() / (1.0 + u),
        }
    }

    fn note_cleaned(&mut self, victim: SegmentId) {
        let live = self.log.segment(victim).live;
        self.count.moved += u64::from(live);
        self.count.read += u64::from(live > 0);
    }
}

/// Passes in batches: one head for all.
impl Simulator<'_> {
    fn head_of_batches(&mut self, segments: u32, order: Order, reset: bool) -> SegmentId {
        loop {
            if let Some(head) = self.head(0) {
                return head;
            }
            self.clean_batch(segments, order, reset);
        }
    }

    fn clean_batch(&mut self, segments: u32, order: Order, reset: bool) {
        let mut scored: Vec<(f64, SegmentId)> = self.closed().map(|(id, segment)| (self.score(segment), id)).collect();
        scored.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let mut survivors = Vec::new();
        for (_, victim) in scored {
            if survivors.len() + self.log.segment(victim).live as usize > (segments * self.setup.capacity) as usize {
                break;
            }
            self.note_cleaned(victim);
            let (first, birth) = (survivors.len(), self.log.segment(victim).birth());
            survivors.extend(self.log.live(victim).map(|record| (record, birth)));
            // Survivors are held elsewhere while their segments are given back: they need no more than they leave.
            survivors[first..].iter().for_each(|&(record, _)| self.log.remove(record));
            self.log.release(victim);
        }
        match order {
            Order::Unsorted => {}
            Order::OldestFirst => survivors.sort_by_key(|&(record, _)| self.log.written(record)),
            Order::Oracle => survivors.sort_by_key(|&(record, _)| Reverse(self.future.deaths[record as usize])),
        }
        for (record, birth) in survivors {
            let head = self.head(0).expect("a pass frees what it takes");
            let written = if reset { self.now } else { self.log.written(record) };
            self.append(head, record, written, birth);
        }
    }
}

/// Passes of one victim, with streams.
impl Simulator<'_> {
    /// The head of a user stream. At least one segment stays free, which is what a pass may need before it frees one.
    fn user_head(&mut self, streams: &Streams, stream: Stream) -> SegmentId {
        if let Some(head) = self.heads[stream as usize] {
            return head;
        }
        while self.log.free.len() <= RESERVE {
            self.clean_one(streams);
        }
        self.head(stream).expect("more than the reserve is free")
    }

    /// The head of a survivor stream. Survivors that go by their own times may want several new ones in a pass; when nothing is
    /// free, one of another stream takes them.
    fn survivor_head(&mut self, streams: &Streams, stream: Stream) -> SegmentId {
        let others = streams.user_heads()..streams.heads();
        let head = self.head(stream).or_else(|| others.rev().find_map(|stream| self.heads[stream as usize]));
        head.expect("a pass begins with the reserve, which takes all survivors")
    }

    /// Short-lived first, if there are two; then the next writer's.
    fn user_stream(&mut self, streams: &Streams, record: u32) -> Stream {
        let writer = if streams.writers > 1 { self.rng.u32(..streams.writers) } else { 0 };
        if !streams.two_user_heads {
            return writer;
        }
        let is_short = self.log.home(record).is_some_and(|home| self.age(streams.clock, record, home) < self.life);
        2 * writer + u32::from(!is_short)
    }

    fn is_short(streams: &Streams, stream: Stream) -> bool {
        stream < streams.user_heads() && (!streams.two_user_heads || stream.is_multiple_of(2))
    }

    fn survivor_stream(&self, streams: &Streams, record: u32, victim: SegmentId) -> Stream {
        let first = streams.user_heads();
        if streams.short_apart && Self::is_short(streams, self.log.segment(victim).stream) {
            return first;
        }
        let age = self.age(streams.clock, record, victim) / self.life;
        let passed = streams.limits.iter().take_while(|limit| age >= **limit).count();
        first + u32::from(streams.short_apart) + passed as u32
    }

    /// How old a record is, which lives in this segment.
    fn age(&self, clock: Clock, record: u32, home: SegmentId) -> f64 {
        let born = match clock {
            Clock::Record => as_f64(self.log.written(record)),
            Clock::Creation => as_f64(self.log.segment(home).created),
            Clock::Inherited => self.log.segment(home).birth(),
        };
        as_f64(self.now) - born
    }

    fn clean_one(&mut self, streams: &Streams) {
        let scored = self.closed().map(|(id, segment)| (self.score(segment), id));
        let (_, victim) = scored.max_by(|a, b| a.0.total_cmp(&b.0)).expect("something is closed");
        self.note_cleaned(victim);
        if Self::is_short(streams, self.log.segment(victim).stream) {
            self.learn_life(self.now - self.log.segment(victim).created);
        }
        let birth = self.log.segment(victim).birth();
        let survivors: Vec<u32> = self.log.live(victim).collect();
        for record in survivors {
            let stream = self.survivor_stream(streams, record, victim);
            let head = self.survivor_head(streams, stream);
            self.append(head, record, self.log.written(record), birth);
        }
        self.log.release(victim);
    }

    fn learn_life(&mut self, life: u64) {
        if self.lives.len() == LIVES {
            self.lives.pop_front();
        }
        self.lives.push_back(life);
        if self.lives.len() == LIVES {
            self.life = self.lives.iter().copied().map(as_f64).sum::<f64>() / as_f64(LIVES as u64);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "times are far below 2^52")]
fn as_f64(number: u64) -> f64 {
    number as f64
}
