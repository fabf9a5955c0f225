//! What a reader sees in a pair, and in what it differs from what is there.

use std::collections::BTreeMap;
use std::fmt::Debug;

use crate::peer::Pair;

/// What a reader sees in a pair.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Live entries in log order.
    pub live: Vec<(Vec<u8>, Vec<u8>)>,
    /// What the lookup of each probe gave, in the order of the probes.
    pub found: Vec<Option<Vec<u8>>>,
    /// The header fields that the reader shows, by the names of the format pages.
    pub header: BTreeMap<String, u64>,
}

impl Contents {
    /// In what `seen` differs from `self`, which is right. Header fields that `seen` does not show are not compared.
    pub fn differences(&self, seen: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        differences.extend(first_difference("live entry", &self.live, &seen.live));
        differences.extend(first_difference("lookup", &self.found, &seen.found));
        for (name, shown) in &seen.header {
            let right = self.header.get(name);
            if right != Some(shown) {
                differences.push(format!("{name} should be {right:?} and is {shown}"));
            }
        }
        differences
    }

    /// The same contents, without header fields: for a pair whose index is older than its log.
    #[must_use]
    pub fn without_header(mut self) -> Self {
        self.header.clear();
        self
    }
}

fn first_difference<T: PartialEq + Debug>(what: &str, right: &[T], seen: &[T]) -> Option<String> {
    if right.len() != seen.len() {
        return Some(format!("{} times a {what}, and there should be {}", seen.len(), right.len()));
    }
    let (at, (right, seen)) = right.iter().zip(seen).enumerate().find(|(_, (right, seen))| right != seen)?;
    Some(format!("{what} {at} should be {} and is {}", short(right), short(seen)))
}

fn short(value: &impl Debug) -> String {
    let whole = format!("{value:?}");
    whole.chars().take(120).collect()
}

/// Says which peer failed at what, in front of why.
pub(crate) fn at(pair: &Pair, doing: &str, why: impl std::fmt::Display) -> String {
    format!("{doing} {}: {why}", pair.log.display())
}
