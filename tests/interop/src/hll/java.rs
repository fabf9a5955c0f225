//! java-hll, in a JVM of its own behind a pipe; `java/src/main/java/HllDriver.java` says what goes through
//! it.

use std::path::Path;
use std::time::Duration;

use hammerspace_sketch::hll::Params;

use crate::Result;
use crate::jvm::{Jvm, bytes, hex};

/// A running java-hll.
pub struct JavaHll(Jvm);

/// The bytes of a value and its cardinality, rounded up; 0 if it is saturated.
type Counted = (Vec<u8>, u64);

impl JavaHll {
    /// Starts the driver that `cargo xtask test` built into this directory.
    pub fn start(built: &Path) -> Result<Self> {
        Jvm::start(built, "HllDriver").map(Self)
    }

    /// The same as Java starts by itself, to be measured once it is warm.
    pub fn start_to_measure(built: &Path) -> Result<Self> {
        Jvm::start_to_measure(built, "HllDriver").map(Self)
    }

    /// The set of these hashes.
    pub fn count(&mut self, params: Params, hashes: &[u64]) -> Result<Counted> {
        let cutoff = match params.expthresh() {
            limit @ (-1 | 0) => limit,
            limit => i64::from(limit.ilog2()) + 1,
        };
        let hashes: Vec<String> = hashes.iter().map(|hash| hash.cast_signed().to_string()).collect();
        let numbers = [params.log2m().into(), params.regwidth().into(), cutoff].map(|number: i64| number.to_string());
        let [log2m, regwidth, cutoff] = &numbers;
        self.counted(&["count", log2m, regwidth, cutoff, &params.sparseon().to_string(), &hashes.join(",")])
    }

    /// The union of two values.
    pub fn union(&mut self, left: &[u8], right: &[u8]) -> Result<Counted> {
        self.counted(&["union", &hex(left), &hex(right)])
    }

    /// How long it takes to unite all values of a file, which have one length and lie back to back; and the
    /// cardinality. They are read from bytes meanwhile, or have been decoded before.
    pub fn time_union(&mut self, values: &Path, len: usize, is_decoded: bool) -> Result<(Duration, u64)> {
        let path = values.to_str().expect("a temporary directory has a plain name");
        let how = if is_decoded { "decoded" } else { "bytes" };
        self.timed(&["time", how, path, &len.to_string()])
    }

    /// How long so many estimates of a decoded value take, and the cardinality.
    pub fn time_estimate(&mut self, value: &[u8], count: usize) -> Result<(Duration, u64)> {
        self.timed(&["estimate", &hex(value), &count.to_string()])
    }

    fn counted(&mut self, request: &[&str]) -> Result<Counted> {
        let [value, cardinality] = self.pair(request)?;
        Ok((bytes(&value), number(&cardinality)?))
    }

    fn timed(&mut self, request: &[&str]) -> Result<(Duration, u64)> {
        let [nanoseconds, cardinality] = self.pair(request)?;
        Ok((Duration::from_nanos(number(&nanoseconds)?), number(&cardinality)?))
    }

    fn pair(&mut self, request: &[&str]) -> Result<[String; 2]> {
        let answer = self.0.ask(request)?.unwrap_or_default();
        answer.try_into().map_err(|answer| format!("{answer:?} are not two words"))
    }
}

fn number(word: &str) -> Result<u64> {
    word.parse().map_err(|_| format!("{word:?} is no number"))
}
