//! `hammerspace store verify STORE`: every record and every slot, while nobody writes.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use hammerspace::Store;
use hammerspace::store::Report;
use hammerspace_error::Result;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::exit::Outcome;
use crate::output::Output;
use crate::progress::Progress;

/// Look at every record and every slot of a store that nobody owns, and say what is wrong
#[derive(Args)]
#[command(after_help = "Example: hammerspace store verify visits")]
pub(crate) struct Verify {
    /// The directory of the store
    store: PathBuf,
}

impl Verify {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let working = Progress::unknown("verify");
        let verdict = Verdict(Store::open(&self.store)?.verify()?);
        drop(working);
        verdict.tell(out)
    }
}

/// What a look at everything found.
struct Verdict(Report);

impl Verdict {
    fn tell(&self, out: &mut Output) -> Result<Outcome> {
        out.answer(self)?;
        Ok(if self.0.faults == 0 { Outcome::Found } else { Outcome::Broken })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.miscounted != 0 {
            writeln!(f, "{} bytes more are counted as live than are, as when an owner was killed", self.0.miscounted)?;
        }
        if self.0.faults == 0 {
            return writeln!(f, "sound: {} records", self.0.records);
        }
        self.0.findings.iter().try_for_each(|finding| writeln!(f, "{finding}"))?;
        writeln!(f, "not sound: {} findings", self.0.faults)
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let Report { records, bytes, miscounted, findings, faults, .. } = &self.0;
        json!({
            "sound": *faults == 0,
            "records": records,
            "bytes": bytes,
            "miscounted": miscounted,
            "count": faults,
            "findings": findings,
        })
        .serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_counted_is_told_and_is_no_fault() {
        let report = Report { records: 3, miscounted: 40, ..Report::default() };
        let told = "40 bytes more are counted as live than are, as when an owner was killed\nsound: 3 records\n";
        let verdict = Verdict(report);
        assert_eq!(verdict.to_string(), told);
        let json = serde_json::to_value(verdict).unwrap();
        assert_eq!((&json["sound"], &json["miscounted"]), (&json!(true), &json!(40)));
    }
}
