//! Pages say something: no empty sections, no promises of text to come; and a test holds every format page to its word.

use super::markdown::{heading, prose};
use super::tree::Tree;

/// What a page says instead of saying something.
const STUBS: [&str; 6] = ["todo", "tbd", "coming soon", "to be written", "work in progress", "lorem ipsum"];

pub(super) fn check(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for (page, text) in tree.with_extension("md") {
        findings.extend(stubs(page, text));
        findings.extend(empty_sections(page, text));
        if page.starts_with("docs/format/") && !is_read_by_a_test(tree, page) {
            findings.push(format!("{page}: no test reads this page; compare its tables with the code's constants"));
        }
    }
    findings.extend(lost_pointers(tree));
    findings
}

fn stubs(page: &str, text: &str) -> Vec<String> {
    let is_stub = |line: &str| {
        let words = format!(" {} ", line.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " "));
        STUBS.into_iter().find(|stub| words.contains(&format!(" {stub} ")))
    };
    let found = prose(text).filter_map(|(line, words)| Some((line, is_stub(words)?)));
    found.map(|(line, stub)| format!("{page}:{line}: '{stub}'; write it or leave it out")).collect()
}

/// A heading followed by the end, or by another that is not below it.
fn empty_sections(page: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let follows = |line: usize| lines[line..].iter().find(|next| !next.trim().is_empty()).copied().unwrap_or_default();
    let is_empty = |level: usize, next: &str| next.is_empty() || heading(next).is_some_and(|(below, _)| below <= level);
    prose(text)
        .filter_map(|(line, words)| Some((line, heading(words)?)))
        .filter(|&(line, (level, _))| is_empty(level, follows(line)))
        .map(|(line, (_, title))| format!("{page}:{line}: the section '{title}' is empty; fill or remove it"))
        .collect()
}

/// A test cannot read a page but by including it; what rustdoc shows of it proves nothing.
fn is_read_by_a_test(tree: &Tree, page: &str) -> bool {
    let included = format!("{page}\")");
    let reads = |line: &str| line.contains("include_str!") && line.contains(&included) && !line.contains("#![doc");
    tree.with_extension("rs").any(|(_, text)| text.lines().any(reads))
}

/// A comment that sends its reader to a named decision "in the design notes" wants a heading of that name there.
fn lost_pointers(tree: &Tree) -> Vec<String> {
    let notes = tree.text("docs/design/notes.md").unwrap_or_default();
    let is_named = |name: &str| prose(notes).filter_map(|(_, line)| heading(line)).any(|(_, title)| title == name);
    let lost = |line: &str| {
        let (_, rest) = line.split_once("See \"")?;
        let (name, _) = rest.split_once("\" in the design notes")?;
        (!is_named(name)).then(|| name.to_string())
    };
    let sources =
        tree.with_extension("rs").flat_map(|(path, text)| (1..).zip(text.lines()).map(move |line| (path, line)));
    sources
        .filter_map(|(path, (number, line))| {
            let name = lost(line)?;
            Some(format!(
                "{path}:{number}: docs/design/notes.md has no heading '{name}'; write the note or correct the name"
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canary_stubs_and_empty_sections_are_found() {
        let page =
            "# Title\n\n## Empty\n\n## Promised\n\nComing soon.\n\n### Code\n\n```text\n# no heading\n```\n\n## Last\n";
        let findings = check(&Tree::of(&[("docs/page.md", page)]));
        let starts = [
            "docs/page.md:7: 'coming soon'",
            "docs/page.md:3: the section 'Empty'",
            "docs/page.md:15: the section 'Last'",
        ];
        assert_eq!(findings.len(), starts.len(), "{findings:#?}");
        assert!(findings.iter().zip(starts).all(|(finding, start)| finding.starts_with(start)), "{findings:#?}");
    }

    #[test]
    fn canary_a_format_page_without_a_test_is_found() {
        let page = ("docs/format/log.md", "# Log\n\nBytes.\n");
        let shown = ("crates/a/src/a.rs", "#![doc = include_str!(\"../../../docs/format/log.md\")]\n");
        let read = ("crates/a/src/b.rs", "let page = include_str!(\"../../../docs/format/log.md\");\n");
        assert_eq!(check(&Tree::of(&[page, shown])).len(), 1);
        assert_eq!(check(&Tree::of(&[page, read])).len(), 0);
    }

    #[test]
    fn canary_a_pointer_to_no_note_is_found() {
        let notes = ("docs/design/notes.md", "# Notes\n\n## Published means frozen\n\nThey never change.\n");
        let good = ("crates/a/src/a.rs", concat!("// See", " \"Published means frozen\" in the design notes.\n"));
        let lost = ("crates/a/src/b.rs", concat!("// See", " \"Frozen is published\" in the design notes.\n"));
        assert_eq!(check(&Tree::of(&[notes, good])).len(), 0);
        assert_eq!(check(&Tree::of(&[notes, lost])).len(), 1);
    }
}
