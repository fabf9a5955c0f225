//! C programs: built for Spotify's library and run on ours, built for ours, and Spotify's own.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use hammerspace_testkit::c::{Language, Libraries, compile, memcheck, run};
use tempfile::tempdir;

use crate::peers::{PEERS, Whose, includes, our_headers, source};

/// Every function, called right and wrong.
#[test]
fn a_program_built_for_spotifys_library_says_the_same_on_ours() {
    for packed in ["none", "snappy"] {
        let [ours, theirs] = Whose::BOTH.map(|whose| {
            let scratch = tempdir().unwrap();
            run(PEERS.command("everything", whose, scratch.path()).arg(packed)).unwrap()
        });
        assert!(ours.lines().count() > 700, "{ours}");
        for (number, (ours, theirs)) in ours.lines().zip(theirs.lines()).enumerate() {
            assert_eq!(ours, theirs, "{packed}: line {number}, ours left, Spotify's right");
        }
        assert_eq!(ours.len(), theirs.len());
    }
}

/// Else both would have run on one library.
#[test]
fn canary_the_two_libraries_differ_where_we_say_so() {
    let [ours, theirs] = Whose::BOTH.map(|whose| {
        let scratch = tempdir().unwrap();
        run(PEERS.command("everything", whose, scratch.path()).arg("zstd")).is_ok_and(|said| said.contains("create: 0"))
    });
    assert!(ours && !theirs, "only ours knows zstd: {ours} {theirs}");
}

#[test]
fn built_for_ours_nothing_is_lost_or_overrun() {
    let Libraries { archive, shared } = &PEERS.ours;
    for (program, library, packed) in [
        ("everything", shared, "none"),
        ("everything", shared, "snappy"),
        ("everything", archive, "zstd"),
        ("ours", archive, ""),
        ("ours", shared, ""),
    ] {
        let scratch = tempdir().unwrap();
        let built = scratch.path().join(program);
        compile(Language::C, &source(program), library, &includes(&our_headers()), &built).unwrap();
        let run = run(found(&mut memcheck(&built)).arg(packed).current_dir(scratch.path()));
        assert!(run.is_ok(), "{program} {packed}, {}: {}", library.display(), run.unwrap_err());
    }
}

/// Makes the program find our shared library.
fn found(command: &mut Command) -> &mut Command {
    command.env("LD_LIBRARY_PATH", PEERS.directory(Whose::Ours))
}

#[test]
fn the_header_is_cpp_too() {
    let scratch = tempdir().unwrap();
    let (text, built) = (scratch.path().join("it.cpp"), scratch.path().join("it"));
    let program =
        "#include <sparkey/sparkey.h>\nint main() { return sparkey_errstring(SPARKEY_SUCCESS) == nullptr; }\n";
    std::fs::write(&text, program).unwrap();
    compile(Language::Cpp, &text, &PEERS.ours.archive, &includes(&our_headers()), &built).unwrap();
    run(&mut Command::new(&built)).unwrap();
}

/// As they are, with our header in place of theirs.
#[test]
fn spotifys_own_tests_pass() {
    for (test, passed) in [("testsystem", "Success!"), ("testhash", "Success!")] {
        let scratch = tempdir().unwrap();
        let built = spotifys(test, scratch.path());
        let said = run(found(&mut Command::new(built)).current_dir(scratch.path())).unwrap();
        assert!(said.contains(passed), "{test}: {said}");
    }
}

/// It takes minutes to run.
#[test]
fn spotifys_own_benchmark_builds() {
    let scratch = tempdir().unwrap();
    assert!(spotifys("bench", scratch.path()).exists());
}

/// A program of Spotify's sources, built away from them so that it finds our header.
fn spotifys(name: &str, scratch: &Path) -> std::path::PathBuf {
    let (text, built) = (scratch.join(name).with_extension("c"), scratch.join(name));
    std::fs::copy(PEERS.sources.join(name).with_extension("c"), &text).unwrap();
    // The hashes are in no public header, ours or theirs.
    std::fs::copy(PEERS.sources.join("MurmurHash3.h"), scratch.join("MurmurHash3.h")).unwrap();
    let headers = our_headers().join("sparkey");
    let options = [&includes(&headers)[..], &[OsStr::new("-w"), OsStr::new("-std=gnu99")]].concat();
    compile(Language::C, &text, &PEERS.library(Whose::Ours), &options, &built).unwrap();
    built
}
