//! Striped columns beside their peers, pyarrow and DuckDB, from the Python Package Index.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::Result;
use crate::program::{program, root, run, target_dir};
use crate::python;

const PEERS: [&str; 2] = ["pyarrow>=20,<30", "duckdb>=1.3,<3"];

/// An interpreter that has the peers.
pub(crate) fn peers() -> Result<PathBuf> {
    python::with("python-stripe", &PEERS)
}

/// Each reads what the others write; and the bench, on little.
pub(crate) fn test() -> Result {
    let python = peers()?;
    run(&mut program("cargo build --quiet --package hammerspace-cli"))?;
    let hammerspace = target_dir().join("debug/hammerspace");
    let scratch = target_dir().join("stripe");
    // What is left of the last time.
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch).map_err(|cause| format!("{}: {cause}", scratch.display()))?;
    let script = |path: &str| {
        let mut command = Command::new(&python);
        command.arg(root().join(path)).env("PYTHONDONTWRITEBYTECODE", "1").env("HAMMERSPACE", &hammerspace);
        command
    };
    run(script("tests/interop/stripe/peers.py").arg(&hammerspace).arg(&scratch))?;
    run(script("benches/stripe/bench.py").arg(&scratch).arg("--small"))
}

/// What the bench needs: the interpreter, and the command as it is shipped.
pub(crate) fn shipped() -> Result<(PathBuf, PathBuf)> {
    run(&mut program("cargo build --quiet --release --package hammerspace-cli"))?;
    Ok((peers()?, target_dir().join("release/hammerspace")))
}
