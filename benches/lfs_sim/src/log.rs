//! The log: segments of equal records, and where each record lives.
//!
//! What always holds: a record lives in one place; `live` of a segment counts the records whose place is in it; a segment is
//! either free (and empty), or open (and may be appended to), or closed (and may be cleaned).

/// A number of a segment.
pub(crate) type SegmentId = u32;

/// Which of the logs within the log a segment belongs to: user heads first, then survivor heads.
pub(crate) type Stream = u32;

const NOWHERE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// Everything appended since it was taken, alive or not.
    pub(crate) records: Vec<u32>,
    pub(crate) live: u32,
    /// When it was taken.
    pub(crate) created: u64,
    /// The sum, over all records appended, of what they bring along as their birth.
    births: f64,
    /// The sum of the times at which its live records were written, and the latest of them.
    times: u64,
    latest: u64,
    pub(crate) stream: Stream,
    pub(crate) closed: bool,
}

impl Segment {
    /// The mean birth of the records appended; when it was taken, while there are none.
    #[expect(clippy::cast_precision_loss, reason = "times are far below 2^52")]
    pub(crate) fn birth(&self) -> f64 {
        if self.records.is_empty() { self.created as f64 } else { self.births / self.records.len() as f64 }
    }

    /// When the youngest of the live records was written.
    pub(crate) fn latest(&self) -> u64 {
        self.latest
    }

    /// The mean of the times at which the live records were written.
    #[expect(clippy::cast_precision_loss, reason = "times are far below 2^52")]
    pub(crate) fn mean_time(&self) -> f64 {
        self.times as f64 / f64::from(self.live)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Log {
    pub(crate) segments: Vec<Segment>,
    pub(crate) free: Vec<SegmentId>,
    capacity: u32,
    /// Of each record: segment × capacity + position.
    places: Vec<u32>,
    /// When each was written.
    written: Vec<u64>,
}

impl Log {
    pub(crate) fn new(segments: u32, capacity: u32, records: u32) -> Self {
        let segment = Segment {
            records: Vec::with_capacity(capacity as usize),
            live: 0,
            created: 0,
            births: 0.0,
            times: 0,
            latest: 0,
            stream: 0,
            closed: false,
        };
        Self {
            segments: vec![segment; segments as usize],
            free: (0..segments).rev().collect(),
            capacity,
            places: vec![NOWHERE; records as usize],
            written: vec![0; records as usize],
        }
    }

    pub(crate) fn segment(&self, id: SegmentId) -> &Segment {
        &self.segments[id as usize]
    }

    /// Live records by those that fit.
    pub(crate) fn utilisation(&self, segment: &Segment) -> f64 {
        f64::from(segment.live) / f64::from(self.capacity)
    }

    /// How many more fit.
    pub(crate) fn room(&self, id: SegmentId) -> u32 {
        self.capacity - self.segment(id).records.len() as u32
    }

    /// Takes a free segment, if there is one.
    pub(crate) fn open(&mut self, stream: Stream, now: u64) -> Option<SegmentId> {
        let id = self.free.pop()?;
        let segment = &mut self.segments[id as usize];
        (segment.created, segment.births, segment.latest, segment.stream) = (now, 0.0, 0, stream);
        Some(id)
    }

    pub(crate) fn close(&mut self, id: SegmentId) {
        self.segments[id as usize].closed = true;
    }

    /// The segment a record lives in; none before it was first written.
    pub(crate) fn home(&self, record: u32) -> Option<SegmentId> {
        let place = self.places[record as usize];
        (place != NOWHERE).then_some(place / self.capacity)
    }

    /// When a record was written.
    pub(crate) fn written(&self, record: u32) -> u64 {
        self.written[record as usize]
    }

    /// Puts a record into an open segment; where it was before, it is dead.
    pub(crate) fn append(&mut self, id: SegmentId, record: u32, written: u64, birth: f64) {
        self.remove(record);
        let segment = &mut self.segments[id as usize];
        self.places[record as usize] = id * self.capacity + segment.records.len() as u32;
        self.written[record as usize] = written;
        segment.records.push(record);
        segment.births += birth;
        segment.times += written;
        segment.latest = segment.latest.max(written);
        segment.live += 1;
    }

    /// Leaves a record nowhere.
    pub(crate) fn remove(&mut self, record: u32) {
        let Some(home) = self.home(record) else { return };
        let written = self.written(record);
        self.places[record as usize] = NOWHERE;
        let segment = &mut self.segments[home as usize];
        segment.live -= 1;
        segment.times -= written;
        if segment.latest == written {
            let latest = self.live(home).map(|record| self.written(record)).max();
            self.segments[home as usize].latest = latest.unwrap_or_default();
        }
    }

    /// The live records of a segment, in the order they were appended.
    pub(crate) fn live(&self, id: SegmentId) -> impl Iterator<Item = u32> {
        let first = id * self.capacity;
        let records = (first..).zip(&self.segment(id).records);
        records.filter(|&(place, &record)| self.places[record as usize] == place).map(|(_, &record)| record)
    }

    /// Gives back a segment whose records have all moved.
    pub(crate) fn release(&mut self, id: SegmentId) {
        let segment = &mut self.segments[id as usize];
        assert_eq!(segment.live, 0, "segment {id} is freed with records alive in it");
        segment.records.clear();
        segment.closed = false;
        self.free.push(id);
    }
}
