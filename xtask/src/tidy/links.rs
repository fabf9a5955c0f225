//! Links between our own pages lead somewhere, and every page under `docs/` is led to.

use super::markdown::{anchor, heading, links, prose};
use super::tree::{Tree, resolve};

pub(super) fn check(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for (page, text) in tree.with_extension("md") {
        for (line, words) in prose(text) {
            let broken = links(words).into_iter().filter_map(|link| broken(tree, page, link));
            findings.extend(broken.map(|why| format!("{page}:{line}: {why}")));
        }
        if page.starts_with("docs/") && !is_led_to(tree, page) {
            findings.push(format!("{page}: nothing leads here; link to it from the page that a reader comes from"));
        }
    }
    findings
}

/// Why the link leads nowhere, if it does.
fn broken(tree: &Tree, page: &str, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
    let target = if path.is_empty() { Some(page.to_string()) } else { resolve(page, path) };
    let Some(target) = target.filter(|target| tree.holds(target)) else {
        return Some(format!("the link '{link}' leads to nothing; correct or remove it"));
    };
    let has_anchor =
        |text| prose(text).filter_map(|(_, line)| heading(line)).any(|(_, title)| anchor(title) == fragment);
    let lost = !fragment.is_empty() && !tree.text(&target).is_some_and(has_anchor);
    lost.then(|| format!("{target} has no heading for '#{fragment}'; name one that it has"))
}

fn is_led_to(tree: &Tree, page: &str) -> bool {
    let links_here = |from: &str, line| {
        links(line)
            .into_iter()
            .any(|link| resolve(from, link.split('#').next().unwrap_or_default()).as_deref() == Some(page))
    };
    let linked = tree
        .with_extension("md")
        .any(|(from, text)| from != page && prose(text).any(|(_, line)| links_here(from, line)));
    linked || tree.with_extension("rs").any(|(_, text)| text.contains(page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canary_dead_links_and_lost_pages_are_found() {
        let tree = Tree::of(&[
            ("README.md", "[gone](docs/gone.md)\n[there](docs/there.md#nowhere)\n[out](https://example.org/x)\n"),
            ("docs/there.md", "# There\n\n[home](../README.md) [here](#there)\n"),
            ("docs/lost.md", "# Lost\n\nAlone.\n"),
        ]);
        let findings = check(&tree);
        assert_eq!(findings.len(), 3, "{findings:#?}");
        assert!(findings[0].starts_with("README.md:1: the link 'docs/gone.md' leads to nothing"));
        assert!(findings[1].starts_with("README.md:2: docs/there.md has no heading for '#nowhere'"));
        assert!(findings[2].starts_with("docs/lost.md: nothing leads here"));
    }
}
