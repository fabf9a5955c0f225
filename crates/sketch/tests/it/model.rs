//! A plain twin: a set of hashes, or an array of ranks, written bit by bit as the format page says.

use std::collections::BTreeSet;

use hammerspace_sketch::hll::Params;

/// What a value stands for.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    params: Params,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Undefined,
    Hashes(BTreeSet<i64>),
    Ranks(Vec<u32>),
}

impl Model {
    pub(crate) fn new(params: Params) -> Self {
        Self { params, content: Content::Hashes(BTreeSet::new()) }
    }

    pub(crate) fn undefined(params: Params) -> Self {
        Self { params, content: Content::Undefined }
    }

    pub(crate) fn add(&mut self, hash: u64) {
        let limit = self.params.explicit_max();
        match &mut self.content {
            Content::Undefined => {}
            Content::Hashes(hashes) => {
                hashes.insert(hash.cast_signed());
                if hashes.len() as u64 > limit {
                    let hashes = hashes.clone();
                    self.content = Content::Ranks(vec![0; self.params.register_count() as usize]);
                    self.add_all(&hashes);
                }
            }
            Content::Ranks(ranks) => {
                let (index, rest) = (hash % self.params.register_count(), hash / self.params.register_count());
                let rank = if rest == 0 { 0 } else { rest.trailing_zeros() + 1 };
                let rank = rank.min((1 << self.params.regwidth()) - 1);
                ranks[index as usize] = ranks[index as usize].max(rank);
            }
        }
    }

    fn add_all(&mut self, hashes: &BTreeSet<i64>) {
        for hash in hashes {
            self.add(hash.cast_unsigned());
        }
    }

    pub(crate) fn union(&mut self, other: &Self) {
        match (&mut self.content, &other.content) {
            (_, Content::Undefined) => self.content = Content::Undefined,
            (_, Content::Hashes(hashes)) => self.add_all(hashes),
            (Content::Ranks(ranks), Content::Ranks(others)) => {
                ranks.iter_mut().zip(others).for_each(|(rank, other)| *rank = (*rank).max(*other));
            }
            (Content::Hashes(hashes), Content::Ranks(_)) => {
                let hashes = std::mem::take(hashes);
                self.content = other.content.clone();
                self.add_all(&hashes);
            }
            (Content::Undefined, Content::Ranks(_)) => {}
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        match &self.content {
            Content::Undefined => self.written(0, ""),
            Content::Hashes(hashes) if hashes.is_empty() => self.written(1, ""),
            Content::Hashes(hashes) => {
                self.written(2, &hashes.iter().map(|hash| format!("{hash:064b}")).collect::<Vec<_>>().concat())
            }
            Content::Ranks(ranks) => self.encode_ranks(ranks),
        }
    }

    fn encode_ranks(&self, ranks: &[u32]) -> Vec<u8> {
        let (width, log2m) = (self.params.regwidth() as usize, self.params.log2m() as usize);
        let full = ranks.iter().map(|rank| format!("{rank:0width$b}")).collect::<Vec<_>>().concat();
        let filled = ranks.iter().enumerate().filter(|(_, rank)| **rank > 0);
        let words = filled.map(|(index, rank)| format!("{index:0log2m$b}{rank:0width$b}"));
        let sparse = words.collect::<Vec<_>>().concat();
        if self.params.sparseon() && sparse.len() < full.len() {
            self.written(3, &sparse)
        } else {
            self.written(4, &full)
        }
    }

    fn written(&self, kind: u8, body: &str) -> Vec<u8> {
        let cutoff = match self.params.expthresh() {
            -1 => 63,
            0 => 0,
            limit => limit.ilog2() + 1,
        };
        let (version, reserved) = (1, 0);
        let header = format!(
            "{version:04b}{kind:04b}{:03b}{:05b}{reserved}{}{cutoff:06b}",
            self.params.regwidth() - 1,
            self.params.log2m(),
            u8::from(self.params.sparseon()),
        );
        let bits = header + body;
        let byte = |bits: &[u8]| u8::from_str_radix(&format!("{:0<8}", str::from_utf8(bits).unwrap()), 2).unwrap();
        bits.as_bytes().chunks(8).map(byte).collect()
    }

    pub(crate) fn estimate(&self) -> Option<f64> {
        match &self.content {
            Content::Undefined => None,
            Content::Hashes(hashes) => Some(number(hashes.len())),
            Content::Ranks(ranks) => Some(estimate(ranks, self.params.regwidth())),
        }
    }
}

fn estimate(ranks: &[u32], width: u32) -> f64 {
    let m = number(ranks.len());
    let zeros = number(ranks.iter().filter(|rank| **rank == 0).count());
    let alpha = match ranks.len() {
        16 => 0.673,
        32 => 0.697,
        64 => 0.709,
        _ => 0.7213 / (1.0 + 1.079 / m),
    };
    let raw = alpha * m * m / ranks.iter().map(|rank| (-f64::from(*rank)).exp2()).sum::<f64>();
    let limit = 2_f64.powi((1 << width) - 2) * m;
    if zeros > 0.0 && raw < 2.5 * m {
        m * (m / zeros).ln()
    } else if raw <= limit / 30.0 {
        raw
    } else if raw < limit {
        -limit * (1.0 - raw / limit).ln()
    } else {
        f64::INFINITY
    }
}

fn number(count: usize) -> f64 {
    f64::from(count as u32)
}
