//! Remedies are read in every language: as an exception of Python's or Ruby's, in C, at a shell's prompt. So they say in
//! plain words what to do, and what they quote is a command line, a setting or a path; `rollback` or `attach` is a call in one
//! language, and another name or nothing in the next.

use super::tree::Tree;

/// Crates whose errors reach the command alone, or nobody's users.
const OF_ONE_LANGUAGE: [&str; 4] = ["crates/cli/", "crates/load/", "tests/", "xtask/"];

pub(super) fn check(tree: &Tree) -> Vec<String> {
    let shared = |path: &str| path.contains("/src/") && !OF_ONE_LANGUAGE.iter().any(|room| path.starts_with(room));
    let files = tree.with_extension("rs").filter(|(path, _)| shared(path));
    files.flat_map(|(path, text)| quoted_calls(text).into_iter().map(move |call| finding(path, call))).collect()
}

fn finding(path: &str, call: &str) -> String {
    format!("{path}: a remedy quotes `{call}`, which is no command line; say in plain words what to do")
}

/// What the remedies in a file quote, but for command lines and paths.
fn quoted_calls(text: &str) -> Vec<&str> {
    let remedies = text.match_indices("remedy").filter_map(|(at, word)| literal(&text[at + word.len()..]));
    let quotes = remedies.flat_map(|remedy| remedy.split('`').skip(1).step_by(2));
    quotes.filter(|quote| !quote.contains([' ', '/', '='])).collect()
}

/// The text in quotes that a call or an assignment begins with, if it does.
fn literal(rest: &str) -> Option<&str> {
    let rest = rest.strip_prefix('(').or_else(|| rest.strip_prefix(" = "))?.trim_start();
    let text = rest.strip_prefix("format!(").unwrap_or(rest).trim_start().strip_prefix('"')?;
    text.split_once('"').map(|(text, _)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canary_a_remedy_for_rust_alone_is_found() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "fn f() { e.remedy(\"go back by `rollback`\"); let at = \"`here`\"; }\n"),
            ("crates/b/src/lib.rs", "fn f() { let remedy = \"run `hammerspace store list`, see `/dev/shm`\"; }\n"),
            ("crates/cli/src/main.rs", "fn f() { e.remedy(\"give `--format`\"); }\n"),
        ]);
        assert_eq!(check(&tree), [finding("crates/a/src/lib.rs", "rollback")]);
    }
}
