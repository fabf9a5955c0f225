//! The walls that hold for every crate, and Rust files that no module names.

use std::path::Path;

use super::tree::Tree;

/// Where unsafe code may live, and why.
const UNSAFE_ROOMS: [(&str, &str); 4] = [
    ("crates/os/", "mappings, locks, allocation: everyone else sees slices"),
    ("bindings/", "called from other languages, with their pointers"),
    ("benches/rivals/", "calls into the peers' C code"),
    ("fuzz/", "one function in place of libc's, so that no run depends on chance"),
];
/// Files that cargo finds by itself.
const ROOTS: [&str; 3] = ["lib.rs", "main.rs", "build.rs"];
/// Directories whose own `.rs` files are roots.
const ROOT_DIRECTORIES: [&str; 4] = ["bin", "tests", "examples", "targets"];

pub(super) fn check(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        if is_crate_root(path) && !may_be_unsafe(path) && !text.contains("#![forbid(unsafe_code)]") {
            findings
                .push(format!("{path}: add #![forbid(unsafe_code)]; unsafe code lives in the rooms that tidy lists"));
        }
        if !is_root(path) && !is_named(tree, path) {
            findings.push(format!("{path}: no module names this file; name it or delete it"));
        }
    }
    for (path, text) in tree.with_extension("toml") {
        if is_manifest(path) && !text.contains("[lints]\nworkspace = true") && text.contains("[package]") {
            findings.push(format!("{path}: add [lints] workspace = true"));
        }
    }
    findings
}

fn name_of(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn is_manifest(path: &str) -> bool {
    name_of(path) == "Cargo.toml" && !path.starts_with("fuzz/")
}

/// The root of a library or of a program, where inner attributes hold for the whole crate.
fn is_crate_root(path: &str) -> bool {
    path.ends_with("src/lib.rs") || path.ends_with("src/main.rs")
}

fn may_be_unsafe(path: &str) -> bool {
    UNSAFE_ROOMS.iter().any(|(room, _)| path.starts_with(room))
}

fn is_root(path: &str) -> bool {
    let directory = Path::new(path).parent().map(|parent| name_of(parent.to_str().unwrap_or_default()));
    ROOTS.contains(&name_of(path)) || directory.is_some_and(|directory| ROOT_DIRECTORIES.contains(&directory))
}

/// Whether some file of the same crate says `mod name`.
fn is_named(tree: &Tree, path: &str) -> bool {
    let name = match name_of(path) {
        "mod.rs" => Path::new(path).parent().and_then(|parent| parent.to_str()).map(name_of).unwrap_or_default(),
        file => file.trim_end_matches(".rs"),
    };
    let crate_directory =
        ["/src/", "/tests/"].iter().find_map(|inside| Some(path.split_once(inside)?.0)).unwrap_or_default();
    let declares = |line: &str| line.trim_end().ends_with(&format!("mod {name};"));
    tree.with_extension("rs").any(|(other, text)| other.starts_with(crate_directory) && text.lines().any(declares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canary_an_unguarded_crate_is_found() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "//! No wall.\n"),
            ("crates/a/Cargo.toml", "[package]\nname = \"a\"\n"),
            ("crates/os/src/lib.rs", "//! A room.\n"),
        ]);
        let findings = check(&tree);
        assert_eq!(findings.len(), 2, "{findings:#?}");
        assert!(findings[0].contains("forbid(unsafe_code)") && findings[1].contains("[lints]"));
    }

    #[test]
    fn canary_a_file_that_no_module_names_is_found() {
        let tree = Tree::of(&[
            ("crates/os/src/lib.rs", "mod used;\npub mod index;\n"),
            ("crates/os/src/used.rs", ""),
            ("crates/os/src/index/mod.rs", ""),
            ("crates/os/src/dead.rs", ""),
            ("crates/os/tests/it/main.rs", "mod lock;\n"),
            ("crates/os/tests/it/lock.rs", ""),
            ("crates/os/examples/free.rs", ""),
        ]);
        let findings = check(&tree);
        assert_eq!(findings.len(), 1, "{findings:#?}");
        assert!(findings[0].starts_with("crates/os/src/dead.rs: no module names"));
    }
}
