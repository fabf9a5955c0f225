//! The benches of the bindings: programs in their languages, beside those languages' own maps. Each is run by the interpreter
//! that `cargo xtask bench` has prepared, prints its rows as JSON, and they become rows here.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::Result;
use crate::report::Row;
use crate::scale::Scale;

/// What a program prints, once for each row.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Measured {
    name: String,
    unit: String,
    ours: f64,
    peer: f64,
    peer_name: String,
    goal: Option<String>,
}

/// `bindings/python/benches/dict.py`, in the interpreter that `HAMMERSPACE_PYTHON` names.
pub(crate) fn python(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let mut command = Command::new(prepared("python", "HAMMERSPACE_PYTHON")?);
    command.arg(bindings().join("python/benches/dict.py"));
    rows(command, scale, scratch)
}

/// `bindings/ruby/bench/hash.rb`, with the extension in the directory that `HAMMERSPACE_RUBY` names.
pub(crate) fn ruby(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let extension = prepared("ruby", "HAMMERSPACE_RUBY")?;
    let mut command = Command::new("ruby");
    command.arg("-I").arg(extension).arg("-I").arg(bindings().join("ruby/lib"));
    command.arg(bindings().join("ruby/bench/hash.rb"));
    rows(command, scale, scratch)
}

/// The class `Bench` of `bindings/java`, on the class path that `HAMMERSPACE_JAVA` names.
pub(crate) fn java(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let mut command = Command::new("java");
    command.arg("-Xmx2g").arg("-cp").arg(prepared("java", "HAMMERSPACE_JAVA")?).arg("hammerspace.Bench");
    rows(command, scale, scratch)
}

/// `bindings/node/test/bench/bench.mjs`, in the directory that `HAMMERSPACE_NODE` names, with its packages.
pub(crate) fn node(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let suite = prepared("node", "HAMMERSPACE_NODE")?;
    let mut command = Command::new("node");
    command.arg(Path::new(&suite).join("bench/bench.mjs"));
    rows(command, scale, scratch)
}

/// `benches/stripe/bench.py`, in the interpreter that `HAMMERSPACE_PEERS` names, with the command that `HAMMERSPACE` names.
pub(crate) fn stripe(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    prepared("stripe", "HAMMERSPACE")?;
    let mut command = Command::new(prepared("stripe", "HAMMERSPACE_PEERS")?);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("stripe/bench.py"));
    rows(command, scale, scratch)
}

fn bindings() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings")
}

fn prepared(name: &str, variable: &str) -> Result<OsString> {
    std::env::var_os(variable).ok_or_else(|| format!("run it by `cargo xtask bench {name}`").into())
}

fn rows(mut command: Command, scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    command.arg(scratch).args(scale.goal("full").is_none().then_some("--small"));
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{} ended with {}", command.get_program().display(), output.status).into());
    }
    parse(&output.stdout)
}

fn parse(printed: &[u8]) -> Result<Vec<Row>> {
    let measured: Vec<Measured> = serde_json::from_slice(printed)?;
    let row = |row: Measured| Row::new(row.name, row.unit, row.ours, row.peer_name, row.peer).goal(row.goal);
    Ok(measured.into_iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_prints_becomes_rows() {
        let printed = br#"[{"name":"get","unit":"ns","ours":3,"peer":2.0,"peer_name":"Hash","goal":"<= 1.6"}]"#;
        let rows = serde_json::to_value(parse(printed).unwrap()).unwrap();
        assert_eq!((&rows[0]["ratio"], &rows[0]["met"]), (&1.5.into(), &true.into()));
        assert!(parse(b"[{}]").is_err());
    }

    #[test]
    fn canary_a_program_that_fails_is_an_error() {
        let said = |program| rows(Command::new(program), &Scale::SMALL, Path::new("/")).err().unwrap().to_string();
        assert!(said("false").contains("ended with"));
        assert!(!said("no-such-program-anywhere").is_empty());
    }
}
