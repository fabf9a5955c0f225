//! The Ruby binding: its extension, built as gems are, and its suite.
//!
//! Everything goes to `target/ruby`: what `extconf.rb` and `make` leave behind, and below `lib` what Ruby loads.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

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
    // A directory may have a space in its name.
    let (binding, gems) = (root().join("bindings/ruby"), target_dir().join("ruby gems"));
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
    works(&gems)?;
    rehearse_vendored(&gem, &gems.join("vendored"))?;
    run_quietly(&mut step("rake compile"))?;
    run_quietly(&mut step("rake clean clobber"))
}

/// The same by the guide's lines for a machine without a network. Cargo's own directory there is a new one, and stays without a crate.
fn rehearse_vendored(gem: &Path, place: &Path) -> Result {
    let page = include_str!("../../docs/guide/ruby.md");
    let is_code = |line: &&str| line.starts_with("    ");
    let lines: Vec<&str> =
        page.lines().skip_while(|line| !line.contains("gem unpack")).take_while(is_code).map(str::trim).collect();
    let failed = |cause: io::Error| format!("{}: {cause}", place.display());
    if place.exists() {
        fs::remove_dir_all(place).map_err(failed)?;
    }
    fs::create_dir_all(place).map_err(failed)?;
    fs::copy(gem, place.join("hammerspace-0.1.0.gem")).map_err(failed)?;
    let mut shell = program("sh -e -c");
    shell.arg(lines.join("\n")).current_dir(place).env("GEM_HOME", place).env("HAMMERSPACE_PROFILE", "dev");
    run_quietly(shell.env("CARGO_TARGET_DIR", place.with_file_name("vendored-target")))?;
    if place.join("cargo/registry").exists() {
        return Err(format!("{}: cargo fetched crates, though they are vendored", place.display()));
    }
    works(place)
}

/// Whether a program can use the gem that is installed there.
fn works(gems: &Path) -> Result {
    let use_it = "h = Hammerspace.new(ARGV[0]); h['a'] = 'b'; exit h['a'] == 'b'";
    let mut ruby = program("ruby -rhammerspace -e");
    if ruby
        .arg(use_it)
        .arg(gems.join("space"))
        .env("GEM_PATH", gems)
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return Ok(());
    }
    Err(format!("the gem that was installed in {} does not work", gems.display()))
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
