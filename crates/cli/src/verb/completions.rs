//! `hammerspace completions SHELL`: what a shell needs to complete our command line.

use std::fmt;

use clap::Args;
use clap_complete::{Shell, generate};
use hammerspace_error::Result;
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;

/// Print completions for a shell
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell that will read them
    shell: Shell,
}

#[derive(Serialize)]
struct Answer {
    shell: String,
    script: String,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.script)
    }
}

impl Completions {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let mut script = Vec::new();
        generate(self.shell, &mut crate::args::command(), "hammerspace", &mut script);
        let script = String::from_utf8(script).expect("completions are text");
        out.answer(&Answer { shell: self.shell.to_string(), script })?;
        Ok(Outcome::Found)
    }
}
