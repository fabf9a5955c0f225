//! `cargo xtask test`: installs what the suites need and runs them all, none skipped for lack of something.
//!
//! The order is by price: what takes a second fails in the first minute. Clippy and rustdoc share one set of checked
//! crates and all tests share one build; only fuzzing, whose code is instrumented, needs another.

use crate::program::{program, run, succeeds};
use crate::steps::{self, Step};
use crate::{Result, debian, fuzz, install, java, python, ruby, stripe, tidy};

const STEPS: &[Step] = &[
    ("Debian packages", packages),
    ("Rust components", components),
    ("tidy", tidy::check),
    ("rustfmt", || run(&mut program("cargo fmt --all --check"))),
    ("clippy", || run(&mut program("cargo clippy --quiet --workspace --all-targets -- --deny warnings"))),
    ("the Java peer", java::build),
    ("tests: unit, integration, documentation examples, interop with C, Java and PostgreSQL, small benches", || {
        run(&mut program("cargo test --quiet --workspace"))
    }),
    ("Ruby", ruby::test),
    ("Python", python::test),
    ("stripes: pyarrow and DuckDB", stripe::test),
    ("Java", java::test),
    ("installation", install::rehearse),
    ("documentation", documentation),
    ("fuzzing, for a little while", fuzz::smoke),
];

/// Everything, in order; the first failure ends it.
pub(crate) fn everything() -> bool {
    steps::run(STEPS)
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
    )
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
