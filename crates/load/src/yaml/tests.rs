use super::*;
use crate::tests::{gives, pairs, refuses};
use crate::{Format, Options};

#[test]
fn yaml_is_flattened_like_json() {
    gives(
        Format::Yaml,
        "\u{feff}# Rails\nde:\n  shop:\n    title: Laden\n    no: \"a\\tb\"\n    'null': 'null'\n  empty:\n  nothing: ~\n  \
         list:\n  - x\n  - 1.50\n  - {d: true}\n  - null\n  - []\n  - !!str null\n  long: >-\n    one\n    line\n  ? e.f\n  : -0\n",
        &[
            ("de.shop.title", "Laden"),
            ("de.shop.no", "a\tb"),
            ("de.shop.null", "null"),
            ("de.list.0", "x"),
            ("de.list.1", "1.50"),
            ("de.list.2.d", "true"),
            ("de.list.5", "null"),
            ("de.long", "one line"),
            ("de.e.f", "-0"),
        ],
    );
    gives(Format::Yaml, "- [a]\n- {1: no, ~: c}\n", &[("0.0", "a"), ("1.1", "no"), ("1.~", "c")]);
    gives(Format::Yaml, "{}", &[]);
}

#[test]
fn yaml_aliases_stand_for_what_they_name() {
    gives(
        Format::Yaml,
        "a: &a {b: x}\nc: [*a, *a]\n&k d: *k",
        &[("a.b", "x"), ("c.0.b", "x"), ("c.1.b", "x"), ("d", "d")],
    );
    gives(
        Format::Yaml,
        "one: &one {x: 1, y: {p: 1}, x: 2}\ntwo: &two {x: 3, z: 3}\nboth: {y: {q: 4}, <<: [*one, *two]}\nquoted: {'<<': 5}",
        &[
            ("one.x", "2"),
            ("one.y.p", "1"),
            ("two.x", "3"),
            ("two.z", "3"),
            ("both.y.q", "4"),
            ("both.x", "2"),
            ("both.z", "3"),
            ("quoted.<<", "5"),
        ],
    );
    // In the file's order, and its own whatever that is.
    gives(
        Format::Yaml,
        "- &a {p: 1, q: 2}\n- {o: 3, <<: *a, p: 4, r: 5}\n- {q: 6, <<: *a}",
        &[
            ("0.p", "1"),
            ("0.q", "2"),
            ("1.o", "3"),
            ("1.p", "4"),
            ("1.q", "2"),
            ("1.r", "5"),
            ("2.q", "6"),
            ("2.p", "1"),
        ],
    );
    gives(Format::Yaml, "{null: a, &n ~: b, !!str <<: c, !!null x: d}", &[("null", "a"), ("~", "d"), ("<<", "c")]);
}

#[test]
fn yaml_says_where_it_is_wrong() {
    refuses(Format::Yaml, "a: 1\nb: [2\nc: 3\n", "line 3");
    refuses(Format::Yaml, "a: *b", "line 1");
    refuses(Format::Yaml, "a: 1\nb: &b [*b]", "line 2, column 8: an alias of what");
    refuses(Format::Yaml, "a: 1\n---\nb: 2", "line 2, column 1: a second document");
    refuses(Format::Yaml, "a: 1\nb: !ruby/regexp /x/", "line 2, column 17: a value tagged `!ruby/regexp`");
    refuses(Format::Yaml, "a: !!set {b}", "a value tagged");
    refuses(Format::Yaml, "? [a]\n: 1", "line 1, column 3: a name that is no");
    refuses(Format::Yaml, "x: &x y\nz:\n  *x : 1", "line 3, column 3: a name that is no");
    refuses(Format::Yaml, "a:\n  <<: text", "merges what is no mapping");
    refuses(Format::Yaml, b"a: 1\nb: \"\xff\"", "line 2: bytes that are no UTF-8");
    refuses(Format::Yaml, b"a: 1\nb: 2\0\nc: 3", "line 2: a NUL byte");
    refuses(Format::Yaml, "# nothing\n", "nothing in it");
    refuses(Format::Yaml, "lonely", "a single value");
    refuses(Format::Yaml, "~", "a single value");
}

