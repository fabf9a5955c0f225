//! The Node package: assembled and packed as it is shipped, installed where its suite lies, and the suite
//! run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{program, root, run, run_quietly, target_dir};
use crate::{Result, debian};

/// What npm is told, whatever it does: our packages have no install scripts, and those of others are not run.
const QUIETLY: [&str; 5] = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];

/// Installs the package that users get beside the tools of its suite, and runs that.
pub(crate) fn test() -> Result {
    debian::install_node()?;
    let suite = suite("node", "dev", "debug")?;
    let node = |line: &str| {
        let mut command = program(line);
        command.current_dir(&suite).env("HAMMERSPACE_ROOT", root());
        command
    };
    run_quietly(&mut node("node --test"))?;
    run_quietly(&mut node("node_modules/.bin/vitest run"))?;
    run_quietly(&mut node("node_modules/.bin/tsc --project ."))
}

/// The suite's directory with the package as it is shipped, where the bench lies.
pub(crate) fn shipped() -> Result<PathBuf> {
    debian::install_node()?;
    suite("node-release", "release", "release")
}

/// A copy of the suite below `target/`, with the package in it, built by a cargo profile into its output
/// directory.
fn suite(name: &str, profile: &str, output: &str) -> Result<PathBuf> {
    let place = target_dir().join(name);
    let package = pack(&place.join("package"), profile, output)?;
    let suite = place.join("suite");
    run_quietly(program("rm --recursive --force").arg(&suite))?;
    fs::create_dir_all(&suite).map_err(|cause| format!("{}: {cause}", suite.display()))?;
    let source = root().join("bindings/node/test/.");
    run_quietly(program("cp --recursive").arg(source).arg(root().join("bindings/node/samples")).arg(&suite))?;
    run_quietly(&mut npm(&suite, "ci"))?;
    run_quietly(npm(&suite, "install").arg("--no-save").arg(package))?;
    Ok(suite)
}

/// Assembles the package in a directory, and packs it; gives the tarball.
fn pack(package: &Path, profile: &str, output: &str) -> Result<PathBuf> {
    run(&mut program(&format!("cargo build --quiet --profile {profile} --package hammerspace-node")))?;
    let bindings = root().join("bindings/node");
    let native = package.join("native");
    run_quietly(program("rm --recursive --force").arg(package))?;
    fs::create_dir_all(&native).map_err(|cause| format!("{}: {cause}", native.display()))?;
    let library = target_dir().join(output).join("libhammerspace_node.so");
    run_quietly(program("cp").arg(library).arg(native.join(file_name())))?;
    let files = ["lib", "package.json", "README.md"].map(|name| bindings.join(name));
    let licences = ["LICENSE-APACHE", "LICENSE-MIT"].map(|name| root().join(name));
    run_quietly(program("cp --recursive").args(files).args(licences).arg(package))?;
    run_quietly(npm(package, "pack").arg("--pack-destination").arg(package))?;
    Ok(package.join("hammerspace-0.1.0.tgz"))
}

/// What `lib/native.cjs` looks for: the library under Node's names for the system and the processor.
fn file_name() -> &'static str {
    if cfg!(target_arch = "aarch64") { "linux-arm64.node" } else { "linux-x64.node" }
}

fn npm(directory: &Path, verb: &str) -> Command {
    let mut command = program("npm");
    command.arg(verb).args(QUIETLY).current_dir(directory);
    command
}
