//! The conformance cases of `spec/`, read and run over any [`Subject`]: Rust's own, or one that goes through another
//! language's interface. `spec/README.md` is the page on their language.

mod disk;
mod word;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use hammerspace_os::process::fork::fork;
use serde::Deserialize;

pub use word::Word;

/// The cases that must fail.
const CANARIES: &str = "canary.toml";

/// A case: steps in the language of `spec/README.md`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it shows.
    pub name: String,
    /// One line each.
    pub steps: Vec<String>,
    /// Of a canary: the step that must fail, counted from 1.
    pub fails: Option<usize>,
}

/// What a runner runs cases over: handles on the space of one case.
pub trait Subject {
    /// Does what a verb says with the handle of this name. An `Err` is a fault of the case: no such verb, or handle.
    fn perform(&mut self, name: &str, verb: &str, arguments: &[Word]) -> Result<Outcome, String>;
}

/// What a verb came to: its results, or the kind of its error.
pub type Outcome = Result<Vec<Word>, String>;

/// The step that failed, and how.
#[derive(Debug)]
pub struct Failure {
    /// Counted from 1.
    pub step: usize,
    /// What was wrong.
    pub finding: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
}

/// Runs every case of `spec/` over a subject of its own, made for the path that the case's space will have. Panics with all
/// that fail, and with every canary that does not.
pub fn run_all<S: Subject>(scratch: &Path, subject: impl Fn(&Path) -> S) {
    let cases = cases();
    assert!(cases.iter().any(|case| case.fails.is_some()), "there are no canaries");
    let complaints: Vec<String> = (0..)
        .zip(&cases)
        .filter_map(|(number, case)| {
            let path = scratch.join(format!("case {number}"));
            case.complaint(case.run(&path, &mut subject(&path)))
        })
        .collect();
    assert!(complaints.is_empty(), "of {} cases:\n{}", cases.len(), complaints.join("\n"));
}

/// All cases there are, canaries included.
pub fn cases() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec");
    let mut files: Vec<PathBuf> = fs::read_dir(&directory)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .into_iter()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files.iter().flat_map(|file| cases_of(file)).collect()
}

fn cases_of(file: &Path) -> Vec<Case> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let File { case: cases } = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let canaries = file.ends_with(CANARIES);
    for case in &cases {
        let name = &case.name;
        assert_eq!(case.fails.is_some(), canaries, "{}: {name:?}: `fails` belongs to {CANARIES}", file.display());
    }
    cases
}

impl Case {
    /// Runs the steps, to the first that fails.
    pub fn run(&self, space: &Path, subject: &mut impl Subject) -> Result<(), Failure> {
        let mut at = 0;
        while at < self.steps.len() {
            if self.steps[at] == "fork" {
                let join = self.join(at).ok_or(Failure { step: at + 1, finding: "no `join` follows".into() })?;
                self.run_child(at + 1..join, space, subject)?;
                at = join;
            } else {
                self.run_step(at, space, subject)?;
            }
            at += 1;
        }
        Ok(())
    }

    fn join(&self, fork: usize) -> Option<usize> {
        (fork..self.steps.len()).find(|&at| self.steps[at] == "join")
    }

    /// The child tells the step that failed by its exit code.
    fn run_child(
        &self,
        steps: std::ops::Range<usize>,
        space: &Path,
        subject: &mut impl Subject,
    ) -> Result<(), Failure> {
        let last = steps.end;
        let child = fork(|| {
            let failed = steps.into_iter().find_map(|at| self.run_step(at, space, subject).err());
            failed.map_or(0, |failure| {
                eprintln!("in a child: {failure}");
                i32::try_from(failure.step).expect("cases are short")
            })
        });
        match child.wait().and_then(|code| usize::try_from(code).ok()) {
            Some(0) => Ok(()),
            Some(step) if step <= last => Err(Failure { step, finding: "it failed in a child, which said how".into() }),
            _ => Err(Failure { step: last + 1, finding: "the child died".into() }),
        }
    }

    fn run_step(&self, at: usize, space: &Path, subject: &mut impl Subject) -> Result<(), Failure> {
        perform(&self.steps[at], space, subject)
            .map_err(|finding| Failure { step: at + 1, finding: format!("`{}`: {finding}", self.steps[at]) })
    }

    /// What is to be said of a run: of a canary, if it did not fail as it should; of any other, if it did.
    fn complaint(&self, ran: Result<(), Failure>) -> Option<String> {
        match (ran, self.fails) {
            (Ok(()), None) => None,
            (Err(failure), None) => Some(format!("{:?}: {failure}", self.name)),
            (Err(failure), Some(step)) if failure.step == step => None,
            (Err(failure), Some(step)) => {
                Some(format!("canary {:?}, which is to fail at step {step}: {failure}", self.name))
            }
            (Ok(()), Some(step)) => Some(format!("canary {:?} passes; it is to fail at step {step}", self.name)),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: {}", self.step, self.finding)
    }
}

/// Performs one step and compares what it gives with what it should.
fn perform(step: &str, space: &Path, subject: &mut impl Subject) -> Result<(), String> {
    let (call, expected) = split(step);
    let mut words = call.split(' ');
    let (name, verb) = (words.next().unwrap_or_default(), words.next().ok_or("there is no verb")?);
    let arguments = words.map(Word::parse).collect::<Result<Vec<_>, _>>()?;
    let outcome = match name {
        "disk" => disk::perform(space, verb, &arguments).map(Ok)?,
        _ => subject.perform(name, verb, &arguments)?,
    };
    match (outcome, expected) {
        (Ok(_), None) => Ok(()),
        (outcome, Some(expected)) => compare(&outcome, &expectation(expected)?),
        (Err(kind), None) => Err(format!("error {kind}")),
    }
}

/// What stands before the arrow, and behind it.
fn split(step: &str) -> (&str, Option<&str>) {
    match step.split_once(" -> ") {
        Some((call, expected)) => (call, Some(expected)),
        None => step.strip_suffix(" ->").map_or((step, None), |call| (call, Some(""))),
    }
}

fn expectation(text: &str) -> Result<Outcome, String> {
    if let Some(kind) = text.strip_prefix("error ") {
        return Ok(Err(kind.into()));
    }
    let words = text.split(' ').filter(|word| !word.is_empty());
    words.map(Word::parse).collect::<Result<_, _>>().map(Ok)
}

fn compare(outcome: &Outcome, expected: &Outcome) -> Result<(), String> {
    if outcome == expected { Ok(()) } else { Err(format!("gives {}", shown(outcome))) }
}

fn shown(outcome: &Outcome) -> String {
    match outcome {
        Ok(words) if words.is_empty() => "no results".into(),
        Ok(words) => words.iter().map(Word::to_string).collect::<Vec<_>>().join(" "),
        Err(kind) => format!("error {kind}"),
    }
}
