//! What the demo found: a table and its moral, or one object.

use std::fmt;
use std::time::Duration;

use console::style;
use indicatif::{DecimalBytes, HumanCount};
use serde::{Serialize, Serializer};

use super::swap::Swaps;
use super::words::{bytes, time, times};

#[derive(Serialize)]
pub(super) struct Report {
    pub(super) workers: usize,
    pub(super) keys: u64,
    pub(super) hash_map: Half,
    pub(super) space: Half,
    #[serde(serialize_with = "swap")]
    pub(super) swap: Swaps,
}

/// One half of the demo.
#[derive(Serialize)]
pub(super) struct Half {
    /// Memory of all workers together, each shared page counted once; `None` where the system does not tell.
    #[serde(rename = "pss_bytes")]
    pub(super) pss: Option<u64>,
    /// From the start of the first worker until the last one had answered a request.
    #[serde(rename = "ready_ms", serialize_with = "ms")]
    pub(super) ready: Duration,
    /// What it took a worker to get at its data: the median of all.
    #[serde(rename = "open_us", serialize_with = "us")]
    pub(super) open: Duration,
    #[serde(rename = "get_p50_ns", serialize_with = "ns")]
    pub(super) p50: Duration,
    #[serde(rename = "get_p99_ns", serialize_with = "ns")]
    pub(super) p99: Duration,
}

fn swap<S: Serializer>(swaps: &Swaps, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Swap {
        #[serde(serialize_with = "ms")]
        max_ms: Duration,
        mixed: u64,
        missed: u64,
    }
    Swap { max_ms: swaps.longest(), mixed: swaps.tally.mixed, missed: swaps.tally.missed }.serialize(to)
}

fn ms<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((time.as_secs_f64() * 1e6).round() / 1e3)
}

fn us<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((time.as_secs_f64() * 1e9).round() / 1e3)
}

fn ns<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(time.as_nanos() as u64)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workers, hash_map: own, space: shared, .. } = self;
        let title = format!("{:35}{:>13}{:>14}", "", format!("{workers} HashMaps"), "one space");
        writeln!(f, "\n{}", style(title).bold())?;
        let less = times(own.pss.unwrap_or(0), shared.pss.unwrap_or(0), ["less", "more"]);
        row(f, &format!("memory of all {workers} workers"), &bytes(own.pss), &bytes(shared.pss), &less)?;
        time_row(f, "until the last one is ready", own.ready, shared.ready, ["sooner", "later"])?;
        time_row(f, "opening, in one worker", own.open, shared.open, FASTER)?;
        time_row(f, "a random read, median", own.p50, shared.p50, FASTER)?;
        time_row(f, "a random read, 99 of 100 within", own.p99, shared.p99, FASTER)?;
        self.told_of_swaps(f)?;
        self.moral(f)
    }
}

const FASTER: [&str; 2] = ["faster", "slower"];

fn row(f: &mut fmt::Formatter<'_>, what: &str, own: &str, shared: &str, versus: &str) -> fmt::Result {
    writeln!(f, "   {what:32}{own:>13} {}   {versus}", style(format!("{shared:>13}")).cyan().bold())
}

fn time_row(f: &mut fmt::Formatter<'_>, what: &str, own: Duration, shared: Duration, words: [&str; 2]) -> fmt::Result {
    let versus = times(own.as_nanos() as u64, shared.as_nanos() as u64, words);
    row(f, what, &time(own), &time(shared), &versus)
}

impl Report {
    fn told_of_swaps(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Swaps { delays, tally } = &self.swap;
        let delays: Vec<String> = delays.iter().map(|delay| time(*delay)).collect();
        writeln!(f, "\n   New versions, published while all {} workers read", self.workers)?;
        writeln!(f, "     seen by the last worker after  {}", delays.join(", "))?;
        let of = format!("of {} reads", HumanCount(tally.reads));
        writeln!(f, "     saw two versions at once       {} {of}", HumanCount(tally.mixed))?;
        writeln!(f, "     missed their key               {} {of}", HumanCount(tally.missed))
    }

    /// The whole story in three lines.
    fn moral(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workers, hash_map: own, space: shared, .. } = self;
        writeln!(f)?;
        if let (Some(own), Some(shared)) = (own.pss, shared.pss) {
            let freed = DecimalBytes(own.saturating_sub(shared));
            writeln!(f, "   One copy instead of {workers}: {freed} are free for something else.")?;
        }
        writeln!(f, "   A worker starts with everything in {}, instead of {}.", time(shared.open), time(own.open))?;
        writeln!(f, "   What you publish is everywhere within {}, all of it at once.", time(self.swap.longest()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tally::Tally;
    use super::*;

    fn half(pss: u64, ready_ms: u64, open_ns: u64) -> Half {
        let [ready, open] = [Duration::from_millis(ready_ms), Duration::from_nanos(open_ns)];
        let [p50, p99] = [120, 350].map(Duration::from_nanos);
        Half { pss: Some(pss), ready, open, p50, p99 }
    }

    fn report() -> Report {
        let tally = Tally { reads: 1_234_567, ..Tally::default() };
        let delays = [3, 12, 5].map(Duration::from_millis).into();
        let (hash_map, space) = (half(119_600_000, 640, 310_000_000), half(14_900_000, 9, 84_120));
        Report { workers: 8, keys: 89_224, hash_map, space, swap: Swaps { delays, tally } }
    }

    #[test]
    fn as_json_it_is_just_these_members() {
        assert_eq!(
            serde_json::to_value(report()).unwrap(),
            json!({
                "workers": 8,
                "keys": 89_224,
                "hash_map": { "pss_bytes": 119_600_000, "ready_ms": 640.0, "open_us": 310_000.0, "get_p50_ns": 120, "get_p99_ns": 350 },
                "space": { "pss_bytes": 14_900_000, "ready_ms": 9.0, "open_us": 84.12, "get_p50_ns": 120, "get_p99_ns": 350 },
                "swap": { "max_ms": 12.0, "mixed": 0, "missed": 0 },
            })
        );
    }

    #[test]
    fn as_words_it_fits_a_terminal() {
        let told = report().to_string();
        assert!(told.contains("8.0 times less") && told.contains("71 times sooner"), "{told}");
        assert!(told.lines().all(|line| console::measure_text_width(line) <= 100), "{told}");
    }
}
