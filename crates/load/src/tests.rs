use super::*;
use hammerspace_error::{Error, Kind};
use std::collections::BTreeMap;

type Pairs = Vec<(String, String)>;

/// All pairs of a text, or the error that ended it.
pub(crate) fn pairs(format: Format, options: &Options, bytes: &[u8]) -> Result<Pairs> {
    let mut pairs = Vec::new();
    read(format, bytes, options, &mut |key, value| {
        pairs.push((String::from_utf8_lossy(key).into_owned(), String::from_utf8_lossy(value).into_owned()));
        Ok(())
    })?;
    Ok(pairs)
}

/// Reads `text` with default options, and compares.
#[track_caller]
pub(crate) fn gives(format: Format, text: impl AsRef<[u8]>, expected: &[(&str, &str)]) {
    let expected: Pairs = expected.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    assert_eq!(pairs(format, &Options::default(), text.as_ref()).unwrap(), expected);
}

/// Reads `text` with default options, and expects an error that says `finding`.
#[track_caller]
pub(crate) fn refuses(format: Format, text: impl AsRef<[u8]>, finding: &str) -> Error {
    let error = pairs(format, &Options::default(), text.as_ref()).unwrap_err();
    assert!(error.finding().contains(finding), "{error}");
    assert!(error.advice().is_some(), "no remedy: {error}");
    error
}

