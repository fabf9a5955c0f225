//! `cargo xtask`: the menu of everything that is done to this repository, one verb each.
#![forbid(unsafe_code)]

mod bench;
mod campaign;
mod debian;
mod fleet;
mod fuzz;
mod install;
mod java;
mod node;
mod program;
mod python;
mod roaring;
mod ruby;
mod steps;
mod stripe;
mod test;
mod tidy;

use std::process::ExitCode;

use clap::Parser;

use program::{program, run};

/// A verb that failed says what went wrong and what to do about it.
type Result<T = ()> = std::result::Result<T, String>;

/// Builds, tests and measures Hammerspace.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", version)]
enum Menu {
    /// Install what the suites need, then run every one of them, which is all of CI; or single steps.
    Test(test::Options),
    /// Look for what no compiler sees: dead links, dead files, pages that no test reads, leftovers.
    Tidy,
    /// Measure beside the peers.
    Bench(bench::Options),
    /// Feed the readers bytes that nobody thought of.
    Fuzz(fuzz::Options),
    /// Run the random tests for hours, with new seeds.
    Campaign(campaign::Options),
    /// Put libraries, headers and programs where a C compiler and a shell find them.
    Install(install::Options),
    /// Write bindings/c/include/hammerspace.h anew.
    Header,
}

fn main() -> ExitCode {
    let succeeded = match Menu::parse() {
        Menu::Test(options) => test::run_steps(&options),
        Menu::Tidy => said(tidy::check()),
        Menu::Bench(options) => said(bench::run(&options)),
        Menu::Fuzz(options) => said(fuzz::campaign(&options)),
        Menu::Campaign(options) => said(campaign::run_all(&options)),
        Menu::Install(options) => said(install::run_all(&options)),
        Menu::Header => said(header()),
    };
    if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The test that compares the header can write it too, so that nothing else needs to build cbindgen.
fn header() -> Result {
    let mut test = program("cargo test --quiet --package hammerspace-c --test it the_header_is_up_to_date");
    run(test.env("UPDATE_HEADER", "1"))
}

/// Whether it succeeded; why not goes to the person who asked.
fn said(outcome: Result) -> bool {
    outcome.map_err(|message| eprintln!("xtask: {message}")).is_ok()
}
