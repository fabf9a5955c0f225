//! Java: the peer of the interop test, and the binding. Maven builds both into the target directory.

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use crate::program::{program, root, run_quietly, target_dir};
use crate::{Result, debian};

/// Compiles the interop test's driver and puts the jars that it runs with beside it: `target/interop-java/{classes,dependency}`.
pub(crate) fn build() -> Result {
    let directory = target_dir().join("interop-java");
    let maven = "mvn --quiet --batch-mode --file tests/interop/java/pom.xml compile";
    run_quietly(program(maven).arg(format!("-DbuildDirectory={}", directory.display())))
}

/// Runs the binding's suite, packs its jars, and uses the one that programs get.
pub(crate) fn test() -> Result {
    debian::install(&debian::JAVA)?;
    let directory = target_dir().join("java");
    run_quietly(maven(&directory, "dev", "debug").arg("verify"))?;
    rehearse(&directory)
}

/// Runs a program with the jar as a module, and nothing else, in a directory of its own.
fn rehearse(directory: &Path) -> Result {
    let place = directory.join("rehearsal");
    let renewed = match fs::remove_dir_all(&place) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => fs::create_dir(&place),
    };
    renewed.map_err(|cause| format!("{}: {cause}", place.display()))?;
    let mut java = program("java --add-modules hammerspace --module-path");
    java.arg(directory.join("hammerspace-0.1.0.jar")).arg(root().join("bindings/java/samples/Publish.java"));
    run_quietly(java.current_dir(&place))
}

/// The class path of the bench, with the library as it is shipped.
pub(crate) fn shipped() -> Result<String> {
    let directory = target_dir().join("java-release");
    run_quietly(maven(&directory, "release", "release").arg("test-compile"))?;
    let peers = target_dir().join("interop-java/dependency/*");
    let places = [directory.join("classes"), directory.join("test-classes"), peers];
    Ok(places.map(|place| place.display().to_string()).join(":"))
}

/// Maven for the binding, which builds into a directory, with the library of a cargo profile and its output directory.
fn maven(directory: &Path, profile: &str, output: &str) -> Command {
    let mut maven = program("mvn --quiet --batch-mode --file bindings/java/pom.xml");
    maven.arg(format!("-DbuildDirectory={}", directory.display()));
    maven.arg(format!("-Dcargo.target={}", target_dir().display()));
    maven.args([format!("-Dcargo.profile={profile}"), format!("-Dcargo.output={output}")]);
    maven
}
