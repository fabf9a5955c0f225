//! Which key comes next: one of `keys`, drawn by a distribution, the same for the same seed.
//!
//! Lower numbers are drawn more often, or all alike. Who does not want hot keys to be neighbours permutes the numbers.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution as _, Zipf};

/// How often each key is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Skew {
    /// All alike.
    Uniform,
    /// 90 % of the writes go to 10 % of the keys, alike within each part.
    HotAndCold,
    /// Rosenblum's: exponential with mean 0.02172, cut off at 2.5 and stretched over the keys. (Said to give 90 % of the writes to
    /// 2 % of the data.)
    Exponential,
    /// The k-th key is written in proportion to k^−θ.
    Zipf(f64),
    /// Zipf with the θ that gives the first of these percentages of the writes to the second of them of the keys. RAMCloud's
    /// "Zipfian" is 90 to 15.
    ZipfPercent(f64, f64),
}

/// The mean of Rosenblum's exponential distribution, and where it is cut off.
const EXPONENTIAL: (f64, f64) = (0.02172, 2.5);

/// Draws keys.
#[derive(Clone, Debug)]
pub struct Picker {
    rng: SmallRng,
    keys: u64,
    draw: Draw,
}

#[derive(Clone, Copy, Debug)]
enum Draw {
    Uniform,
    HotAndCold { hot: u64 },
    Exponential,
    Zipf(Zipf<f64>),
}

impl Picker {
    /// Draws from `0..keys`, of which there must be at least 10.
    #[expect(clippy::cast_precision_loss, reason = "numbers of keys are far below 2^52")]
    pub fn new(skew: Skew, keys: u64, seed: u64) -> Self {
        assert!(keys >= 10, "a tenth of the keys is to be hot");
        let zipf = |theta| Draw::Zipf(Zipf::new(keys as f64, theta).expect("some keys and a positive exponent"));
        let draw = match skew {
            Skew::Uniform => Draw::Uniform,
            Skew::HotAndCold => Draw::HotAndCold { hot: keys / 10 },
            Skew::Exponential => Draw::Exponential,
            Skew::Zipf(theta) => zipf(theta),
            Skew::ZipfPercent(writes, data) => zipf(theta(keys, writes / 100.0, data / 100.0)),
        };
        Self { rng: SmallRng::seed_from_u64(seed), keys, draw }
    }

    /// The next key.
    #[inline]
    #[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "between 0 and the number of keys")]
    pub fn pick(&mut self) -> u64 {
        match self.draw {
            Draw::Uniform => self.rng.random_range(0..self.keys),
            Draw::HotAndCold { hot } if self.rng.random_range(0..100) < 90 => self.rng.random_range(0..hot),
            Draw::HotAndCold { hot } => self.rng.random_range(hot..self.keys),
            Draw::Exponential => {
                let (mean, end) = EXPONENTIAL;
                loop {
                    let drawn = -(1.0 - self.rng.random::<f64>()).ln() * mean;
                    if drawn < end {
                        return (drawn / end * self.keys as f64) as u64;
                    }
                }
            }
            Draw::Zipf(zipf) => zipf.sample(&mut self.rng) as u64 - 1,
        }
    }
}

/// The exponent with which the first `data` of the keys get `writes` of the writes, both as fractions.
#[expect(clippy::cast_precision_loss, reason = "numbers of keys are far below 2^52")]
fn theta(keys: u64, writes: f64, data: f64) -> f64 {
    let (mut low, mut high) = (0.01, 10.0);
    for _ in 0..50 {
        let theta: f64 = f64::midpoint(low, high);
        let sum = |of: u64| (1..=of).map(|k| (k as f64).powf(-theta)).sum::<f64>();
        let first = (keys as f64 * data).round();
        #[expect(clippy::cast_sign_loss, reason = "a fraction of a number of keys")]
        if sum(first as u64) / sum(keys) < writes { low = theta } else { high = theta }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: u32 = 10_000;
    const PICKS: u32 = 200_000;

    /// The share of the writes that goes to the first `data` of the keys.
    fn share(skew: Skew, data: f64) -> f64 {
        let mut picker = Picker::new(skew, u64::from(KEYS), 7);
        let mut hits = 0;
        for _ in 0..PICKS {
            let key = u32::try_from(picker.pick()).unwrap();
            assert!(key < KEYS);
            hits += u32::from(f64::from(key) < data * f64::from(KEYS));
        }
        f64::from(hits) / f64::from(PICKS)
    }

    #[test]
    fn each_distribution_writes_where_it_says() {
        for (skew, data, writes) in [
            (Skew::Uniform, 0.25, 0.25),
            (Skew::HotAndCold, 0.1, 0.9),
            (Skew::Exponential, 0.02, 0.9),
            (Skew::ZipfPercent(90.0, 15.0), 0.15, 0.9),
            (Skew::Zipf(0.99), 0.0001, 0.0975), // 1 / H(10000, 0.99)
        ] {
            let found = share(skew, data);
            assert!((found - writes).abs() < 0.01, "{skew:?}: {found} of the writes go to {data} of the keys");
        }
    }

    #[test]
    fn the_seed_decides() {
        let picks = |seed| {
            let mut picker = Picker::new(Skew::Zipf(0.99), u64::from(KEYS), seed);
            [(); 20].map(|()| picker.pick())
        };
        assert_eq!(picks(1), picks(1));
        assert_ne!(picks(1), picks(2));
    }
}
