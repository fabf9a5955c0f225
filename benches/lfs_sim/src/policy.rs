//! What a cleaner may do: which segment it takes, and where the survivors go.

/// What makes a segment worth cleaning, u being its live part. An empty one is always best, a full one worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// The least utilised.
    Greedy,
    /// `(1−u)·age/(1+u)`, as published by Rosenblum and Ousterhout: a segment is read whole, then what lives is written.
    Lfs,
    /// `(1−u)·age/u`: what is in memory need not be read.
    Ramcloud,
    /// `(1−u)/((1+u)·√decay)`, where decay is `(1−u)/age`.
    Decay,
}

/// What a segment's age is measured from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// The youngest record alive in it, as published.
    Youngest,
    /// The mean time of its live records.
    Mean,
    /// Its creation.
    Creation,
    /// The mean over its records of the age they had when they came: for a segment of survivors, that of the segments
    /// they were copied from.
    Inherited,
}

/// What is done to an age before it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing.
    Linear,
    /// Its square root.
    Root,
    /// Its logarithm to base 2.
    Log,
}

/// In which order survivors are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they are found.
    Unsorted,
    /// Sorted by the time of writing.
    OldestFirst,
    /// Sorted by the time of death, the last to die first: what nobody can know.
    Oracle,
}

/// Which segment is cleaned next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Victim {
    /// The formula.
    pub score: Score,
    /// Its age.
    pub age: Age,
    /// How the age enters.
    pub shape: Shape,
}

/// What a pass does with its victims.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pass {
    /// RAMCloud's and the LFS simulator's: victims are taken until the next would exceed this many segments' worth of live data,
    /// all survivors are written in order, and new writes go on in the last survivor segment.
    Batch {
        /// The limit, in segments.
        segments: u32,
        /// Of the survivors.
        order: Order,
        /// Whether a survivor counts as written anew.
        reset: bool,
    },
    /// One victim at a time; survivors go to heads of their own, which stay open across passes.
    Streams(Streams),
}

/// Heads by inferred lifetime, after SepBIT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Streams {
    /// Threads that write, each with user heads of its own; writes fall to them at random.
    pub writers: u32,
    /// Whether each has two heads, one for what replaces a version that lived less than ℓ: the mean life of the last 16
    /// user segments cleaned (the short-lived ones, if there are two kinds).
    pub two_user_heads: bool,
    /// Whether survivors of short-lived user segments have a head of their own.
    pub short_apart: bool,
    /// All others go by their age: each limit, in ℓ, divides two heads.
    pub limits: &'static [f64],
    /// What tells how old a version is.
    pub clock: Clock,
}

/// The heads of the store's cleaner, for one writer. See `docs/design/cleaner.md`.
pub const STORE: Streams =
    Streams { writers: 1, two_user_heads: true, short_apart: true, limits: &[2.0, 16.0], clock: Clock::Creation };

/// What tells how old a version is, when a write replaces it and when it is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The time it was written, kept with each record.
    Record,
    /// The creation of the segment that holds it.
    Creation,
    /// The inherited birth of that segment.
    Inherited,
}

impl Streams {
    /// User heads of all writers.
    pub(crate) const fn user_heads(&self) -> u32 {
        self.writers * (1 + self.two_user_heads as u32)
    }

    /// Heads of both kinds.
    pub(crate) const fn heads(&self) -> u32 {
        self.user_heads() + self.short_apart as u32 + 1 + self.limits.len() as u32
    }
}

/// The whole cleaner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Which segment is cleaned.
    pub victim: Victim,
    /// What happens to it.
    pub pass: Pass,
}

impl Policy {
    /// Open segments at any time.
    pub const fn heads(&self) -> u32 {
        match &self.pass {
            Pass::Batch { .. } => 1,
            Pass::Streams(streams) => streams.heads(),
        }
    }

    /// As in RAMCloud's simulator: five segments' worth of live data a pass, survivors sorted oldest first.
    pub const fn sorted(score: Score, age: Age) -> Self {
        let victim = Victim { score, age, shape: Shape::Linear };
        Self { victim, pass: Pass::Batch { segments: 5, order: Order::OldestFirst, reset: false } }
    }

    /// RAMCloud's formula over segment age, with streams.
    pub const fn streams(streams: Streams) -> Self {
        let victim = Victim { score: Score::Ramcloud, age: Age::Creation, shape: Shape::Linear };
        Self { victim, pass: Pass::Streams(streams) }
    }
}
