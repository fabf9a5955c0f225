//! The writes to come: drawn some way ahead, so that an oracle knows when a version dies.

use std::collections::VecDeque;

use hammerspace_workloads::Picker;

/// Who dies later than is known.
pub(crate) const UNKNOWN: u64 = u64::MAX;

pub(crate) struct Future {
    /// First every record once in random order, so that neighbours have nothing in common; then what the picker says.
    fill: Vec<u32>,
    picker: Picker,
    /// How many writes are known ahead.
    horizon: usize,
    /// The next writes, each with the time of the write after it to the same record.
    ahead: VecDeque<(u32, u64)>,
    /// When each record was last drawn.
    drawn: Vec<u64>,
    now: u64,
    /// When the present version of each record dies.
    pub(crate) deaths: Vec<u64>,
}

impl Future {
    pub(crate) fn new(fill: Vec<u32>, picker: Picker, horizon: usize) -> Self {
        let records = fill.len();
        let ahead = VecDeque::with_capacity(horizon + 1);
        Self { fill, picker, horizon, ahead, drawn: vec![UNKNOWN; records], now: 0, deaths: vec![UNKNOWN; records] }
    }

    /// The record that is written now.
    pub(crate) fn next(&mut self) -> u32 {
        while self.ahead.len() <= self.horizon {
            self.draw();
        }
        let (record, death) = self.ahead.pop_front().expect("one more than the horizon");
        self.deaths[record as usize] = death;
        self.now += 1;
        record
    }

    fn draw(&mut self) {
        let record = self.fill.pop().unwrap_or_else(|| self.picker.pick() as u32);
        let time = self.now + self.ahead.len() as u64;
        let before = std::mem::replace(&mut self.drawn[record as usize], time);
        if before == UNKNOWN {
            // Its first write.
        } else if before < self.now {
            self.deaths[record as usize] = time;
        } else {
            self.ahead[(before - self.now) as usize].1 = time;
        }
        self.ahead.push_back((record, UNKNOWN));
    }
}

#[cfg(test)]
mod tests {
    use hammerspace_workloads::Skew;

    use super::*;

    #[test]
    fn a_death_foretold_comes_true() {
        let mut future = Future::new((0..10).collect(), Picker::new(Skew::Uniform, 10, 3), 40);
        let mut foretold = [UNKNOWN; 10];
        for now in 0..1000 {
            let record = future.next() as usize;
            let death = foretold[record];
            assert!(now < 10 || death == now, "{record} was to die at {death}, not at {now}");
            foretold = std::array::from_fn(|record| future.deaths[record]);
        }
        let known = foretold.iter().filter(|death| **death != UNKNOWN).count();
        assert!(known > 5, "40 writes ahead, most of 10 records are written again");
    }
}
