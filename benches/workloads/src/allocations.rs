//! W1–W8: what an allocator has to live through when the sizes of objects change. From Rumble, Kejriwal and Ousterhout, "Log-structured
//! Memory for DRAM-based Storage" (FAST'14), table 1.
//!
//! Three phases: objects of the first sizes are allocated, while random ones are freed so that the live bytes stay below a limit;
//! a part of what lives is freed at random; objects of the second sizes are allocated under the same limit. The paper allocates
//! five times the limit in each phase, with a limit of 10 GB.

use std::ops::RangeInclusive;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// Sizes in bytes, all alike likely.
type Sizes = RangeInclusive<u32>;

/// One of the eight.
#[derive(Clone, Debug)]
pub struct Allocations {
    /// Its name in the paper.
    pub name: &'static str,
    /// What is allocated first.
    pub before: Sizes,
    /// How many percent of what lives are freed then.
    pub freed_percent: u32,
    /// What is allocated last, if anything.
    pub after: Option<Sizes>,
}

/// Bytes allocated in a phase, for each byte that may live.
const TURNS: u64 = 5;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// An object comes to be. Numbers ascend from 0.
    Allocate {
        /// Its number.
        id: u64,
        /// In bytes.
        size: u32,
    },
    /// An object is no longer wanted.
    Free {
        /// Its number.
        id: u64,
    },
}

/// All eight.
pub fn all() -> [Allocations; 8] {
    let of = |name, before, freed_percent, after| Allocations { name, before, freed_percent, after };
    [
        of("W1", 100..=100, 0, None),
        of("W2", 100..=100, 0, Some(130..=130)),
        of("W3", 100..=100, 90, Some(130..=130)),
        of("W4", 100..=150, 0, Some(200..=250)),
        of("W5", 100..=150, 90, Some(200..=250)),
        of("W6", 100..=200, 50, Some(1_000..=2_000)),
        of("W7", 1_000..=2_000, 90, Some(1_500..=2_500)),
        of("W8", 50..=150, 90, Some(5_000..=15_000)),
    ]
}

impl Allocations {
    /// The operations with at most so many live bytes, the same for the same seed.
    pub fn operations(&self, live_max: u64, seed: u64) -> Operations {
        let phases = [self.before.clone()].into_iter().chain(self.after.clone());
        Operations {
            rng: SmallRng::seed_from_u64(seed),
            live: Vec::new(),
            live_bytes: 0,
            live_max,
            next_id: 0,
            pending: None,
            phases: phases.rev().map(|sizes| (sizes, TURNS * live_max)).collect(),
            freed_percent: self.freed_percent,
            to_free: 0,
        }
    }
}

/// The operations of one workload, in order.
#[derive(Clone, Debug)]
pub struct Operations {
    rng: SmallRng,
    /// Number and size of what lives.
    live: Vec<(u64, u32)>,
    live_bytes: u64,
    live_max: u64,
    next_id: u64,
    /// The size of the object that room is being made for.
    pending: Option<u32>,
    /// Sizes, and bytes still to allocate, of the phases that are not over; the present one is last.
    phases: Vec<(Sizes, u64)>,
    freed_percent: u32,
    /// How many objects are to be freed between the phases.
    to_free: usize,
}

impl Operations {
    /// What lives now, in bytes.
    pub fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    fn free(&mut self) -> Operation {
        let at = self.rng.random_range(0..self.live.len());
        let (id, size) = self.live.swap_remove(at);
        self.live_bytes -= u64::from(size);
        Operation::Free { id }
    }

    fn allocate(&mut self, size: u32) -> Operation {
        let id = self.next_id;
        self.next_id += 1;
        self.live.push((id, size));
        self.live_bytes += u64::from(size);
        Operation::Allocate { id, size }
    }

    /// The size of the next object; none when all phases are over, or while objects are to be freed.
    fn next_size(&mut self) -> Option<u32> {
        let (sizes, left) = self.phases.last_mut()?;
        let size = self.rng.random_range(sizes.clone());
        *left = left.saturating_sub(u64::from(size));
        if *left == 0 {
            self.phases.pop();
            if !self.phases.is_empty() {
                self.to_free = self.live.len() * self.freed_percent as usize / 100;
            }
        }
        Some(size)
    }
}

impl Iterator for Operations {
    type Item = Operation;

    fn next(&mut self) -> Option<Operation> {
        if self.pending.is_none() && self.to_free > 0 {
            self.to_free -= 1;
            return Some(self.free());
        }
        let size = match self.pending.take() {
            Some(size) => size,
            None => self.next_size()?,
        };
        if self.live_bytes + u64::from(size) > self.live_max && !self.live.is_empty() {
            self.pending = Some(size);
            return Some(self.free());
        }
        Some(self.allocate(size))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const LIVE_MAX: u64 = 1_000_000;

    /// What lives in the end, after a check of every step.
    fn run(workload: &Allocations) -> (HashMap<u64, u32>, u64) {
        let mut live = HashMap::new();
        let (mut allocated, mut fell) = (0, false);
        let mut operations = workload.operations(LIVE_MAX, 11);
        while let Some(operation) = operations.next() {
            match operation {
                Operation::Allocate { id, size } => {
                    allocated += u64::from(size);
                    assert!(live.insert(id, size).is_none(), "{}: {id} lives already", workload.name);
                }
                Operation::Free { id } => assert!(live.remove(&id).is_some(), "{}: {id} is dead", workload.name),
            }
            assert!(operations.live_bytes() <= LIVE_MAX && live.len() == operations.live.len());
            let percent_left = operations.live_bytes() * 100 / LIVE_MAX;
            fell |= allocated >= TURNS * LIVE_MAX && percent_left <= u64::from(101 - workload.freed_percent);
        }
        assert!(fell, "{}: {} % were to be freed", workload.name, workload.freed_percent);
        (live, allocated)
    }

    #[test]
    fn each_fills_its_limit_with_its_last_sizes() {
        for workload in all() {
            let (live, allocated) = run(&workload);
            let sizes = workload.after.clone().unwrap_or(workload.before.clone());
            let phases = 1 + u64::from(workload.after.is_some());
            let bytes: u64 = live.values().map(|size| u64::from(*size)).sum();
            assert!(bytes > LIVE_MAX - u64::from(*sizes.end()), "{}: {bytes} live bytes", workload.name);
            let beyond = allocated - phases * TURNS * LIVE_MAX;
            assert!(beyond < phases * u64::from(*sizes.end()), "{}: {allocated} bytes allocated", workload.name);
            let of_last = live.values().filter(|size| sizes.contains(size)).count();
            assert!(
                of_last * 10 > live.len() * 8,
                "{}: {of_last} of {} are of the last sizes",
                workload.name,
                live.len()
            );
        }
    }

    #[test]
    fn the_seed_decides() {
        let operations = |seed| all()[5].operations(10_000, seed).collect::<Vec<_>>();
        assert_eq!(operations(1), operations(1));
        assert_ne!(operations(1), operations(2));
    }
}
