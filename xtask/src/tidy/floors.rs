//! Crates depend downwards only: on those above them in ARCHITECTURE's table of rooms.
//!
//! The table is the data of this check. A crate can import only what its manifest names, so manifests are enough.
//! Tests may use any crate, so `[dev-dependencies]` do not count.

use std::collections::BTreeMap;

use super::tree::Tree;

const PAGE: &str = "ARCHITECTURE.md";

/// What comes before the path of a room, in the first column of its row.
const ROW: &str = "| `";

pub(super) fn check(tree: &Tree) -> Vec<String> {
    let floors = floors(tree.text(PAGE).unwrap_or_default());
    let rooms: BTreeMap<_, _> = manifests(tree).filter_map(|(room, text)| Some((package(text)?, room))).collect();
    manifests(tree).flat_map(|(room, text)| in_manifest(room, text, &floors, &rooms)).collect()
}

/// The position of each room in the table, from the top.
fn floors(page: &str) -> BTreeMap<&str, usize> {
    let rows = page.lines().filter_map(|line| line.strip_prefix(ROW)?.split('`').next());
    rows.zip(0..).collect()
}

/// Room and text of each manifest of what is shipped.
fn manifests(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    let is_room =
        |path: &&str| (path.starts_with("crates/") || path.starts_with("bindings/")) && path.matches('/').count() == 1;
    let room = move |path: &'_ str| path.strip_suffix("/Cargo.toml").filter(is_room).map(str::len);
    tree.with_extension("toml").filter_map(move |(path, text)| Some((&path[..room(path)?], text)))
}

fn package(manifest: &str) -> Option<&str> {
    let line = section(manifest, "[package]").find(|line| line.starts_with("name = "))?;
    line.split('"').nth(1)
}

/// The lines of a section of a manifest.
fn section<'a>(manifest: &'a str, heading: &'static str) -> impl Iterator<Item = &'a str> {
    let lines = manifest.lines().skip_while(move |line| *line != heading).skip(1);
    lines.take_while(|line| !line.starts_with('['))
}

fn in_manifest(room: &str, text: &str, floors: &BTreeMap<&str, usize>, rooms: &BTreeMap<&str, &str>) -> Vec<String> {
    let Some(own) = floors.get(room) else {
        return vec![format!("{room}: {PAGE} has no row for this crate; add one below everything that it uses")];
    };
    let names = section(text, "[dependencies]").filter_map(|line| line.split(['.', ' ', '=']).next());
    let used = names.filter_map(|name| rooms.get(name));
    let is_above = |other: &&&str| floors.get(**other).is_some_and(|floor| floor < own);
    used.filter(|other| !is_above(other))
        .map(|other| {
            format!(
                "{room}/Cargo.toml: uses {other}, which is not above it in the table of {PAGE}; turn the import around"
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "| room | what |\n|---|---|\n| `crates/low` | bytes |\n| `crates/high` | verbs |\n";

    fn found(low: &str, high: &str) -> Vec<String> {
        check(&Tree::of(&[(PAGE, TABLE), ("crates/low/Cargo.toml", low), ("crates/high/Cargo.toml", high)]))
    }

    #[test]
    fn canary_an_import_up_the_floors_is_found() {
        let (low, high) = ("[package]\nname = \"low\"\n", "[package]\nname = \"high\"\n");
        let upward = format!("{low}[dependencies]\nhigh.workspace = true\n");
        let downward = format!("{high}[dependencies]\nlow = {{ workspace = true }}\n");
        let tested = format!("{low}[dependencies]\nserde = \"1\"\n[dev-dependencies]\nhigh.workspace = true\n");
        assert_eq!(found(low, &downward), [""; 0]);
        assert_eq!(found(&tested, &downward), [""; 0]);
        let findings = found(&upward, high);
        assert_eq!(findings.len(), 1, "{findings:#?}");
        assert!(findings[0].starts_with("crates/low/Cargo.toml: uses crates/high"));
    }

    #[test]
    fn canary_a_crate_without_a_row_is_found() {
        let stray = ("crates/stray/Cargo.toml", "[package]\nname = \"stray\"\n");
        assert!(check(&Tree::of(&[(PAGE, TABLE), stray]))[0].starts_with("crates/stray: "));
    }
}
