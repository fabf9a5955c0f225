//! `load` drops nothing without a word, and publishes no more than it is asked to.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::ran::Place;

/// What is in the space, as one object.
fn all(place: &Place, space: &str) -> serde_json::Value {
    place.run(&format!("export {space} --format json")).ends(0).object()
}

#[test]
fn a_table_of_more_columns_needs_their_names() {
    let place = Place::new();
    place.write("words.csv", "id,de,fr\n1,Apfel,pomme\n2,Birne,poire\n");
    let refused = place.run("load s words.csv").ends(2);
    assert!(refused.stderr.contains("words.csv: line 1: the row of `id` has 3 columns"), "{}", refused.stderr);
    place.run("get s id").ends(1);
    place.run("load s words.csv --key-column id --value-column fr").ends(0);
    assert_eq!(all(&place, "s"), serde_json::json!({ "1": "pomme", "2": "poire" }));
    place.run("load s words.csv --value-column de --value-column 3 --header-row --replace").ends(0);
    assert_eq!(place.run("get s 2").ends(0).text(), r#"{"de":"Birne","fr":"poire"}"#);
    let refused = place.run("load s words.csv --value-column es").ends(2);
    assert!(refused.stderr.contains("no `es`; it has id, de, fr"), "{}", refused.stderr);
}

#[test]
fn a_delimiter_is_as_given() {
    let place = Place::new();
    place.write("a.csv", "yes;\"ja; doch\"\n");
    place.run("load s a.csv --delimiter ;").ends(0);
    assert_eq!(place.run("get s yes").ends(0).text(), "ja; doch");
    for refused in ["\"", "", "ab"] {
        place.words(&["load", "s", "a.csv", "--delimiter", refused]).ends(2);
    }
    place.write("a.json", "{}");
    let refused = place.run("load s a.json --delimiter ;").ends(2);
    assert!(refused.stderr.contains("no file is one"), "{}", refused.stderr);
}

#[test]
fn a_replacement_by_nothing_is_refused_unless_the_files_are_empty() {
    let place = Place::new();
    place.write("a.tsv", "a\t1\n");
    place.run("load s a.tsv").ends(0);
    place.write("header.csv", "key,value\n");
    place.write("untranslated.po", "msgid \"yes\"\nmsgstr \"\"\n");
    place.write("null.json", r#"{"a": null}"#);
    for files in
        ["header.csv --header-row", "untranslated.po", "null.json untranslated.po", "null.json --i18n --prefix de."]
    {
        let refused = place.run(&format!("load s {files} --replace")).ends(2);
        assert!(refused.stderr.contains("the space would be empty"), "{}", refused.stderr);
        assert_eq!(place.run("get s a").ends(0).text(), "1");
    }
    place.feed(&place.hammerspace, &["load", "s", "-", "--format", "json", "--replace"], b"{}").ends(2);
    // Of several files one may have nothing, and to merge nothing takes nothing away.
    place.run("load s untranslated.po a.tsv --replace").ends(0);
    place.run("load s untranslated.po").ends(0);
    assert_eq!(place.run("get s a").ends(0).text(), "1");
    place.write("empty.tsv", "");
    place.run("load s empty.tsv --replace").ends(0);
    place.run("get s a").ends(1);
}

#[test]
fn a_name_that_occurs_twice_has_its_last_value_in_both_modes() {
    let place = Place::new();
    place.write("a.yml", "de:\n  shop:\n    old: 1\n  shop:\n    new: 2\n");
    place.write("a.json", r#"{"de": {"shop": {"old": "1"}, "shop": {"new": "2"}}}"#);
    for file in ["a.yml", "a.json"] {
        place.run(&format!("load plain {file} --replace")).ends(0);
        assert_eq!(all(&place, "plain"), serde_json::json!({ "de.shop.new": "2" }));
        place.run(&format!("load typed {file} --i18n --replace")).ends(0);
        place.run("get typed de.shop.old").ends(1);
        assert_eq!(place.run("get typed de.shop").ends(0).text(), "\0{\"children\":[\"new\"]}");
    }
}

/// The guide's timer and its line of cron, with other directories, twice.
#[test]
fn the_guides_scheduled_refresh_publishes_once() {
    let page = include_str!("../../../../docs/guide/command.md");
    let line = |before: &str| page.lines().find_map(|line| line.strip_prefix(before)).unwrap();
    for (number, line) in [line("ExecStart="), line("*/15 * * * *  ")].into_iter().enumerate() {
        let place = Place::new();
        place.write("locales/de.yml", "de: {a: x}");
        let line = line.trim_end_matches(" >/dev/null").replace("/srv/app/", "").replace("hammerspace ", "");
        assert!(place.run(&line).ends(0).text().ends_with("published version 1\n"), "{number}");
        assert!(place.run(&line).ends(0).text().contains("no changes\npublished nothing"), "{number}");
        place.write("locales/de.yml", "");
        place.run(&line).ends(3);
    }
}

/// By the programs that people pack with.
fn pack(place: &Place, program: &str, file: &str) {
    let status = Command::new(program).arg("-q").arg(file).current_dir(place.path()).stdin(Stdio::null()).status();
    assert!(status.unwrap().success(), "{program}");
}

#[test]
fn packed_files_are_read_by_their_inner_names() {
    let place = Place::new();
    place.write("po/de.po", "msgid \"yes\"\nmsgstr \"ja\"\n");
    pack(&place, "gzip", "po/de.po");
    place.write("shop.fr.tsv.zst", zstd::encode_all(&b"yes\toui\n"[..], 0).unwrap());
    place.run("load s po/de.po.gz shop.fr.tsv.zst --prefix {locale}.").ends(0);
    assert_eq!(all(&place, "s"), serde_json::json!({ "de.yes": "ja", "fr.yes": "oui" }));
    for (file, len) in [("po/de.po.gz", 20), ("shop.fr.tsv.zst", 12)] {
        let whole = place.read(file);
        place.write(&format!("cut/{file}"), &whole[..len]);
        let refused = place.run(&format!("load s cut/{file} --replace")).ends(3);
        assert!(refused.stderr.contains("cut off or damaged"), "{}", refused.stderr);
    }
    place.write("a.spl.gz", "");
    assert!(place.run("load s a.spl.gz").ends(2).stderr.contains("unpack it first"));
}

#[test]
fn a_directory_is_read_with_all_below_it_and_what_is_not_read_is_named() {
    let place = Place::new();
    place.write("locales/b/de.yml", "b: 1");
    place.write("locales/a.tsv", "a\t1\n");
    place.write("locales/README.md", "x");
    place.write("locales/.git/a.tsv", "hidden\t1\n");
    place.sparkey("createlog locales/c.spl").ends(0);
    place.feed(&place.sparkey, &["appendlog", "locales/c.spl"], b"c\t1\n").ends(0);
    place.sparkey("writehash locales/c.spl").ends(0);
    let answer = place.run("load s locales --json").ends(0).object();
    let files: Vec<_> = answer["files"].as_array().unwrap().iter().map(|file| &file["file"]).collect();
    assert_eq!(files, ["locales/a.tsv", "locales/b/de.yml", "locales/c.spl"]);
    assert_eq!(answer["skipped"], serde_json::json!(["locales/README.md"]));
    assert_eq!(all(&place, "s"), serde_json::json!({ "a": "1", "b": "1", "c": "1" }));
    assert!(place.run("load s locales").ends(0).text().contains("locales/README.md: skipped"));
    // All of them, if it is said what they are in.
    place.run("load t locales/b locales/README.md --format yaml").ends(3);
    place.write("none/README.md", "x");
    assert!(place.run("load t none").ends(2).stderr.contains("no file below this directory"));
    assert!(place.run("load t s").ends(2).stderr.contains("a space lies there"));
    std::os::unix::fs::symlink("..", place.path().join("locales/loop")).unwrap();
    place.run("load t locales").ends(4);
}

/// The versions on disk.
fn versions(place: &Place) -> Vec<PathBuf> {
    let mut names: Vec<_> = place.path().join("s").read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names
}

#[test]
fn a_dry_run_says_what_would_change_and_changes_nothing() {
    let place = Place::new();
    place.write("a.tsv", "a\t1\nb\t1\n");
    let ran = place.run("load s a.tsv --dry-run").ends(0);
    assert_eq!(
        ran.text(),
        "a.tsv: 2 pairs\nadded a\nadded b\nchanges: 2 added, 0 changed, 0 removed\npublished nothing\n"
    );
    assert!(!place.path().join("s").exists());
    place.run("load s a.tsv --keep 2").ends(0);
    let before = versions(&place);
    place.write("b.tsv", "a\t1\nb\t2\nc\t2\n");
    let merged = place.run("load s b.tsv --dry-run --json").ends(0).object();
    assert_eq!(
        merged["changes"],
        serde_json::json!({ "added": 1, "changed": 1, "removed": 0,
            "keys": [{ "change": "changed", "key": "b" }, { "change": "added", "key": "c" }] })
    );
    assert_eq!((&merged["published"], &merged["version"]), (&false.into(), &1.into()));
    place.write("c.tsv", "b\t1\n");
    let replaced = place.run("load s c.tsv --dry-run --replace").ends(0);
    assert_eq!(
        replaced.text(),
        "c.tsv: 1 pairs\nremoved a\nchanges: 0 added, 0 changed, 1 removed\npublished nothing; version 1 stays current\n"
    );
    assert_eq!(versions(&place), before);
    assert_eq!(all(&place, "s"), serde_json::json!({ "a": "1", "b": "1" }));
    let many: Vec<_> = (0..500).map(|n| format!("k{n}\t1\n")).collect();
    place.write("many.tsv", many.concat());
    let many = place.run("load s many.tsv --dry-run").ends(0);
    assert!(many.text().contains("added k99\n… and 400 more\n"), "{}", many.text());
}

#[test]
fn nothing_is_published_where_nothing_changes_if_so_asked() {
    let place = Place::new();
    place.write("de.yml", "de: {a: x, b: [1, 2]}");
    for mode in ["", "--replace"] {
        let load = |options: &str| {
            place.run(&format!("load s de.yml --i18n --if-changed --json {mode} {options}")).ends(0).object()
        };
        load("");
        let before = versions(&place);
        let again = load("");
        assert_eq!(again["published"], false, "{again}");
        assert_eq!(versions(&place), before);
        assert_eq!(load("--dry-run")["published"], false);
    }
    let said = place.run("load s de.yml --i18n --if-changed").ends(0);
    assert_eq!(said.text(), "de.yml: 2 pairs\nno changes\npublished nothing; version 1 stays current\n");
    place.write("de.yml", "de: {a: y, b: [1, 2]}");
    let changed = place.run("load s de.yml --i18n --if-changed").ends(0);
    assert!(
        changed.text().contains("changed de.a\nchanges: 0 added, 1 changed, 0 removed\npublished version 2"),
        "{}",
        changed.text()
    );
    // Where nothing is there and nothing comes, there is no version.
    place.write("none.json", "{}");
    assert_eq!(
        place.run("load t none.json --if-changed").ends(0).text(),
        "none.json: 0 pairs\nno changes\npublished nothing\n"
    );
}

#[test]
fn a_catalogue_without_a_rule_for_its_plurals_is_warned_of() {
    let place = Place::new();
    let plural = "msgid \"file\"\nmsgid_plural \"files\"\nmsgstr[0] \"a\"\nmsgstr[1] \"b\"\n";
    let header = |rule: &str| format!("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n{rule}\"\n\n");
    place.write("none.po", header("") + plural);
    place.write("template.po", header("Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n") + plural);
    place.write("fine.po", header("Plural-Forms: nplurals=2; plural=n>1;\\n") + plural);
    place.write("single.po", header("") + "msgid \"yes\"\nmsgstr \"ja\"\n");
    for options in ["", "--catalogue-header"] {
        let said = place.run(&format!("load s none.po template.po fine.po single.po {options}")).ends(0);
        let warnings: Vec<_> = said.text().lines().filter(|line| line.contains("warning")).collect();
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(
            warnings[0].starts_with("none.po: warning: the header has no `Plural-Forms`: plural forms are"),
            "{warnings:?}"
        );
        assert!(
            warnings[1].starts_with("template.po: warning: `Plural-Forms` is the placeholder of xgettext"),
            "{warnings:?}"
        );
        assert_eq!(place.run("get s file").ends(0).text(), "a\0b");
    }
    let answer = place.run("load s none.po --json").ends(0).object();
    assert!(answer["files"][0]["warning"].as_str().unwrap().contains("as in English"));
}
