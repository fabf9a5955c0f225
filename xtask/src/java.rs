//! The Java peer, built by Maven from `tests/interop/java` into the target directory, where the interop test expects it.

use crate::Result;
use crate::program::{program, run_quietly, target_dir};

/// Compiles the driver and puts the jars that it runs with beside it: `target/interop-java/{classes,dependency}`.
pub(crate) fn build() -> Result {
    let directory = target_dir().join("interop-java");
    let maven = "mvn --quiet --batch-mode --file tests/interop/java/pom.xml compile";
    run_quietly(program(maven).arg(format!("-DbuildDirectory={}", directory.display())))
}
