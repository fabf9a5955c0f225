//! What the shared library exports: the functions of the header, the two hashes, and nothing else.

use std::process::Command;

use hammerspace_testkit::c::run;

use crate::peers::{PEERS, Whose, our_headers};

/// Not in the header, but people link to them.
const HASHES: [&str; 2] = ["murmurhash32_hash", "murmurhash64_hash"];

#[test]
fn it_exports_the_functions_of_the_header_and_the_hashes() {
    let exported = exported(Whose::Ours);
    let mut declared = declared(&std::fs::read_to_string(our_headers().join("sparkey/sparkey.h")).unwrap());
    assert_eq!(declared.len(), 38);
    declared.extend(HASHES.map(String::from));
    declared.sort();
    assert_eq!(exported, declared);
    // Canary: Spotify's exports more, and would not pass.
    assert!(self::exported(Whose::Spotifys).len() > declared.len());
}

/// The declarations are theirs, but for what newer releases added.
#[test]
fn the_header_declares_what_spotifys_declares() {
    let ours = std::fs::read_to_string(our_headers().join("sparkey/sparkey.h")).unwrap();
    let theirs = std::fs::read_to_string(PEERS.sources.join("sparkey.h")).unwrap();
    assert_eq!(declared(&ours), declared(&theirs));
    let (ours, theirs) = (tokens(&ours), tokens(&theirs));
    for declaration in &theirs {
        assert!(ours.contains(declaration), "{declaration}");
    }
    let added: Vec<_> = ours.iter().filter(|declaration| !theirs.contains(declaration)).collect();
    assert!(added.is_empty(), "{added:?}");
}

#[test]
fn programs_that_want_the_old_name_get_it() {
    let dynamic = run(Command::new("readelf").arg("--dynamic").arg(&PEERS.ours.shared)).unwrap();
    assert!(dynamic.contains("Library soname: [libsparkey.so.0]"), "{dynamic}");
}

fn exported(whose: Whose) -> Vec<String> {
    let listing = run(Command::new("nm").args(["--dynamic", "--defined-only"]).arg(PEERS.library(whose))).unwrap();
    let mut names: Vec<String> = listing.lines().filter_map(|line| Some(line.split(' ').nth(2)?.into())).collect();
    names.sort();
    names
}

/// The names of the functions in a header.
fn declared(header: &str) -> Vec<String> {
    let functions = tokens(header).into_iter().filter(|declaration| declaration.ends_with(')'));
    let name = |function: String| function.split_once('(')?.0.split(' ').next_back().map(String::from);
    let mut names: Vec<String> = functions.filter_map(name).collect();
    names.sort();
    names
}

/// The prototypes of a header, one blank between words; and the enumerators with their values.
fn tokens(header: &str) -> Vec<String> {
    let mut text = String::new();
    let mut rest = header;
    while let Some((code, comment)) = rest.split_once("/*") {
        text.push_str(code);
        rest = comment.split_once("*/").expect("comments end").1;
    }
    text.push_str(rest);
    let text: String = text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    for statement in text.replace("extern \"C\" {", "").split(';') {
        if let Some((_, body)) = statement.split_once("enum {") {
            let (body, _) = body.split_once('}').expect("enumerations end");
            found.extend(enumerators(body));
        } else if statement.contains('(') {
            let spaced = statement.replace('*', " * ").replace('(', " ( ").replace(')', " ) ").replace(',', " , ");
            let words: Vec<&str> = spaced.split_whitespace().collect();
            found.push(words.join(" ").replace(" ( ", "(").replace(" )", ")"));
        }
    }
    found.sort();
    found
}

/// `NAME = value`, counted on where no value is given. Zstandard is not in the release that we compare with.
fn enumerators(body: &str) -> Vec<String> {
    let mut next = 0;
    let mut found = Vec::new();
    for enumerator in body.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        let (name, value) =
            enumerator.split_once(" = ").map_or((enumerator, next), |(name, value)| (name, value.parse().unwrap()));
        next = value + 1;
        if name != "SPARKEY_COMPRESSION_ZSTD" {
            found.push(format!("{name} = {value}"));
        }
    }
    found
}
