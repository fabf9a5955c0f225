//! From registers to a number: the estimator of 2007, as the database has it.
//!
//! ```text
//! E = alpha m² / sum of 2^-rank       L = 2^(2^regwidth - 2 + log2m)       V = registers that are zero
//!
//! small range   V > 0 and E < 2.5 m     m ln(m / V)
//!               E <= L / 30             E
//! large range   otherwise               -L ln(1 - E / L)       infinite from E = L on
//! ```
//! Between 2.5 m and 5 m it is biased by a few percent, as the paper's is. Better estimators exist; this one
//! gives the numbers that PostgreSQL and java-hll give for the same bytes.

use hammerspace_error::Result;

use super::full::Histogram;
use super::{Body, Hll, HllBuf, Params};

impl Hll<'_> {
    /// About how many elements the set has: exact if it is EMPTY or EXPLICIT, `None` if it is UNDEFINED,
    /// infinite if its registers are saturated. java-hll shows it rounded up. Linear in the bytes.
    pub fn estimate(&self) -> Option<f64> {
        match self.body {
            Body::Undefined => None,
            Body::Empty => Some(0.0),
            #[expect(clippy::cast_precision_loss, reason = "a list in memory is far shorter than 2^53")]
            Body::Explicit(list) => Some(list.len() as f64),
            Body::Sparse(_) | Body::Full(_) => Some(estimate(self.params, &self.histogram())),
        }
    }

    /// Whether the registers can tell no more: there are more elements than this width can count.
    pub fn is_saturated(&self) -> bool {
        self.estimate() == Some(f64::INFINITY)
    }

    fn histogram(&self) -> Histogram {
        match self.body {
            Body::Full(registers) => registers.histogram(),
            _ => self.histogram_of_few(),
        }
    }

    /// Registers that are not listed are zero.
    fn histogram_of_few(&self) -> Histogram {
        let mut counts = [0; 256];
        let registers = self.registers();
        for register in &registers {
            counts[usize::from(register.rank)] += 1;
        }
        // Words that were never checked may be more than there are registers.
        counts[0] = (self.params.register_count() as u32).saturating_sub(registers.len() as u32);
        counts
    }
}

fn estimate(params: Params, counts: &Histogram) -> f64 {
    let (m, zeros) = (params.m(), f64::from(counts[0]));
    // The smallest terms first. Up to width 5 every sum is exact, so that no order matters.
    let ranks = (0..=params.rank_max()).rev();
    let terms = ranks.map(|rank| f64::from(counts[usize::from(rank)]) * (-f64::from(rank)).exp2());
    let sum: f64 = terms.sum();
    let raw = alpha(params) * m * m / sum;
    if zeros > 0.0 && raw < 2.5 * m {
        return m * (m / zeros).ln();
    }
    let limit = (f64::from((1 << params.regwidth()) - 2 + params.log2m())).exp2();
    if raw <= limit / 30.0 {
        raw
    } else if raw < limit {
        -limit * (1.0 - raw / limit).ln()
    } else {
        f64::INFINITY
    }
}

fn alpha(params: Params) -> f64 {
    match params.log2m() {
        4 => 0.673,
        5 => 0.697,
        6 => 0.709,
        _ => 0.7213 / (1.0 + 1.079 / params.m()),
    }
}

/// How many elements two sets share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// About how many; never less than 0.
    pub estimate: f64,
    /// The standard error of that, in elements. It is the union's, so a small overlap of large sets drowns in
    /// it.
    pub standard_error: f64,
}

/// How many elements two sets share, by inclusion and exclusion: |A| + |B| - |A ∪ B|. Exact, with an error of
/// 0, for two lists; `None` if a set is UNDEFINED; `Invalid` if `log2m` or `regwidth` differ.
///
/// ```
/// use hammerspace_sketch::hll::{HllBuf, Params, hash, intersection};
///
/// let [mut saw, mut bought] = [(); 2].map(|()| HllBuf::new(Params::default()));
/// saw.add_many(&(0..50_000).map(|user| hash::bigint(user, 0)).collect::<Vec<_>>());
/// bought.add_many(&(0..20_000).map(|user| hash::bigint(user, 0)).collect::<Vec<_>>());
/// let both = intersection(&saw.as_hll(), &bought.as_hll())?.expect("both are defined");
/// assert!((both.estimate - 20_000.0).abs() < 4.0 * both.standard_error);
/// # Ok::<(), hammerspace_error::Error>(())
/// ```
pub fn intersection(left: &Hll, right: &Hll) -> Result<Option<Overlap>> {
    let mut union = HllBuf::from(left);
    union.union(right)?;
    if let (Some(list), Some(other)) = (left.list(), right.list()) {
        let shared = list.iter().filter(|hash| other.search(*hash).is_ok()).count() as u32;
        return Ok(Some(Overlap { estimate: shared.into(), standard_error: 0.0 }));
    }
    let estimates = (left.estimate(), right.estimate(), union.as_hll().estimate());
    let (Some(left_count), Some(right_count), Some(all)) = estimates else { return Ok(None) };
    let estimate = (left_count + right_count - all).max(0.0);
    Ok(Some(Overlap { estimate, standard_error: all * left.params.relative_error() }))
}
