//! What no compiler sees. A finding names file, line, what is wrong and what to do; `cargo xtask test` wants none.
//!
//! Each module looks at one thing and has a canary: a tree with that one fault, which it must find.

mod docs;
mod floors;
mod links;
mod markdown;
mod remedies;
mod rust;
mod text;
mod tree;
mod width;

use tree::Tree;

use crate::Result;
use crate::program::root;

/// Fails with all findings, one a line.
pub(crate) fn check() -> Result {
    let tree = Tree::read(root())?;
    let findings = findings(&tree);
    if findings.is_empty() {
        println!("{} text files are tidy", tree.files().count());
        return Ok(());
    }
    Err(format!("not tidy:\n\n    {}\n", findings.join("\n    ")))
}

fn findings(tree: &Tree) -> Vec<String> {
    let checks = [text::check, rust::check, remedies::check, links::check, docs::check, floors::check, width::check];
    checks.into_iter().flat_map(|check| check(tree)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tidy_tree_has_no_findings() {
        let tree = Tree::of(&[
            ("ARCHITECTURE.md", "| room |\n|---|\n| `crates/a` |\n"),
            ("README.md", "# It\n\nSee [the log](docs/format/log.md#the-header).\n"),
            ("docs/format/log.md", "# Log\n\n## The header\n\n84 bytes.\n"),
            (
                "crates/a/src/lib.rs",
                "//! Reads `docs/format/log.md`.\n#![forbid(unsafe_code)]\nconst PAGE: &str = include_str!(\"../../../docs/format/log.md\");\n",
            ),
            ("crates/a/Cargo.toml", "[lints]\nworkspace = true\n"),
        ]);
        assert_eq!(findings(&tree), [""; 0]);
    }
}
