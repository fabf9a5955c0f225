//! `cargo xtask test`: installs what the suites need and runs them all, none skipped for lack of something.
//!
//! The order is by price: what takes a second fails in the first minute. Clippy and rustdoc share one set of checked
//! crates and all tests share one build; only fuzzing, whose code is instrumented, needs another.

use crate::program::{program, run, succeeds};
use crate::steps::{self, Step};
use crate::{Result, debian, fleet, fuzz, install, java, node, python, roaring, ruby, stripe, tidy};

const STEPS: &[Step] = &[
    ("Debian packages", packages),
    ("Rust components", components),
    ("tidy", tidy::check),
    ("rustfmt", || run(&mut program("cargo fmt --all --check"))),
    ("clippy", || run(&mut program("cargo clippy --quiet --workspace --all-targets -- --deny warnings"))),
    ("peer in Java", java::build),
    ("tests: unit, integration, documentation examples, interop with C, Java and PostgreSQL, small benches", || {
        run(&mut program("cargo test --quiet --workspace"))
    }),
    ("Ruby", ruby::test),
    ("Python", python::test),
    ("stripes: pyarrow and DuckDB", stripe::test),
    ("sets: pyroaring", roaring::test),
    ("fleet: moto, an S3 server", fleet::test),
    ("Java", java::test),
    ("Node", node::test),
    ("installation", install::rehearse),
    ("documentation", documentation),
    ("fuzzing, for a little while", fuzz::smoke),
];

/// Which steps to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Steps to run, by the first word of their names; all of them where none is given.
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
}

/// Runs the steps asked for, in the order of all; the first failure ends it.
pub(crate) fn run_steps(options: &Options) -> bool {
    match chosen(&options.steps) {
        Ok(steps) => steps::run(&steps),
        Err(message) => {
            eprintln!("xtask: {message}");
            false
        }
    }
}

/// The word that a step is asked for by.
fn word(step: &Step) -> &'static str {
    step.0.split([' ', ':', ',']).next().unwrap_or_default()
}

/// The steps of these words, in the order of all; every step where there are none.
fn chosen(words: &[String]) -> Result<Vec<Step>> {
    let is_of = |step: &Step, wanted: &str| word(step).eq_ignore_ascii_case(wanted);
    if let Some(unknown) = words.iter().find(|wanted| !STEPS.iter().any(|step| is_of(step, wanted))) {
        let known: Vec<_> = STEPS.iter().map(word).collect();
        return Err(format!("no step begins with {unknown:?}; choose among {}", known.join(", ")));
    }
    let is_chosen = |step: &&Step| words.is_empty() || words.iter().any(|wanted| is_of(step, wanted));
    Ok(STEPS.iter().filter(is_chosen).copied().collect())
}

fn packages() -> Result {
    let c = [&debian::SNAPPY[..], &debian::STORES, &debian::VALGRIND, &debian::PKG_CONFIG].concat();
    debian::install(
        &[
            &debian::JAVA[..],
            &c,
            &debian::GETTEXT,
            &debian::LIBFUZZER,
            &debian::POSTGRES,
            &debian::PYTHON,
            &debian::PYYAML,
            &debian::RUBY,
        ]
        .concat(),
    )?;
    debian::install_node()
}

fn components() -> Result {
    for (probe, component) in [("cargo fmt --version", "rustfmt"), ("cargo clippy --version", "clippy")] {
        if !succeeds(probe) {
            run(program("rustup component add").arg(component))?;
        }
    }
    Ok(())
}

fn documentation() -> Result {
    run(program("cargo doc --quiet --workspace --no-deps --document-private-items")
        .env("RUSTDOCFLAGS", "--deny warnings"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn steps_are_chosen_by_their_words() {
        let names = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
            chosen(&words).map(|steps| steps.iter().map(word).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap().len(), STEPS.len());
        assert_eq!(names(&["python", "Tidy"]).unwrap(), ["tidy", "Python"], "in the order of all");
        assert!(names(&["tests", "pythn"]).unwrap_err().contains("fuzzing"));
        let words: HashSet<_> = STEPS.iter().map(word).collect();
        assert_eq!(words.len(), STEPS.len(), "each step has a word of its own");
    }
}
