//! The manual's sessions, run as they stand.
//!
//! A block marked `console` in `docs/guide/command.md` or `store.md` is a session: each line after `$` goes to a shell, and what follows
//! must be what it prints, standard output and standard error together. `[..]` stands for anything within a line, and a
//! last line `? N` for exit code N; a line after `>` goes on with the command; without one the code is 0. All sessions of a page share one directory.

use std::ffi::OsString;
use std::fmt::Write;
use std::process::Command;

use crate::postgres::Postgres;
use crate::ran::Place;

#[test]
fn the_manual_says_what_happens() {
    run(include_str!("../../../../docs/guide/command.md"), 30);
}

#[test]
fn the_guide_to_stores_says_what_happens() {
    run(include_str!("../../../../docs/guide/store.md"), 8);
}

#[cfg(feature = "parquet")]
#[test]
fn the_guide_to_stripes_says_what_happens() {
    run(include_str!("../../../../docs/guide/stripes.md"), 15);
}

/// With a PostgreSQL of its own, and its `hll`.
#[test]
fn the_guide_to_counting_says_what_happens() {
    let postgres = Postgres::start().unwrap();
    run_with(include_str!("../../../../docs/guide/counting.md"), 25, &postgres.environment());
}

fn run(page: &str, steps_min: usize) {
    run_with(page, steps_min, &[]);
}

fn run_with(page: &str, steps_min: usize, environment: &[(&str, OsString)]) {
    let place = Place::new();
    let steps = steps(page);
    assert!(steps.len() >= steps_min, "the page has {} commands", steps.len());
    for step in &steps {
        step.check(&place, environment).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

/// A command, and what it must print.
struct Step {
    line: usize,
    command: String,
    expected: String,
}

impl Step {
    fn check(&self, place: &Place, environment: &[(&str, OsString)]) -> Result<(), String> {
        let path = format!("{}:{}", place.path().join("bin").display(), std::env::var("PATH").unwrap());
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{}", self.command)])
            .env("PATH", path)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .current_dir(place.path())
            .output()
            .unwrap();
        let mut printed = String::from_utf8(output.stdout).unwrap();
        if !printed.is_empty() && !printed.ends_with('\n') {
            printed.push('\n');
        }
        if !output.status.success() {
            writeln!(printed, "? {}", output.status.code().unwrap()).unwrap();
        }
        if matches(&self.expected, &printed) {
            return Ok(());
        }
        Err(format!("line {}: $ {}\nexpected:\n{}printed:\n{printed}", self.line, self.command, self.expected))
    }
}

/// The commands of every `console` block.
fn steps(page: &str) -> Vec<Step> {
    let (mut steps, mut inside) = (Vec::<Step>::new(), false);
    for (number, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let (true, Some(command)) = (inside, line.strip_prefix("$ ")) {
            steps.push(Step { line: number + 1, command: command.into(), expected: String::new() });
        } else if let (true, Some(more)) = (inside, line.strip_prefix("> ")) {
            let step = steps.last_mut().expect("a session starts with a command");
            step.command.extend(["\n", more]);
        } else if inside {
            let step = steps.last_mut().expect("a session starts with a command");
            step.expected += line;
            step.expected.push('\n');
        }
    }
    steps
}

fn matches(expected: &str, printed: &str) -> bool {
    expected.lines().count() == printed.lines().count()
        && expected.lines().zip(printed.lines()).all(|(expected, printed)| line_matches(expected, printed))
}

fn line_matches(expected: &str, printed: &str) -> bool {
    let Some((start, rest)) = expected.split_once("[..]") else { return expected == printed };
    let Some(mut printed) = printed.strip_prefix(start) else { return false };
    let mut pieces: Vec<&str> = rest.split("[..]").collect();
    let end = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some(at) = printed.find(piece) else { return false };
        printed = &printed[at + piece.len()..];
    }
    printed.ends_with(end)
}

/// A runner that cannot see these differences sees none.
#[test]
fn canary_what_is_not_as_written_is_noticed() {
    let place = Place::new();
    for (session, fits) in [
        ("$ echo a b\na b\n", true),
        ("$ echo a b\na [..]\n", true),
        ("$ echo a b\n[..] b\n", true),
        ("$ echo a\nb\n", false),
        ("$ echo a\n", false),
        ("$ true\na\n", false),
        ("$ false\n", false),
        ("$ false\n? 1\n", true),
        ("$ echo a b\nb[..]\n", false),
        ("$ cat <<END\n> a\n> END\na\n", true),
        ("$ echo a b\n[..]c[..]\n", false),
    ] {
        let steps = steps(&format!("```console\n{session}```\n$ not a session\n"));
        assert_eq!(steps.len(), 1);
        assert_eq!(steps[0].check(&place, &[]).is_ok(), fits, "{session}");
    }
}
