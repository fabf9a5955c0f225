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

/// The directory of the extension as gems have it.
pub(crate) fn shipped() -> Result<PathBuf> {
    debian::install(&debian::RUBY)?;
    extension(&Build::Benches)
}

fn with_binding(mut command: Command, extension: &Path) -> Command {
    command.arg("-I").arg(extension).arg("-I").arg(root().join("bindings/ruby/lib"));
    command
}

/// Runs the suite, then builds and installs the gem as users do, from what cargo has in its cache.
pub(crate) fn test() -> Result {
    suite()?;
    rehearse()
}

/// From the gem's own sources to a program that uses it; and in place, by rake.
fn rehearse() -> Result {
    let (binding, gems) = (root().join("bindings/ruby"), target_dir().join("gems"));
    let gem = gems.join("hammerspace.gem");
    fs::create_dir_all(&gems).map_err(|cause| format!("{}: {cause}", gems.display()))?;
    let step = |line: &str| {
        let mut command = program(line);
        command
            .env("HAMMERSPACE_PROFILE", "dev")
            .env("CARGO_TARGET_DIR", target_dir())
            .env("CARGO_NET_OFFLINE", "true");
        command.current_dir(&binding);
        command
    };
    run_quietly(step("gem build hammerspace.gemspec --output").arg(&gem))?;
    run_quietly(step("gem install --local --force --no-document --install-dir").arg(&gems).arg(&gem))?;
    let use_it = "h = Hammerspace.new(ARGV[0]); h['a'] = 'b'; exit h['a'] == 'b'";
    let used = step("ruby -rhammerspace -e").arg(use_it).arg(gems.join("space")).env("GEM_PATH", &gems).output();
    if !used.is_ok_and(|output| output.status.success()) {
        return Err(format!("the gem that was installed in {} does not work", gems.display()));
    }
    run_quietly(&mut step("rake compile"))?;
    run_quietly(&mut step("rake clean clobber"))
}

fn suite() -> Result {
    debian::install(&debian::RUBY)?;
    let extension = extension(&Build::Tests)?;
    // The command, whose catalogues the suite reads.
    let mut command = program("cargo build --quiet --package hammerspace-cli --target-dir");
    run_quietly(command.arg(target_dir()).current_dir(root()))?;
    let mut suite = with_binding(program("rspec --format progress"), &extension);
    run(suite.env("HAMMERSPACE_EXTENSION", &extension).current_dir(root().join("bindings/ruby")))
}
