//! The cases that all languages share, beside GNU's libintl, through `ngettext` of the Debian package `gettext-base`.

use std::fs;
use std::process::Command;

use hammerspace_plural::{DEPTH_MAX, LEN_MAX, Rule};
use toml::Table;

const COUNTS: [u64; 11] = [0, 1, 2, 3, 5, 11, 12, 21, 22, 100, 101];

struct Case {
    name: String,
    header: String,
    forms: Vec<i64>,
    fallback: bool,
    /// Whether libintl reads it likewise.
    peers: bool,
}

fn cases() -> Vec<Case> {
    let page: Table = include_str!("../../../../spec/plurals/rules.toml").parse().unwrap();
    let flag = |case: &toml::Value, name, default| case.get(name).map_or(default, |flag| flag.as_bool().unwrap());
    let case = |case: &toml::Value| Case {
        name: case["name"].as_str().unwrap().into(),
        header: case["header"].as_str().unwrap().into(),
        forms: case["forms"].as_array().unwrap().iter().map(|form| form.as_integer().unwrap()).collect(),
        fallback: flag(case, "fallback", false),
        peers: flag(case, "peers", true),
    };
    page["case"].as_array().unwrap().iter().map(case).collect()
}

#[test]
fn the_shared_cases_hold() {
    for Case { name, header, forms, fallback, .. } in cases() {
        let rule = Rule::of_header(header.as_bytes());
        assert_eq!(rule.is_err(), fallback, "{name}");
        if let Err(error) = &rule {
            assert!(error.advice().is_some(), "{error}");
        }
        let rule = rule.unwrap_or_default();
        let found = COUNTS.map(|count| rule.form(count).map_or(-1, |form| i64::try_from(form).unwrap()));
        assert_eq!(found.to_vec(), forms, "{name}");
    }
}

/// What libintl says, which gives the first form where ours gives none.
#[test]
fn libintl_chooses_the_same_forms() {
    for Case { name, header, forms, .. } in cases().into_iter().filter(|case| case.peers) {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("xx/LC_MESSAGES");
        fs::create_dir_all(&directory).unwrap();
        let texts: String =
            ["0", "1", "2", "3", "4", "5", "6", "7", "8"].map(|n| format!("msgstr[{n}] \"{n}\"\n")).concat();
        let header = header.replace('\n', "\\n").replace('\t', "\\t");
        let po = format!("msgid \"\"\nmsgstr \"{header}\"\n\nmsgid \"one\"\nmsgid_plural \"many\"\n{texts}");
        fs::write(place.path().join("x.po"), po).unwrap();
        let msgfmt =
            Command::new("msgfmt").args(["-o"]).arg(directory.join("x.mo")).arg(place.path().join("x.po")).output();
        assert!(msgfmt.expect("install the Debian package `gettext`").status.success(), "{name}");
        for (count, form) in COUNTS.into_iter().zip(forms) {
            let mut ngettext = Command::new("ngettext");
            ngettext.args(["-d", "x", "one", "many"]).arg(count.to_string()).env("TEXTDOMAINDIR", place.path());
            ngettext.env("LC_ALL", "C.UTF-8").env("LANGUAGE", "xx");
            let said = String::from_utf8(ngettext.output().unwrap().stdout).unwrap();
            assert_eq!(said, form.max(0).to_string(), "{name}, {count}");
        }
    }
}

#[test]
fn rules_are_bounded() {
    let rule = |rule: &str| Rule::of_header(format!("Plural-Forms: nplurals=2; plural={rule};").as_bytes());
    let nested = |depth| ["(".repeat(depth), "n".into(), ")".repeat(depth)].concat();
    assert_eq!(rule(&nested(DEPTH_MAX - 1)).unwrap().form(1), Some(1));
    for refused in [nested(DEPTH_MAX), "!".repeat(DEPTH_MAX + 1) + "n", "n?n:".repeat(DEPTH_MAX) + "n"] {
        assert!(rule(&refused).is_err(), "{refused}");
    }
    assert_eq!(rule(&("n".to_string() + &"-n".repeat((LEN_MAX - 1) / 2))).unwrap().form(0), Some(0));
    assert!(rule(&("n".to_string() + &"-n".repeat(LEN_MAX / 2 + 1))).is_err());
    assert_eq!(rule("1 / n").unwrap().form(0), None);
    assert_eq!(rule("n == 0 || 1 / n").unwrap().form(0), Some(1));
    for refused in ["", "n n", "x", "`id`", "1 ? 2", "n +", "18446744073709551616", "nn", "n;", "\u{e9}"] {
        assert_eq!(rule(refused).is_err(), refused != "n;", "{refused}");
    }
}