#[test]
fn json_is_flattened() {
    gives(Format::Json, "\u{feff}{}", &[]);
    gives(
        Format::Json,
        r#"{"a": {"b": "x", "c": [1.50, {"d": true}, null, [], "y"], "": "z"}, "e.f": -0, "g": "\u00e9\ud83d\ude00"}"#,
        &[
            ("a.b", "x"),
            ("a.c.0", "1.50"),
            ("a.c.1.d", "true"),
            ("a.c.4", "y"),
            ("a.", "z"),
            ("e.f", "-0"),
            ("g", "é😀"),
        ],
    );
    gives(Format::Json, r#"[["a"], {"": {"b": false}}]"#, &[("0.0", "a"), ("1..b", "false")]);
}

#[test]
fn json_says_where_it_is_wrong() {
    refuses(Format::Json, "{\"a\": 1,\n\"b\" 2}", "line 2, column 5");
    refuses(Format::Json, "{\"a\": \"\\ud800\"}", "line 1");
    refuses(Format::Json, "{} {}", "line 1");
    refuses(Format::Json, "", "line 1");
    refuses(Format::Json, "\u{feff}{\"a\" 1}", "line 1, column 6");
    refuses(Format::Json, b"{\"a\": \"\xff\"}", "line 1");
    refuses(Format::Json, "\"lonely\"", "a single value");
}

#[test]
fn json_is_bounded_in_depth_and_in_what_it_unfolds_to() {
    let nested = |depth| ["[".repeat(depth), "1".to_string(), "]".repeat(depth)].concat();
    gives(Format::Json, nested(json::DEPTH_MAX), &[(&["0"; json::DEPTH_MAX].join("."), "1")]);
    refuses(Format::Json, nested(json::DEPTH_MAX + 1), "deeper");
    let bomb = format!("{{\"{}\": [{}1]}}", "long".repeat(10_000), "1,".repeat(20_000));
    refuses(Format::Json, bomb, "unfold");
}

/// As Psych and Python's `json` have it: the same in text and in tables of types.
#[test]
fn a_name_that_occurs_twice_has_its_last_value_and_nothing_of_the_first() {
    for format in [Format::Json, Format::Yaml] {
        gives(format, r#"{"a": "old", "b": "x", "a": "new"}"#, &[("a", "new"), ("b", "x")]);
        gives(format, r#"{"a": {"x": 1}, "a": {"y": 2}, "c": {"z": 3}, "c": null}"#, &[("a.y", "2")]);
        gives(format, r#"{"a": [1, 2], "a": "text"}"#, &[("a", "text")]);
    }
    gives(
        Format::Ndjson,
        r#"{"key": "x", "value": {"a": {"b": 1}, "a": 2}, "key": "k"}
           {"value": {"a": 1}, "key": "l", "value": "text"}"#,
        &[("k.a", "2"), ("l", "text")],
    );
}

#[test]
fn ndjson_is_a_pair_per_line() {
    gives(
        Format::Ndjson,
        "\u{feff}{\"key\": \"a\", \"value\": \"x\"}\r\n\n  \n{\"value\": 2.0, \"note\": [\"value\"], \"key\": \"b\"}\n\
         {\"key\": \"c\", \"value\": {\"d\": \"y\", \"e\": [false]}}\n\
         {\"key\": \"f\", \"value\": null}\n{\"value\":\"\",\"key\":7}",
        &[("a", "x"), ("b", "2.0"), ("c.d", "y"), ("c.e.0", "false"), ("7", "")],
    );
    refuses(Format::Ndjson, "{\"key\":\"a\",\"value\":1}\n{\"value\": 1}", "line 2 has no `key`");
    refuses(Format::Ndjson, "{\"key\": \"a\", \"val\": 1}", "line 1 has no `value`");
    refuses(Format::Ndjson, "{\"key\":\"a\",\"value\":1}\n{\"key\":\n", "line 2");
}

#[test]
fn ndjson_takes_bytes_that_are_no_text_in_base64() {
    let mut seen = Vec::new();
    let lines = b"{\"value_base64\":\"/v8=\",\"key_base64\":\"/w==\"}\n{\"key_base64\":\"YQ==\",\"value\":\"x\"}\n";
    read(Format::Ndjson, &lines[..], &Options::default(), &mut |key, value| {
        seen.extend([key.to_vec(), value.to_vec()]);
        Ok(())
    })
    .unwrap();
    assert_eq!(seen, [&b"\xff"[..], b"\xfe\xff", b"a", b"x"]);
    refuses(Format::Ndjson, "{\"key\":\"a\",\"value_base64\":\"*\"}", "line 1 has a base64 member");
    refuses(Format::Ndjson, "{\"key\":\"a\",\"value_base64\":[\"YQ==\"]}", "line 1 has no `value`");
}

#[test]
fn an_error_of_the_sink_ends_the_reading() {
    for (format, bytes) in samples() {
        let mut calls = 0;
        let error = read(format, &bytes[..], &Options::default(), &mut |_, _| {
            calls += 1;
            Err(Error::new(Kind::Full, "no room"))
        });
        assert_eq!((error.unwrap_err().kind(), calls), (Kind::Full, 1), "{format:?}");
    }
}

/// One well-formed file of each format.
fn samples() -> [(Format, Vec<u8>); 7] {
    let texts: [&[u8]; 7] = [
        include_bytes!("../tests/sample.po"),
        include_bytes!("../tests/sample.mo"),
        br#"{"fruit": {"apple": "\u00c4pfel", "more": ["x", 1.50, true, null]}}"#,
        b"de: &de\n  a: \"x\\n\"\n  b: [1, {c: 'y'}]\nfr:\n  <<: *de\n  d: |\n    z\n",
        b"{\"key\": \"a\", \"value\": {\"b\": \"x\"}}\n{\"key\": \"c\", \"value\": 1}\n",
        b"a,\"x\"\"\"\nb,y\n",
        b"a\tx\nb\ty\n",
    ];
    std::array::from_fn(|index| (Format::ALL[index], texts[index].to_vec()))
}

/// Whatever is cut off or altered: an answer comes, and no more bytes than the largest budget allows.
#[test]
fn hostile_bytes_get_an_answer() {
    let survives = |format, bytes: &[u8]| {
        if let Ok(pairs) =
            pairs(format, &Options { header_row: true, catalogue_header: true, ..Options::default() }, bytes)
        {
            let out: usize = pairs.iter().map(|(key, value)| key.len() + value.len()).sum();
            // A byte that is not UTF-8 becomes three in the lossy text.
            assert!(out <= 3 * 100 * bytes.len(), "{format:?} gives {out} bytes for {:?}", bytes.escape_ascii());
        }
        let mut map = Map::default();
        if i18n::is_typed(format) && map.read(format, "de.", bytes).is_ok() {
            let out: usize = map.0.iter().map(|(key, value)| key.len() + value.len()).sum();
            // A byte becomes six in JSON at most.
            assert!(out <= 6 * 100 * bytes.len(), "{format:?} stores {out} bytes for {:?}", bytes.escape_ascii());
        }
    };
    for (format, sample) in samples() {
        assert!(!pairs(format, &Options::default(), &sample).unwrap().is_empty(), "{format:?}");
        for at in 0..sample.len() {
            survives(format, &sample[..at]);
            for value in [0x00, 0x01, b'\n', b'"', b'\\', b'{', 0x7f, 0x80, 0xff, sample[at] ^ 1, sample[at] ^ 0x80] {
                let mut altered = sample.clone();
                altered[at] = value;
                survives(format, &altered);
            }
        }
    }
}

/// A space as a map, for what Ruby's I18n is to find.
#[derive(Default)]
struct Map(BTreeMap<Vec<u8>, Vec<u8>>);

impl i18n::Texts for Map {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.0.get(key).cloned())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.insert(key.to_vec(), value.to_vec());
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.0.remove(key);
        Ok(())
    }

    fn keys(&mut self) -> Result<Vec<Vec<u8>>> {
        Ok(self.0.keys().cloned().collect())
    }
}

impl Map {
    fn read(&mut self, format: Format, prefix: &str, text: impl AsRef<[u8]>) -> Result<u64> {
        i18n::read(format, text.as_ref(), &i18n::Parents::of(prefix.as_bytes())?, self)
    }

    /// The list after keys like these were put.
    fn list(&mut self, keys: &[&str]) -> Option<String> {
        let mut locales = i18n::Locales::default();
        for key in keys {
            locales.note(key.as_bytes());
        }
        locales.list(self).unwrap();
        self.0.get(&b"."[..]).map(|value| String::from_utf8(value.clone()).unwrap())
    }

    #[track_caller]
    fn is(&self, expected: &[(&str, &str)]) {
        let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).unwrap();
        let there: Pairs = self.0.iter().map(|(key, value)| (text(key), text(value))).collect();
        let mut expected: Pairs = expected.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        expected.sort();
        assert_eq!(there, expected);
    }
}

#[test]
fn translations_are_stored_as_their_format_page_says() {
    let page = include_str!("../../../docs/format/translations.md");
    let block = |kind| page.split_once(&format!("```{kind}\n")).unwrap().1.split_once("\n```").unwrap().0;
    let listing = block("text").replace('␀', "\0").replace('␁', "\u{1}");
    let entries: Vec<_> = listing.lines().map(|line| line.split_once(' ').unwrap()).collect();
    let entries: Vec<_> = entries.iter().map(|&(key, value)| (key, value.trim_start())).collect();
    let mut map = Map::default();
    assert_eq!(map.read(Format::Yaml, "", block("yaml")).unwrap(), entries.len() as u64 - 1);
    assert!(map.list(&["de.shop", "de"]).is_some());
    map.is(&entries);
}

#[test]
fn locales_are_listed_with_those_before_them() {
    let mut map = Map::default();
    assert_eq!(map.list(&["", ".", ".x"]), None);
    map.0 = [("fr.by.hand", "x"), (".", "a text"), ("it", "x")].map(|(key, value)| (key.into(), value.into())).into();
    assert_eq!(map.list(&["de.a", "it.b"]).unwrap(), r#"␀{"children":["fr","it","de"]}"#.replace('␀', "\0"));
    map.0.insert("es.by.hand".into(), "x".into());
    assert_eq!(map.list(&["de.a.b", "en"]).unwrap(), r#"␀{"children":["fr","it","de","en"]}"#.replace('␀', "\0"));
}

#[test]
fn translations_keep_the_types_that_yaml_gives_them() {
    let values = [
        ("1.50", "\u{0}1.50"),
        ("+.5", "\u{0}0.5"),
        ("-2.", "\0-2.0"),
        ("+3", "\u{0}3"),
        ("+-5", "+-5"),
        ("--5", "--5"),
        ("1e3", "1e3"),
        ("344455e6", "344455e6"),
        ("1.5e3", "1.5e3"),
        ("1.5e+3", "\u{0}1.5e+3"),
        ("!!float 1e3", "\u{0}1e3"),
        ("! 3", "\u{0}3"),
        ("! '3'", "3"),
        ("!ruby/symbol day", "\0{\"symbol\":\"day\"}"),
        ("123456789012345678901234567890", "\u{0}123456789012345678901234567890"),
        ("0049", "0049"),
        ("12:30", "12:30"),
        ("1_000", "1_000"),
        (".", "."),
        ("no", "no"),
        ("!!str 3", "3"),
        ("!!int '3'", "\u{0}3"),
        ("'true'", "true"),
        ("FALSE", "\0false"),
        (":day", "\0{\"symbol\":\"day\"}"),
        (":\"every day\"", "\0{\"symbol\":\"every day\"}"),
        ("':day'", ":day"),
        ("\"\\0\"", "\0\"\\u0000\""),
        ("[]", "\0[]"),
        ("{}", "\0{\"children\":[]}"),
    ];
    for (yaml, value) in values {
        let mut map = Map::default();
        map.read(Format::Yaml, "de.a.", format!("b: {yaml}")).unwrap();
        map.is(&[("de", "\0{\"children\":[\"a\"]}"), ("de.a", "\0{\"children\":[\"b\"]}"), ("de.a.b", value)]);
    }
    let mut map = Map::default();
    map.read(Format::Json, "de.", r#"{"a": [1, 1e3, "1", true, null, {":b": ":c"}], "b": null}"#).unwrap();
    map.is(&[("de", "\0{\"children\":[\"a\"]}"), ("de.a", "\0[1,1e3,\"1\",true,null,{\"pairs\":[[\":b\",\":c\"]]}]")]);
}

#[test]
fn translations_make_no_locale_of_nothing() {
    let mut map = Map::default();
    assert_eq!(map.read(Format::Yaml, "", "{de: ~, fr: {}, it: {shop: ~}}").unwrap(), 0);
    assert_eq!(map.read(Format::Json, "de.", "{}").unwrap(), 0);
    map.is(&[]);
}

#[test]
fn translations_join_trees_and_take_their_places() {
    let mut map = Map::default();
    map.read(Format::Yaml, "", "de: {a: {x: 1, y: {z: t}}, b: t}").unwrap();
    map.read(Format::Yaml, "de.", "{a: {w: 2, x: 3}, b: {c: t}, n: ~, m: {n: ~}}").unwrap();
    map.is(&[
        ("de", "\0{\"children\":[\"a\",\"b\",\"m\"]}"),
        ("de.a", "\0{\"children\":[\"x\",\"y\",\"w\"]}"),
        ("de.a.w", "\u{0}2"),
        ("de.a.x", "\u{0}3"),
        ("de.a.y", "\0{\"children\":[\"z\"]}"),
        ("de.a.y.z", "t"),
        ("de.b", "\0{\"children\":[\"c\"]}"),
        ("de.b.c", "t"),
    ]);
    map.read(Format::Yaml, "de.", "{a: text, b: [], m: ~}").unwrap();
    map.is(&[("de", "\0{\"children\":[\"a\",\"b\"]}"), ("de.a", "text"), ("de.b", "\0[]")]);
}

#[test]
fn translations_are_taken_away_by_null() {
    let mut map = Map::default();
    map.read(Format::Yaml, "", "de: {a: {x: {y: t}, z: t}, b: t, c: t}").unwrap();
    // The tree is named again as much as it changed; a leaf stays one, and what is not there stays away.
    assert_eq!(map.read(Format::Yaml, "", "{de: {a: {x: ~, none: ~}, b: {x: ~}, d: ~}, fr: ~}").unwrap(), 1);
    map.is(&[
        ("de", "\0{\"children\":[\"a\",\"b\",\"c\"]}"),
        ("de.a", "\0{\"children\":[\"z\"]}"),
        ("de.a.z", "t"),
        ("de.b", "t"),
        ("de.c", "t"),
    ]);
    assert_eq!(map.read(Format::Json, "de.", r#"{"a": null, "b": null, "e": "t"}"#).unwrap(), 2);
    map.is(&[("de", "\0{\"children\":[\"c\",\"e\"]}"), ("de.c", "t"), ("de.e", "t")]);
}

/// So often that to write each of them would take hours.
#[test]
fn translations_have_the_last_value_of_a_name_that_occurs_twice() {
    let many = |name: fn(usize) -> &'static str| {
        (0..20_000).map(|n| format!("\"{}\": {{\"k{n}\": 1}}", name(n))).collect::<Vec<_>>().join(", ")
    };
    for (name, key) in [(many(|_| "a"), "a"), (many(|n| ["a.b", "a\\u0001b"][n % 2]), "a\u{1}b")] {
        let mut map = Map::default();
        assert_eq!(map.read(Format::Json, "de.", format!("{{{name}}}")).unwrap(), 3);
        let named = format!("\0{{\"children\":[\"{}\"]}}", key.replace('\u{1}', "\\u0001"));
        let [below, last] = [format!("de.{key}"), format!("de.{key}.k19999")];
        map.is(&[("de", &named), (&below, "\0{\"children\":[\"k19999\"]}"), (&last, "\u{0}1")]);
    }
    let mut map = Map::default();
    map.read(Format::Yaml, "", "de: {b: {x: 1}, c: t, b: ~, d: [{x: 1, y: 2, x: 3}], c: ~, c: u}").unwrap();
    map.is(&[
        ("de", "\0{\"children\":[\"c\",\"d\"]}"),
        ("de.c", "u"),
        ("de.d", "\0[{\"pairs\":[[\"x\",3],[\"y\",2]]}]"),
    ]);
}

#[test]
fn translations_have_names_like_symbols() {
    let mut map = Map::default();
    map.read(Format::Yaml, "", ":de: {:a: 1, ':b': 2, :\"c d\": [{:e: 3}], \"\": 4}").unwrap();
    map.is(&[
        ("de", "\0{\"children\":[\"a\",\":b\",\"c d\",\"\"]}"),
        ("de.", "\u{0}4"),
        ("de.:b", "\u{0}2"),
        ("de.a", "\u{0}1"),
        ("de.c d", "\0[{\"pairs\":[[\"e\",3]]}]"),
    ]);
}

/// As Psych reads them, and I18n finds them.
#[test]
fn translations_have_names_that_are_integers() {
    let mut map = Map::default();
    map.read(Format::Yaml, "", "de: {t: {1: a, +2: b, -3: c, 0: d, '4': e, 05: f, 1.5: g}, l: [{1: a, '1b': b}]}")
        .unwrap();
    let tree = "\0{\"children\":[1,2,-3,0,\"4\",\"05\",\"1\\u00015\"]}";
    assert_eq!(map.0[&b"de.t"[..]], tree.as_bytes());
    assert_eq!(map.0[&b"de.t.2"[..]], b"b");
    assert_eq!(map.0[&b"de.l"[..]], b"\0[{\"pairs\":[[1,\"a\"],[\"1b\",\"b\"]]}]");
    map.read(Format::Json, "", r#"{"de": {"t": {"1": "x", "5": "y"}}}"#).unwrap();
    let tree = "\0{\"children\":[\"1\",2,-3,0,\"4\",\"05\",\"1\\u00015\",\"5\"]}";
    assert_eq!(map.0[&b"de.t"[..]], tree.as_bytes());
    map.read(Format::Yaml, "", "de: {t: {1: ~, 2: ~}}").unwrap();
    let tree = "\0{\"children\":[-3,0,\"4\",\"05\",\"1\\u00015\",\"5\"]}";
    assert_eq!(map.0[&b"de.t"[..]], tree.as_bytes());
    map.read(Format::Yaml, "", "de: {t: text}").unwrap();
    assert_eq!(map.0.keys().filter(|key| key.starts_with(b"de.t.")).count(), 0);
}

#[test]
fn translations_lie_below_locales() {
    let mut map = Map::default();
    map.read(Format::Yaml, "de.shop.", "{a: t}").unwrap();
    let there = [("de", "\0{\"children\":[\"shop\"]}"), ("de.shop", "\0{\"children\":[\"a\"]}"), ("de.shop.a", "t")];
    map.is(&there);
    for (prefix, kind) in
        [("de", Kind::Invalid), (".", Kind::Invalid), ("de..", Kind::Invalid), (".de.", Kind::Invalid)]
    {
        assert_eq!(map.read(Format::Yaml, prefix, "{a: t}").unwrap_err().kind(), kind, "{prefix}");
    }
    assert!(i18n::Parents::of(b"\xff.").is_err());
    for (format, text) in [(Format::Yaml, "title: t"), (Format::Json, r#"{"title": ["t"]}"#)] {
        let error = map.read(format, "", text).unwrap_err();
        assert!(error.finding().contains("`title` is no locale") && error.advice().is_some(), "{error}");
    }
    map.is(&there);
}

#[test]
fn translations_are_bounded_like_pairs() {
    let refused = |format, prefix, text: String, finding: &str| {
        let error = Map::default().read(format, prefix, text).unwrap_err();
        assert!(error.finding().contains(finding), "{error}");
        assert!(error.advice().is_some(), "no remedy: {error}");
    };
    refused(Format::Yaml, "", "[a]".into(), "no mapping");
    refused(Format::Json, "", "{} {}".into(), "line 1");
    refused(Format::Json, "", "7".into(), "no mapping");
    refused(Format::Yaml, "de", "a: b".into(), "a dot behind");
    for innermost in ["laugh", "[]", "{}", "{a: b}"] {
        for (open, close) in [("[", "]"), ("{", "}")] {
            let item = |n, line| if open == "[" { format!("*l{line}") } else { format!("{n}: *l{line}") };
            let laughs = |line| {
                let items: Vec<_> = (0..9).map(|n| item(n, line)).collect();
                format!("l{}: &l{} {open}{}{close}\n", line + 1, line + 1, items.join(","))
            };
            let text = format!("l0: &l0 {innermost}\n") + &(0..30).map(laughs).collect::<Vec<_>>().concat();
            refused(Format::Yaml, "de.", text, "unfold");
        }
    }
    for format in [Format::Json, Format::Yaml] {
        let nested = |depth| ["{\"a\":".repeat(depth), "1".to_string(), "}".repeat(depth)].concat();
        Map::default().read(format, "", nested(json::DEPTH_MAX)).unwrap();
        refused(format, "", nested(json::DEPTH_MAX + 1), "deeper");
    }
}
