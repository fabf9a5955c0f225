//! Exact sets beside their peer, pyroaring, from the Python Package Index.

use std::fs;
use std::process::Command;

use crate::Result;
use crate::program::{program, root, run, target_dir};
use crate::python;

const PEER: &str = "pyroaring>=1,<2";

/// Each reads what the other writes.
pub(crate) fn test() -> Result {
    let python = python::with("python-roaring", &[PEER])?;
    run(&mut program("cargo build --quiet --package hammerspace-cli"))?;
    let scratch = target_dir().join("roaring");
    // What is left of the last time.
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch).map_err(|cause| format!("{}: {cause}", scratch.display()))?;
    let mut script = Command::new(&python);
    script.arg(root().join("tests/interop/roaring/peers.py")).env("PYTHONDONTWRITEBYTECODE", "1");
    run(script.arg(target_dir().join("debug/hammerspace")).arg(scratch))
}
