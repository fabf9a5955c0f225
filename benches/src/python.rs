//! The bench `python`: the package beside Python's own `dict`. Measured by `bindings/python/benches/dict.py`, in the
//! interpreter that `HAMMERSPACE_PYTHON` names; here its numbers become rows.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::Result;
use crate::report::Row;
use crate::scale::Scale;

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../bindings/python/benches/dict.py");

/// What the program prints, once for each row.
#[derive(Deserialize)]
struct Measured {
    name: String,
    unit: String,
    ours: f64,
    peer: f64,
    peer_name: String,
    goal: Option<String>,
}

pub(crate) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let python = std::env::var("HAMMERSPACE_PYTHON").map_err(|_| "run it by `cargo xtask bench python`")?;
    let mut command = Command::new(python);
    command.arg(PROGRAM).arg(scratch).args(scale.goal("full").is_none().then_some("--small"));
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{PROGRAM} ended with {}", output.status).into());
    }
    let measured: Vec<Measured> = serde_json::from_slice(&output.stdout)?;
    Ok(measured.into_iter().map(Measured::row).collect())
}

impl Measured {
    fn row(self) -> Row {
        // Rows have names that live as long as the program.
        let [unit, peer_name] = [self.unit, self.peer_name].map(|name| &*name.leak());
        Row::new(self.name, unit, self.ours, peer_name, self.peer).goal(self.goal.map(|goal| &*goal.leak()))
    }
}
