//! The `hammerspace` command.
//!
//! ```text
//! args ─► verb/<name>.rs ─► Output ─► exit code
//!    └──► sparkey/<name>.rs ──┘         one file per verb: what it takes, what it does, what it says
//! ```
//! Called as `sparkey` (a link to this binary is enough) it is Spotify's tool: the verbs, the output and the exit codes
//! of that tool, and what its users lack.
#![forbid(unsafe_code)]

mod args;
mod demo;
mod destination;
mod effort;
mod examples;
mod exit;
mod exporting;
mod interrupt;
mod listing;
mod mapped_by;
mod output;
mod paging;
mod prefix;
mod progress;
mod records;
mod sparkey;
mod splitting;
mod store;
#[cfg(feature = "parquet")]
mod striping;
mod terminal;
mod values;
mod verb;
mod verdict;

use std::error::Error as _;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use hammerspace_error::{Error, Result};

use crate::args::Called;
use crate::exit::{Dialect, Outcome};
use crate::output::Output;

fn main() -> ExitCode {
    let given: Vec<OsString> = std::env::args_os().collect();
    match Called::parse(&given) {
        Ok(called) => {
            let dialect = called.verb.dialect();
            called.terminal.apply();
            let mut out = Output::new(called.json, dialect.name()).quiet(called.terminal.quiet);
            let ended = called.verb.run(&mut out);
            end(ended, dialect, &mut out)
        }
        Err(refusal) => refusal.tell(),
    }
}

/// Flushes, tells of an error if there was one, and finds the exit code.
fn end(ended: Result<Outcome>, dialect: Dialect, out: &mut Output) -> ExitCode {
    let ended = ended.and_then(|outcome| out.flush().map(|()| outcome));
    match ended {
        Ok(outcome) => dialect.code(outcome),
        // `hammerspace scan … | head` has all it wanted.
        Err(error) if nobody_reads(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // If even this cannot be written, the exit code still says it.
            let _ = out.error(&error).and_then(|()| out.flush());
            dialect.code_of(error.kind())
        }
    }
}

fn nobody_reads(error: &Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
