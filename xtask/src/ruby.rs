//! The Ruby binding: its extension, built as gems are, and its suite.
//!
//! Everything goes to `target/ruby`: what `extconf.rb` and `make` leave behind, and below `lib` what Ruby loads.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{program, root, run, run_quietly, target_dir};
use crate::{Result, debian};

/// What cargo calls the builds of the two who need one, and what we call the directories of theirs.
pub(crate) enum Build {
    /// As the tests build everything.
    Tests,
    /// As gems are.
    Benches,
}

/// Builds the extension; gives the directory that Ruby loads it from.
pub(crate) fn extension(build: &Build) -> Result<PathBuf> {
    let (profile, name) = match build {
        Build::Tests => ("dev", "ruby"),
        Build::Benches => ("release", "ruby-release"),
    };
    let place = target_dir().join(name);
    fs::create_dir_all(&place).map_err(|cause| format!("{}: {cause}", place.display()))?;
    let mut configure = program("ruby");
    configure.arg(root().join("bindings/ruby/ext/hammerspace/extconf.rb")).env("HAMMERSPACE_PROFILE", profile);
    run_quietly(configure.env("CARGO_TARGET_DIR", target_dir()).current_dir(&place))?;
    let lib = place.join("lib");
    let directories = ["sitearchdir", "sitelibdir"].map(|name| format!("{name}={}", lib.display()));
    run_quietly(program("make install").args(directories).current_dir(&place))?;
    Ok(lib)
}

/// Builds what the bench needs; gives the words that start it.
pub(crate) fn bench() -> Result<String> {
    debian::install(&debian::RUBY)?;
    let extension = extension(&Build::Benches)?;
    let binding = root().join("bindings/ruby");
    Ok(format!("ruby -I{} -I{1}/lib {1}/bench/hash.rb", extension.display(), binding.display()))
}

fn with_binding(mut command: Command, extension: &Path) -> Command {
    command.arg("-I").arg(extension).arg("-I").arg(root().join("bindings/ruby/lib"));
    command
}

/// Runs the suite.
pub(crate) fn test() -> Result {
    debian::install(&debian::RUBY)?;
    let extension = extension(&Build::Tests)?;
    let mut suite = with_binding(program("rspec --format progress"), &extension);
    run(suite.env("HAMMERSPACE_EXTENSION", &extension).current_dir(root().join("bindings/ruby")))
}
