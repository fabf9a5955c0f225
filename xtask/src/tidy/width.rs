//! Lines of prose that are too wide to read: comments and pages. Code is rustfmt's business.
//!
//! Rooms whose prose is older than the rule are listed in `xtask/wide_lines.txt` with the number of their wide lines.
//! A number may only fall. Tables, drawings and generated files are left aside.

use std::collections::BTreeMap;
use std::path::Path;

use super::markdown::prose;
use super::tree::Tree;

const WIDTH_MAX: usize = 110;

/// The wide lines that are left, room by room.
const LEFT: &str = include_str!("../../wide_lines.txt");

/// What programs write, or other projects.
const ASIDE: [&str; 6] =
    ["benches/results/", "bindings/c/include/", "bindings/sparkey-abi/include/", "data/", "fuzz/corpus/", "golden/"];

pub(super) fn check(tree: &Tree) -> Vec<String> {
    findings(tree, LEFT)
}

fn findings(tree: &Tree, left: &str) -> Vec<String> {
    let mut wide = BTreeMap::<&str, Vec<String>>::new();
    for (path, text) in tree.files().filter(|(path, _)| !ASIDE.iter().any(|aside| path.starts_with(aside))) {
        wide.entry(room(path)).or_default().extend(in_file(path, text));
    }
    let allowed: BTreeMap<&str, usize> = left.lines().filter_map(entry).collect();
    let is_over = |room: &str, lines: &[String]| lines.len() > allowed.get(room).copied().unwrap_or(0);
    wide.iter().filter(|(room, lines)| is_over(room, lines)).map(|(room, lines)| told(room, lines, &allowed)).collect()
}

fn told(room: &str, lines: &[String], allowed: &BTreeMap<&str, usize>) -> String {
    let most = allowed.get(room).copied().unwrap_or(0);
    let (count, last) = (lines.len(), lines.last().map_or("", String::as_str));
    format!(
        "{room}: {count} comments or lines of prose are wider than {WIDTH_MAX} characters, {most} were left \
         (xtask/wide_lines.txt); break them, among them {last}"
    )
}

/// `room count`
fn entry(line: &str) -> Option<(&str, usize)> {
    let (room, count) = line.split_once(' ')?;
    Some((room, count.parse().ok()?))
}

/// A crate, a binding or a folder of pages.
fn room(path: &str) -> &str {
    let ends = path.match_indices('/').map(|(at, _)| at).take(2).last();
    ends.map_or(path, |end| &path[..end])
}

fn in_file(path: &str, text: &str) -> Vec<String> {
    let is_wide = |line: &str| line.chars().count() > WIDTH_MAX;
    let at = |number: usize| format!("{path}:{number}");
    if Path::new(path).extension().is_some_and(|extension| extension == "md") {
        let lines = prose(text).filter(|(_, line)| is_wide(line) && !line.trim_start().starts_with('|'));
        return lines.map(|(number, _)| at(number)).collect();
    }
    let is_comment = |line: &str| ["//", "#", "*", "/*"].iter().any(|mark| line.trim_start().starts_with(mark));
    let lines = (1..).zip(text.lines()).filter(|(_, line)| is_wide(line) && is_comment(line));
    lines.map(|(number, _)| at(number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str, left: &str) -> usize {
        findings(&Tree::of(&[(path, text)]), left).len()
    }

    #[test]
    fn canary_a_wide_line_is_found() {
        let words = "word ".repeat(23);
        for (path, text) in
            [("crates/a/src/a.rs", format!("    // {words}\n")), ("docs/design/a.md", format!("{words}\n"))]
        {
            assert_eq!(found(path, &text, ""), 1, "{path}");
            assert_eq!(found(path, &text[..100], ""), 0, "{path}");
        }
    }

    #[test]
    fn canary_one_more_than_were_left_is_found() {
        let wide = format!("// {}\n", "word ".repeat(23));
        assert_eq!(found("crates/a/src/a.rs", &wide.repeat(2), "crates/a 2\n"), 0);
        assert_eq!(found("crates/a/src/a.rs", &wide.repeat(3), "crates/a 2\n"), 1);
        assert_eq!(found("crates/b/src/a.rs", &wide, "crates/a 2\n"), 1, "of another room");
    }

    #[test]
    fn tables_drawings_code_and_generated_files_are_left_aside() {
        let words = "word ".repeat(23);
        assert_eq!(found("docs/a.md", &format!("| {words} |\n\n```text\n{words}\n```\n"), ""), 0);
        assert_eq!(found("crates/a/src/a.rs", &format!("let words = \"{words}\";\n"), ""), 0);
        assert_eq!(found("bindings/c/include/a.h", &format!("// {words}\n"), ""), 0);
    }
}
