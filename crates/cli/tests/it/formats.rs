//! What goes in through `load` comes out through `export`.

use std::collections::BTreeMap;

use fastrand::Rng;

use crate::ran::Place;

#[test]
fn every_format_loads() {
    let place = Place::new();
    place.write(
        "po/de.po",
        "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"yes\"\nmsgstr \"ja\"\n",
    );
    place.write("a.json", r#"{"yes": "oui", "more": {"no": "non"}}"#);
    place.write("b.jsonl", "{\"key\": \"yes\", \"value\": \"si\"}\n");
    place.write("c.csv", "key,value\n\"y,es\",\"s\"\"i\"\n");
    place.write("d.tsv", "yes\tsim\n");
    place.sparkey("createlog e.spl").ends(0);
    place.feed(&place.sparkey, &["appendlog", "e.spl"], b"yes\told\nyes\ttak\n").ends(0);
    place.run("load s po/de.po --prefix {locale}:").ends(0);
    place.run("load s a.json b.jsonl d.tsv e.spl --prefix {file}:").ends(0);
    let loaded = place.run("load s c.csv --header-row --json").ends(0).object();
    assert_eq!(loaded["files"][0]["pairs"], 1);

    let scanned = place.run("export s --format json").ends(0).object();
    let expected = serde_json::json!({
        "de:yes": "ja", "a:yes": "oui", "a:more.no": "non", "b:yes": "si", "d:yes": "sim", "e:yes": "tak", "y,es": "s\"i",
    });
    assert_eq!(scanned, expected);
}

#[test]
fn the_header_of_a_catalogue_is_kept_when_asked_for() {
    let place = Place::new();
    place.write("de.po", "msgid \"\"\nmsgstr \"Language: de\"\n\nmsgid \"yes\"\nmsgstr \"ja\"\n");
    place.run("load s de.po --prefix {locale}. --catalogue-header").ends(0);
    let scanned = place.run("export s --format json").ends(0).object();
    assert_eq!(scanned, serde_json::json!({ "de.": "Language: de", "de.yes": "ja" }));
}

/// What they store is compared with what Ruby stores, in its specs.
#[test]
fn translations_for_ruby_name_their_locale_or_are_below_one() {
    let place = Place::new();
    place.write("rails.yml", "de: {shop: {open: true, shut: ~}}");
    place.write("bare.de.yml", "shop: {open: ~, title: Laden}");
    place.write("bare.json", r#"{"title": "Laden"}"#);
    place.write("de.po", "msgid \"\"\nmsgstr \"Language: de\"\n\nmsgid \"e. g.\"\nmsgstr \"z. B.\"\n");
    place.write("flat.tsv", "de.flat\tflach\n");
    assert_eq!(place.run("load s rails.yml --i18n --json").ends(0).object()["files"][0]["pairs"], 3);
    place.run("load s bare.de.yml de.po --i18n --prefix {locale}.").ends(0);
    place.run("load s flat.tsv --i18n").ends(0);
    let exported = place.run("export s --format json").ends(0).object();
    let expected = serde_json::json!({
        "de": "\0{\"children\":[\"shop\"]}", "de.shop": "\0{\"children\":[\"title\"]}", "de.shop.title": "Laden",
        "de.": "Language: de", "de.e. g.": "z. B.", "de.flat": "flach", ".": "\0{\"children\":[\"de\"]}",
    });
    assert_eq!(exported, expected);
    for (arguments, code, finding) in [
        ("bare.json", 3, "`title` is no locale"),
        ("de.po", 2, "a catalogue does not name its locale"),
        ("rails.yml --prefix de", 2, "the prefix is not made of names"),
        ("flat.tsv --prefix de:", 2, "the prefix is not made of names"),
    ] {
        let said = place.run(&format!("load s --i18n {arguments}")).ends(code).stderr;
        assert!(said.contains(finding), "{said}");
    }
    assert_eq!(place.run("export s --format json").ends(0).object(), expected);
}

#[test]
fn locales_are_listed_by_who_knows_them_and_by_nobody_else() {
    let place = Place::new();
    place.write("de.po", "msgid \"yes\"\nmsgstr \"ja\"\n");
    place.write("flat.tsv", "fr.yes\toui\n");
    place.write("dot.tsv", ".\tdot\n");
    let listed = || place.run("get s .").ends(0).text().to_owned();
    place.run("load s flat.tsv").ends(0);
    place.run("load s de.po --i18n --prefix {locale}.").ends(0);
    assert_eq!(listed(), "\0{\"children\":[\"fr\",\"de\"]}");
    place.run("load s flat.tsv --i18n --prefix it.").ends(0);
    assert_eq!(listed(), "\0{\"children\":[\"fr\",\"de\",\"it\"]}");
    place.run("export s --format sparkey --output copy.spi").ends(0);
    place.run("load t flat.tsv copy.spi").ends(0);
    place.run("get t .").ends(1);
    place.run("load s flat.tsv --prefix en.").ends(0);
    place.run("get s .").ends(1);
    for _ in 0..2 {
        place.run("load s dot.tsv").ends(0);
        assert_eq!(listed(), "dot");
    }
}

#[test]
fn replace_starts_empty_and_merge_does_not() {
    let place = Place::new();
    place.write("a.tsv", "a\t1\nb\t2\n");
    place.write("b.tsv", "b\t3\n");
    place.run("load s a.tsv").ends(0);
    place.run("load s b.tsv").ends(0);
    assert_eq!(place.run("scan s").text(), "a\t1\nb\t3\n");
    place.run("load s b.tsv --replace").ends(0);
    assert_eq!(place.run("scan s").text(), "b\t3\n");
}

#[test]
fn a_file_that_cannot_be_read_leaves_the_space_as_it_was() {
    let place = Place::new();
    place.write("a.tsv", "a\t1\n");
    place.write("broken.json", "{\"b\": ");
    place.run("load s a.tsv").ends(0);
    let ran = place.run("load s a.tsv broken.json --replace --prefix x").ends(3);
    assert!(ran.stderr.contains("broken.json: line 1"), "{}", ran.stderr);
    assert_eq!(place.run("scan s").text(), "a\t1\n");
    let names = std::fs::read_dir(place.path().join("s")).unwrap().map(|entry| entry.unwrap());
    let left: Vec<_> = names.filter(|name| name.file_type().unwrap().is_dir()).map(|name| name.file_name()).collect();
    assert_eq!(left.len(), 1, "one version: {left:?}");
}

type Pairs = BTreeMap<Vec<u8>, Vec<u8>>;

/// Keys and values of bytes from `alphabet`.
fn pairs(rng: &mut Rng, alphabet: &[u8]) -> Pairs {
    let word = |rng: &mut Rng| (0..rng.usize(0..12)).map(|_| alphabet[rng.usize(..alphabet.len())]).collect();
    (0..200).map(|_| (word(rng), word(rng))).collect()
}

/// Loads the pairs as a Sparkey log, exports the space in this form, loads that, and gives what is then there.
fn round_trip(pairs: &Pairs, form: &str, extra: &str) -> Pairs {
    let place = Place::new();
    let lines: String = pairs.iter().map(|(key, value)| line(key, value)).collect();
    place.write("in.ndjson", lines);
    place.run("load s in.ndjson --no-sync").ends(0);
    let file = if form == "sparkey" { "out.spi".into() } else { format!("out.{form}") };
    place.run(&format!("export s --format {form} --output {file} {extra}")).ends(0);
    place.run(&format!("load t {file} --no-sync")).ends(0);
    let out = place.run("export t --json").ends(0);
    out.objects().iter().map(|object| (bytes(object, "key"), bytes(object, "value"))).collect()
}

fn line(key: &[u8], value: &[u8]) -> String {
    let base64 = |bytes| data_encoding::BASE64.encode(bytes);
    format!("{{\"key_base64\":\"{}\",\"value_base64\":\"{}\"}}\n", base64(key), base64(value))
}

fn bytes(object: &serde_json::Value, name: &str) -> Vec<u8> {
    match object.get(name) {
        Some(text) => text.as_str().unwrap().into(),
        None => data_encoding::BASE64.decode(object[format!("{name}_base64")].as_str().unwrap().as_bytes()).unwrap(),
    }
}

#[test]
fn whatever_a_form_can_say_comes_back() {
    let seed = fastrand::u64(..);
    let mut rng = Rng::with_seed(seed);
    let any: Vec<u8> = (0..=255).collect();
    for (form, extra, alphabet) in [
        ("ndjson", "", &any[..]),
        ("csv", "", b"ab,\"\r\n \xff"),
        ("tsv", "", b"ab,\" \xff"),
        ("json", "", b"ab\"\\\n\x01 "),
        ("sparkey", "", &any),
        ("sparkey", "--compression snappy --block-size 16", &any),
        ("sparkey", "--compression zstd", &any),
    ] {
        let pairs = pairs(&mut rng, alphabet);
        assert_eq!(round_trip(&pairs, form, extra), pairs, "{form} {extra}, seed {seed}");
    }
}

#[test]
fn a_first_field_that_begins_with_a_byte_order_mark_comes_back() {
    for form in ["ndjson", "csv", "tsv", "json", "sparkey"] {
        for first in ["\u{feff}", "\u{feff}a", "\u{feff}\u{feff}", "\u{feff},\""] {
            let pairs = Pairs::from([(first.into(), first.into())]);
            assert_eq!(round_trip(&pairs, form, ""), pairs, "{form} {first:?}");
        }
    }
}

#[test]
fn what_a_form_cannot_say_is_refused_and_no_file_appears() {
    let place = Place::new();
    place.write("in.ndjson", line(b"tab\t", b"v") + &line(b"bytes", b"\xff"));
    place.run("load s in.ndjson").ends(0);
    for (form, says) in [("tsv", "`tab\\t` is not free of tabs"), ("json", "`\\xff` is not UTF-8")] {
        let ran = place.run(&format!("export s --format {form} --output out")).ends(2);
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
        assert!(!place.path().join("out").exists());
    }
}
