//! Ctrl-C: ends the process with words about what stays.
//!
//! The words are true because the answer is looked up when the signal comes: a version is current or not, a file has been
//! replaced or not. Outputs that are not complete are removed, and from then on none is completed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use console::{Term, style};
use hammerspace::Space;
use hammerspace_error::{Doing, Result};
use hammerspace_os::process::end_by_interrupt;
use hammerspace_tables::{abandon_outputs, open_log};

/// From here on an interrupt says what becomes of the space: once for each run of the command.
pub(crate) fn keeps_space(space: &Path) -> Result<()> {
    let (space, before) = (space.to_path_buf(), version(space));
    says(move || match version(&space) {
        after if after == before => format!("nothing was published, {} is as it was", space.display()),
        after => format!("{} is whole, at version {}", space.display(), after.unwrap_or_default()),
    })
}

fn version(space: &Path) -> Option<u64> {
    Space::open(space).ok()?.snapshot().number()
}

/// The same of files that are replaced when they are complete.
pub(crate) fn keeps_files(files: &[&Path]) -> Result<()> {
    let before: Vec<_> = files.iter().map(|file| (file.to_path_buf(), identity(file))).collect();
    says(move || before.iter().map(|(file, before)| what_became_of(file, *before)).collect::<Vec<_>>().join(", "))
}

fn what_became_of(file: &Path, before: Option<(u64, u64)>) -> String {
    let state = match identity(file) {
        None => "was not made",
        _ if !file.is_file() => "keeps what was written to it",
        after if after == before => "is as it was",
        _ => "is complete",
    };
    format!("{} {state}", file.display())
}

fn identity(file: &Path) -> Option<(u64, u64)> {
    fs::metadata(file).ok().map(|file| (file.dev(), file.ino()))
}

/// The same of a log that is appended to.
pub(crate) fn keeps_log(log: &Path) -> Result<()> {
    let entries = |log: &Path| {
        let log = open_log(log);
        log.map_or(0, |log| log.header().num_puts + log.header().num_deletes)
    };
    let (log, before) = (log.to_path_buf(), entries(log));
    says(move || match entries(&log) - before {
        0 => format!("nothing was appended, {} is as it was", log.display()),
        more => format!("{} has {more} more entries", log.display()),
    })
}

fn says(stays: impl Fn() -> String + Send + 'static) -> Result<()> {
    let end = move || {
        abandon_outputs();
        let terminal = Term::stderr();
        // It may show a progress bar.
        if terminal.is_term() {
            let _ = terminal.clear_line();
        }
        eprintln!("{}: {}", style("interrupted").for_stderr().yellow().bold(), stays());
        end_by_interrupt()
    };
    ctrlc::set_handler(end).map_err(std::io::Error::other).doing("listen for Ctrl-C")
}
