//! `hammerspace man DIR`: a man page for the command and for each verb.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use hammerspace_error::{Doing, Result};
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;

/// Write man pages into a directory
#[derive(Args)]
pub(crate) struct Man {
    /// Where to write them, as hammerspace.1, hammerspace-get.1 and so on; made if it is missing
    dir: PathBuf,
}

#[derive(Serialize)]
struct Answer {
    pages: Vec<String>,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pages.iter().try_for_each(|page| writeln!(f, "{page}"))
    }
}

impl Man {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let pages = write_pages(&self.dir).map_err(|error| error.file(&self.dir))?;
        out.done(&Answer { pages })?;
        Ok(Outcome::Found)
    }
}

/// Writes all pages, and gives their names in order.
fn write_pages(dir: &Path) -> Result<Vec<String>> {
    fs::create_dir_all(dir).doing("make the directory")?;
    clap_mangen::generate_to(crate::args::command(), dir).doing("write the man pages")?;
    let mut pages = Vec::new();
    for entry in fs::read_dir(dir).doing("list the directory")? {
        let name = entry.doing("list the directory")?.file_name().to_string_lossy().into_owned();
        if name.starts_with("hammerspace") {
            pages.push(name);
        }
    }
    pages.sort();
    Ok(pages)
}
