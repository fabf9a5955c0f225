//! Benches in other languages: programs that give their rows as JSON, one a line.
//!
//! `cargo xtask bench` builds what such a program needs, and says by an environment variable how it is started.

use std::env;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::Result;
use crate::report::Row;

/// A bench's name, and the variable that has the words to start it, separated by blanks.
pub(crate) const LANGUAGES: &[(&str, &str)] = &[("ruby", "HAMMERSPACE_BENCH_RUBY")];

/// A line: what such a program has measured.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    name: String,
    unit: String,
    ours: f64,
    peer: f64,
    peer_name: String,
    goal: Option<String>,
}

/// All rows of the languages whose programs are there to be run; one that was asked for by its name must be.
pub(crate) fn rows(wanted: Option<&str>, small: bool) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (name, variable) in LANGUAGES.iter().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == *name)) {
        match env::var(variable) {
            Ok(words) => rows.extend(run(&words, small)?),
            Err(_) if wanted.is_some() => return Err(format!("start it by `cargo xtask bench {name}`").into()),
            Err(_) => {}
        }
    }
    Ok(rows)
}

fn run(words: &str, small: bool) -> Result<Vec<Row>> {
    let mut words = words.split(' ');
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).args(small.then_some("--small"));
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("the bench ended with {}; what it said is above", output.status).into());
    }
    String::from_utf8(output.stdout)?.lines().map(row).collect()
}

fn row(line: &str) -> Result<Row> {
    let Line { name, unit, ours, peer, peer_name, goal } = serde_json::from_str(line)?;
    Ok(Row::new(name, unit, ours, peer_name, peer).goal(goal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programs_lines_become_rows_and_what_it_lacks_is_told() {
        let line = r#"{"name":"get","unit":"ns","ours":3,"peer":2.0,"peer_name":"Hash","goal":"<= 1.6"}"#;
        let row = serde_json::to_value(row(line).unwrap()).unwrap();
        assert_eq!((&row["ratio"], &row["met"]), (&1.5.into(), &true.into()));
        assert!(super::row("{}").is_err());
        assert!(run("false", true).err().unwrap().to_string().contains("ended with"));
        assert!(run("no-such-program-anywhere", true).is_err());
    }
}
