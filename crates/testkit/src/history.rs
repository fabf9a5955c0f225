//! Whether what concurrent callers saw can be explained at all: by one order of their calls, in which each takes effect at an instant
//! between its beginning and its end (linearisability: Herlihy, Wing, TOPLAS 1990).
//!
//! ```text
//! calls:    a ├──────────┤      the order must have a before c, and may have b anywhere
//!           b     ├─────────────────┤
//!           c                ├───┤
//! ```
//!
//! The search is that of Wing and Gong (JPDC 1993) as Lowe has it ("Testing for linearizability", 2017): it goes through the
//! beginnings and ends of all calls and keeps every *reading* that is possible so far, which is a state and the open calls that have
//! taken effect already. A call takes effect no sooner than some end forces it, so that readings stay few; equal ones are kept once.
//! Time is in proportion to the calls, and exponential only in how many are open at once.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

/// What something is, and what calls make of it, one after the other.
pub trait Model: Clone + Eq + Debug {
    /// What a call did, and what it saw.
    type Op: Debug;

    /// The state after `op`; `None` if in this state it would have seen something else.
    fn after(&self, op: &Self::Op) -> Option<Self>;
}

/// One call of one caller.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Call<Op> {
    /// When it began, by a clock that all callers share.
    pub start: u64,
    /// When it had ended. Never, if its caller was killed: then it has taken effect at some time, or has not.
    pub end: Option<u64>,
    /// What it did, and what it saw.
    pub op: Op,
}

/// A state, and the open calls that have brought it about in part, in order of their numbers.
type Reading<M> = (M, Vec<usize>);

/// Finds an order of all calls that begins in `initial`. Where there is none, says which call cannot be explained.
pub fn explain<M: Model>(initial: M, calls: &[Call<M::Op>]) -> Result<(), String> {
    let mut events: Vec<(u64, bool, usize)> = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        events.push((call.start, false, number));
        events.extend(call.end.map(|end| (end, true, number)));
    }
    // What begins at the instant at which another ends is taken for concurrent.
    events.sort_unstable();
    let mut open: Vec<usize> = Vec::new();
    let mut readings: Vec<Reading<M>> = vec![(initial, Vec::new())];
    for (_, is_end, number) in events {
        if !is_end {
            open.push(number);
            continue;
        }
        let next = end(&readings, number, &open, calls);
        if next.is_empty() {
            return Err(complaint(&readings, number, &open, calls));
        }
        open.retain(|other| *other != number);
        readings = next;
    }
    Ok(())
}

/// The readings in which a call has taken effect when it ends, whatever else had to before.
fn end<M: Model>(readings: &[Reading<M>], number: usize, open: &[usize], calls: &[Call<M::Op>]) -> Vec<Reading<M>> {
    // Those that are possible on the way; there are seldom more than a few.
    let mut seen = readings.to_vec();
    let (mut next, mut explored) = (Vec::new(), 0);
    while let Some((state, effective)) = seen.get(explored).cloned() {
        explored += 1;
        if let Ok(at) = effective.binary_search(&number) {
            let mut effective = effective;
            effective.remove(at);
            next.push((state, effective));
            continue;
        }
        for other in open {
            let Err(at) = effective.binary_search(other) else { continue };
            let Some(state) = state.after(&calls[*other].op) else { continue };
            let mut effective = effective.clone();
            effective.insert(at, *other);
            let reading = (state, effective);
            if !seen.contains(&reading) {
                seen.push(reading);
            }
        }
    }
    next
}

fn complaint<M: Model>(readings: &[Reading<M>], number: usize, open: &[usize], calls: &[Call<M::Op>]) -> String {
    let others = open.iter().filter(|other| **other != number);
    let others: Vec<_> = others.map(|other| format!("  {other}: {:?}\n", calls[*other])).collect();
    let states: Vec<_> = readings.iter().map(|(state, after)| format!("  {state:?} after {after:?}\n")).collect();
    let (others, states) = (others.concat(), states.concat());
    format!("no order explains {:?}\nwhile these were open:\n{others}it may have been:\n{states}", calls[number])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that is set or read.
    #[derive(Clone, Copy, Debug)]
    enum Op {
        Set(u8),
        Get(u8),
    }

    #[derive(Clone, PartialEq, Eq, Debug)]
    struct Number(u8);

    impl Model for Number {
        type Op = Op;

        fn after(&self, op: &Op) -> Option<Self> {
            match *op {
                Op::Set(number) => Some(Self(number)),
                Op::Get(number) => (number == self.0).then_some(Self(number)),
            }
        }
    }

    fn call(start: u64, end: u64, op: Op) -> Call<Op> {
        Call { start, end: Some(end), op }
    }

    #[test]
    fn calls_that_overlap_may_come_in_any_order() {
        let gets = |first: u8, second: u8| {
            let sets = [call(0, 10, Op::Set(1)), call(0, 10, Op::Set(2))];
            explain(Number(0), &[&sets[..], &[call(1, 3, Op::Get(first)), call(4, 6, Op::Get(second))]].concat())
        };
        for (first, second) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 1)] {
            gets(first, second).unwrap();
        }
        for (first, second) in [(1, 0), (0, 3)] {
            gets(first, second).unwrap_err();
        }
    }

    #[test]
    fn an_open_call_takes_effect_once_or_never() {
        let set = Call { start: 0, end: None, op: Op::Set(1) };
        let [zero, one] = [0, 1].map(|number| move |start: u64| call(start, start + 1, Op::Get(number)));
        explain(Number(0), &[set.clone(), zero(5), one(10), one(20)]).unwrap();
        explain(Number(0), &[set.clone(), zero(5), zero(20)]).unwrap();
        explain(Number(0), &[set.clone(), one(5), zero(10)]).unwrap_err();
        let again = |end: u64| [set.clone(), one(5), call(7, end, Op::Set(0)), one(9)];
        explain(Number(0), &again(10)).unwrap();
        explain(Number(0), &again(8)).unwrap_err();
    }

    #[test]
    fn canary_a_stale_read_is_rejected() {
        let history = |start: u64| [call(0, 2, Op::Set(1)), call(start, 9, Op::Get(0))];
        explain(Number(0), &history(2)).unwrap();
        let complaint = explain(Number(0), &history(3)).unwrap_err();
        assert!(complaint.contains("Get(0)") && complaint.contains("Number(1) after []"), "{complaint}");
    }

    /// Long histories take time in proportion: a search that goes back would not come to an end here.
    #[test]
    fn a_long_history_is_checked() {
        let of = |caller: u64| (0..1000).map(move |round| (caller, round));
        let set =
            |(caller, round): (u64, u64)| call(10 * round + caller, 10 * round + caller + 6, Op::Set(caller as u8));
        let calls: Vec<_> = (0..4).flat_map(of).map(set).collect();
        explain(Number(0), &calls).unwrap();
        let late = call(10_100, 10_101, Op::Get(9));
        explain(Number(0), &[&calls[..], &[late]].concat()).unwrap_err();
    }
}
