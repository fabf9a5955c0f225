//! Hammerspace measured beside its peers: `cargo xtask bench [NAME] [--small] [--json]`.
//!
//! Every bench gives rows of one schema ([`report`]): what we take, what the peer takes, their ratio, and the goal if
//! there is one. We and the peer run in turn, many times, and the medians count, so that a noisy neighbour meets both.
//! Rows that we lose are shown like the others. Small runs are tests: they check what is read, and cannot rot.
#![forbid(unsafe_code)]

mod binding;
mod count;
mod data;
mod goal;
mod jvm;
mod lfs;
mod machine;
mod measure;
mod plot;
mod report;
mod scale;
mod space;
mod sparkey;
mod store;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

use report::{Report, Row};
use scale::Scale;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// A bench: its name, and what measures its rows with scratch files in a directory.
type Bench = (&'static str, fn(&Scale, &Path) -> Result<Vec<Row>>);

const BENCHES: &[Bench] = &[
    ("count", count::rows),
    ("lfs", lfs::rows),
    ("space", space::rows),
    ("sparkey", sparkey::rows),
    ("sparkey-abi", sparkey::abi),
    ("store-allocation", store::allocation),
    ("store-bigmem", store::bigmem),
    ("store-cleaner", store::cleaner),
    ("store-day", store::day),
    ("store-growth", store::growth),
    ("store-loss", store::loss),
    ("store-points", store::points),
];

/// Those that run in other languages or beside peers of theirs, and only by name: each needs an interpreter with our
/// package in it, and the suite of that language runs it on small inputs.
const OF_BINDINGS: &[Bench] = &[
    ("java", binding::java),
    ("node", binding::node),
    ("python", binding::python),
    ("ruby", binding::ruby),
    ("stripe", binding::stripe),
];

/// Measures Hammerspace beside its peers.
#[derive(Parser)]
#[command(bin_name = "cargo xtask bench")]
struct Options {
    /// One bench, or those whose names begin so; without it, all of them
    name: Option<String>,
    /// Small inputs, for a look; no result file is written
    #[arg(long)]
    small: bool,
    /// One JSON object on standard output, nothing else
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result {
    let report = measure(options)?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", report.markdown());
    }
    if !options.small {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let file = report.save(&results, options.name.as_deref().unwrap_or("all"))?;
        for (ending, plot) in sparkey::plots(&report).into_iter().chain(lfs::plots(&report)) {
            std::fs::write(file.with_extension(ending), plot)?;
        }
        eprintln!("kept as {}", file.display());
    }
    Ok(())
}

fn measure(options: &Options) -> Result<Report> {
    let scale = if options.small { Scale::SMALL } else { Scale::FULL };
    let chosen = |name: &str| {
        options
            .name
            .as_deref()
            .is_none_or(|wanted| name.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')))
    };
    let by_name = OF_BINDINGS.iter().filter(|(name, _)| options.name.as_deref() == Some(name));
    let benches: Vec<&Bench> = BENCHES.iter().filter(|(name, _)| chosen(name)).chain(by_name).collect();
    if benches.is_empty() {
        let names: Vec<&str> = BENCHES.iter().chain(OF_BINDINGS).map(|(name, _)| *name).collect();
        return Err(format!("there is no such bench; there are: {}", names.join(", ")).into());
    }
    // Beside the program, and so on the disk that the target directory is on.
    let program = std::env::current_exe()?;
    let scratch = tempfile::tempdir_in(program.parent().unwrap_or(Path::new(".")))?;
    let mut rows = Vec::new();
    for (_, bench) in benches {
        rows.extend(bench(&scale, scratch.path())?);
    }
    Ok(Report::new(command(options), scratch.path(), rows))
}

fn command(options: &Options) -> String {
    let words =
        ["cargo xtask bench", options.name.as_deref().unwrap_or(""), if options.small { "--small" } else { "" }];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bench_runs_small_and_says_what_the_schema_promises() {
        let options = Options { name: None, small: true, json: true };
        let report = serde_json::to_value(measure(&options).unwrap()).unwrap();
        assert_eq!(report["command"], "cargo xtask bench --small");
        assert!(report["machine"]["cores"].as_u64().unwrap() > 0);
        let rows = report["rows"].as_array().unwrap();
        assert!(!rows.is_empty());
        for row in rows {
            let mut fields: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
            fields.sort_unstable();
            assert_eq!(
                fields,
                ["goal", "met", "name", "ours", "peer", "peer_name", "ratio", "spread", "unit"],
                "{row}"
            );
            assert!(row["ours"].as_f64().unwrap() > 0.0, "{row}");
            assert!(row["goal"].is_null() && row["met"].is_null(), "no goal makes sense at this size: {row}");
        }
    }

    #[test]
    fn an_unknown_bench_is_refused_by_naming_those_there_are() {
        let options = Options { name: Some("spice".into()), small: true, json: false };
        assert!(
            measure(&options)
                .err()
                .unwrap()
                .to_string()
                .contains("there are: count, lfs, space, sparkey, sparkey-abi, store-")
        );
    }
}