#[test]
fn yaml_is_bounded_in_depth_and_in_what_it_unfolds_to() {
    let nested = |depth| ["[".repeat(depth), "1".to_string(), "]".repeat(depth)].concat();
    gives(Format::Yaml, nested(DEPTH_MAX), &[(&["0"; DEPTH_MAX].join("."), "1")]);
    refuses(Format::Yaml, nested(DEPTH_MAX + 1), "deeper");
    refuses(Format::Yaml, format!("? {}\n: [{}1]", "long".repeat(10_000), "1,".repeat(20_000)), "unfold");
    // Each line stands for nine times the one before; with something in it, and with nothing.
    for innermost in ["laugh", "[]", "{}"] {
        let laughs = |line| format!("l{}: &l{} [{}]\n", line + 1, line + 1, vec![format!("*l{line}"); 9].join(","));
        refuses(
            Format::Yaml,
            format!("l0: &l0 {innermost}\n") + &(0..30).map(laughs).collect::<Vec<_>>().concat(),
            "unfold",
        );
    }
    let tower = |line| format!("l{}: &l{} [*l{line}]\n", line + 1, line + 1);
    refuses(Format::Yaml, "l0: &l0 x\n".to_string() + &(0..50_000).map(tower).collect::<Vec<_>>().concat(), "deeper");
    // What is merged takes memory, even where names are short and nothing is to be passed on.
    let names = |count| (0..count).map(|name| format!("k{name}: ")).collect::<Vec<_>>().join(", ");
    for count in [100, 2000] {
        let merging = format!("a: &a {{{}}}\nb:\n", names(count)) + &"- <<: *a\n".repeat(count);
        refuses(Format::Yaml, merging, "unfold");
    }
    gives(Format::Yaml, format!("a: &a {{{}}}\nb:\n", names(20)) + &"- <<: *a\n".repeat(20), &[]);
    for beginning in [
        "[", "{", "- ", "? ", "&a ", "*a ", "!a ", "a: ", "[a, ", "{a: ", "\"", "'", "|\n", "%", "#", "- - ", "\n ",
        "a\n",
    ] {
        drop(pairs(Format::Yaml, &Options::default(), beginning.repeat(100_000).as_bytes()));
    }
}

/// What Psych and PyYAML make of these, which both stand on libyaml.
#[test]
fn yaml_is_what_libyaml_takes() {
    for (text, value) in [
        ("a: ! '%d-%m'", "%d-%m"),
        ("a: ! no", "no"),
        ("a: !!str", ""),
        ("a: !<tag:yaml.org,2002:str> 3", "3"),
        ("%TAG ! tag:yaml.org,2002:\n---\na: !str 3", "3"),
        ("%TAG !y! tag:yaml.org,2002:\n---\na: !y!int 3", "3"),
        ("a: !ruby/symbol day", "day"),
        ("a: !ruby/sym day", "day"),
        ("a:\tb", "b"),
        ("a: 'b'\t", "b"),
        ("a: \"one\n  two\"", "one two"),
        ("a: \"one\ntwo\"", "one two"),
        ("a: 'one\ntwo'\n", "one two"),
        ("a: |\n b", "b"),
        ("a: |\n b\n", "b\n"),
        ("a: >+\n b\n\n", "b\n\n"),
        ("a: >\n b\n\n  c\n d", "b\n\n c\nd"),
    ] {
        gives(Format::Yaml, text, &[("a", value)]);
    }
    gives(Format::Yaml, "a:\n  b: 'one\ntwo'\n  c: [\n    d\n]\n", &[("a.b", "one two"), ("a.c.0", "d")]);
    gives(Format::Yaml, "a:\n  b: {\n    c: d\n}\ne: f\n", &[("a.b.c", "d"), ("e", "f")]);
    gives(Format::Yaml, "a: ! ~\nb: !\nc: ! '~'", &[("c", "~")]);
    gives(Format::Yaml, "a: ! [b]\nc: ! {d: e}\n", &[("a.0", "b"), ("c.d", "e")]);
    refuses(Format::Yaml, "%TAG !! tag:example.org,2026:\n---\na: !!str 3", "a value tagged");
    refuses(Format::Yaml, "a: !str 3", "a value tagged `!str`");
}

/// As Psych and PyYAML have it, whose later `<<` goes before an earlier one.
#[test]
fn yaml_merges_by_several_signs() {
    gives(
        Format::Yaml,
        "- &a {x: 1, y: 1}\n- &b {x: 2, z: 2}\n- {<<: *a, <<: *b}\n- {<<: [*a, *b]}\n- {<<: *b, x: 3, <<: *a}",
        &[
            ("0.x", "1"),
            ("0.y", "1"),
            ("1.x", "2"),
            ("1.z", "2"),
            ("2.x", "2"),
            ("2.y", "1"),
            ("2.z", "2"),
            ("3.x", "1"),
            ("3.z", "2"),
            ("3.y", "1"),
            ("4.x", "3"),
            ("4.z", "2"),
            ("4.y", "1"),
        ],
    );
}
