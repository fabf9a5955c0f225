//! Every text file: of a length one can read, clean at the line ends, free of leftovers and of paths of one machine.

use super::tree::Tree;

/// A longer file hides a second noun.
const LINES_MAX: usize = 600;
/// Where only one machine's files lie; spelt in pieces, since this file is looked at too.
const MACHINE_PATHS: [&str; 4] =
    [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/"), concat!("/tm", "p/")];
/// What was meant to go before anyone looks.
const LEFTOVERS: [&str; 7] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X "),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("db", "g!("),
    concat!("#[ign", "ore"),
];

pub(super) fn check(tree: &Tree) -> Vec<String> {
    tree.files().flat_map(|(path, text)| file(path, text)).collect()
}

fn file(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let lines = text.lines().count();
    if lines > LINES_MAX {
        findings
            .push(format!("{path}: {lines} lines, more than {LINES_MAX}; find the second noun in it and move it out"));
    }
    if !text.is_empty() && !text.ends_with('\n') {
        findings.push(format!("{path}: the last line has no end; add a newline"));
    }
    for (number, line) in (1..).zip(text.lines()) {
        findings.extend(fault(line).map(|fault| format!("{path}:{number}: {fault}")));
    }
    findings
}

fn fault(line: &str) -> Option<String> {
    if let Some(path) = MACHINE_PATHS.into_iter().find(|path| names_path(line, path)) {
        return Some(format!("'{path}' is a path of one machine; make it relative, or ask for a temporary directory"));
    }
    if let Some(leftover) = LEFTOVERS.into_iter().find(|leftover| line.contains(leftover)) {
        return Some(format!("'{leftover}' is left over; do it or drop it"));
    }
    line.ends_with([' ', '\t', '\r']).then(|| "blanks at the end of the line; remove them".into())
}

/// Whether a path on the line starts with this, rather than having it in the middle as an address may.
fn names_path(line: &str, path: &str) -> bool {
    let starts_here =
        |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '}'));
    line.match_indices(path).any(|(at, _)| starts_here(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canary_each_fault_is_found() {
        for path in MACHINE_PATHS {
            assert!(fault(&format!("let file = \"{path}x\";")).is_some(), "{path}");
        }
        for leftover in LEFTOVERS {
            assert!(fault(&format!("// {leftover} later")).is_some(), "{leftover}");
        }
        assert!(fault("code; ").is_some());
        assert_eq!(file("a.rs", "no end").len(), 1);
        assert_eq!(file("a.rs", &"x\n".repeat(LINES_MAX + 1)).len(), 1);
    }

    #[test]
    fn an_address_is_no_path() {
        let address = concat!("https://example.org/ho", "me/page and {base}/tm", "p/x");
        assert_eq!(fault(address), None);
    }
}
