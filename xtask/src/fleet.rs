//! Publishing and following against an S3 server, moto, from the Python Package Index.

use std::fs;
use std::process::Command;

use crate::Result;
use crate::program::{program, root, run, target_dir};
use crate::python;

const SERVER: [&str; 1] = ["moto[server]>=5,<6"];

/// Commands that are killed, answers that fail, and sixteen pushers at once.
pub(crate) fn test() -> Result {
    let python = python::with("python-fleet", &SERVER)?;
    run(&mut program("cargo build --quiet --package hammerspace-cli"))?;
    let scratch = target_dir().join("fleet");
    // What is left of the last time.
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch).map_err(|cause| format!("{}: {cause}", scratch.display()))?;
    let mut command = Command::new(&python);
    command.arg(root().join("tests/interop/fleet/moto.py")).env("PYTHONDONTWRITEBYTECODE", "1");
    run(command.arg(target_dir().join("debug/hammerspace")).arg(&scratch))
}
