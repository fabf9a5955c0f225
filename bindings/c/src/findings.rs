//! What a verification found.

use hammerspace::Report;

use crate::error::Error;

/// A list of all that is wrong with a table.
pub struct Findings {
    count: u64,
    kept: Vec<Error>,
}

impl Findings {
    #[expect(clippy::unnecessary_wraps, reason = "what its callers write to their callers' memory")]
    pub(crate) fn boxed(report: Report) -> Option<Box<Self>> {
        let kept = report.findings.into_iter().map(Error::from).collect();
        Some(Box::new(Self { count: report.count, kept }))
    }
}

/// How many findings there are: 0 for a sound table, and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_findings_count(findings: Option<&Findings>) -> u64 {
    findings.map_or(0, |findings| findings.count)
}

/// A finding by its place from 0 on, with file, offset and remedy. NULL where there is none, and behind the first 100, which are
/// all that are kept. Lives as long as the list, and is not freed by itself.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_findings_at(findings: Option<&Findings>, at: usize) -> Option<&Error> {
    findings?.kept.get(at)
}

/// Frees the list. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_findings_free(findings: Option<Box<Findings>>) {
    drop(findings);
}
