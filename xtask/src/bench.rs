//! `cargo xtask bench`: the benches live in the crate `benches/`; here they get what they need and are built optimised.

use clap::Args;

use crate::program::{self, program};
use crate::{Result, debian, java, node, python, ruby, stripe};

#[derive(Args)]
pub(crate) struct Options {
    /// One bench; without it, all of them
    name: Option<String>,
    /// Small inputs: seconds instead of minutes, for a look; no result file is written
    #[arg(long)]
    small: bool,
    /// One JSON object on standard output, nothing else
    #[arg(long)]
    json: bool,
}

/// What the bench of Python reads is what the large demo does, which fetches it once and keeps it.
fn fetch_catalogues() -> Result {
    let mut demo =
        program("cargo run --quiet --release --package hammerspace-cli -- demo --full --workers 1 --seconds 1");
    // Standard output is the bench's.
    program::run(demo.stdout(std::io::stderr()))
}

pub(crate) fn run(options: &Options) -> Result {
    debian::install(&[&debian::SNAPPY[..], &debian::STORES, &debian::JAVA].concat())?;
    java::build()?;
    if options.name.as_deref() == Some("python") && !options.small {
        fetch_catalogues()?;
    }
    let mut command = program("cargo run --quiet --release --package hammerspace-benches --");
    command.args(&options.name);
    command.args(options.small.then_some("--small"));
    command.args(options.json.then_some("--json"));
    // The benches of the bindings are run by name, and by their own interpreters.
    match options.name.as_deref() {
        Some("java") => command.env("HAMMERSPACE_JAVA", java::shipped()?),
        Some("node") => command.env("HAMMERSPACE_NODE", node::shipped()?),
        Some("python") => command.env("HAMMERSPACE_PYTHON", python::shipped()?),
        Some("ruby") => command.env("HAMMERSPACE_RUBY", ruby::shipped()?),
        Some("stripe") => {
            let (python, hammerspace) = stripe::shipped()?;
            command.env("HAMMERSPACE_PEERS", python).env("HAMMERSPACE", hammerspace)
        }
        _ => &mut command,
    };
    program::run(&mut command)
}
