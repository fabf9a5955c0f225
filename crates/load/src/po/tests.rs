use crate::tests::{gives, pairs, refuses};
use crate::{Format, Options};
use hammerspace_error::Kind;

const PO: Format = Format::Po;

#[test]
fn one_of_everything() {
    gives(
        PO,
        include_str!("../../tests/sample.po"),
        &[
            ("menu\x04Open", "Öffnen"),
            ("one file", "eine Datei\0%d Dateien"),
            ("%<PRIu64> of %<PRIdMAX> bytes\n", "%<PRIu64> von %<PRIdMAX> Bytes\n"),
            ("disk\x04%<PRIu32> block", "%<PRIu32> Block\0%<PRIu32> Blöcke"),
            ("half translated file", "eins\0"),
            ("\x04an empty context is a context", "auch ein leerer"),
            ("all", "on"),
            ("one", "line"),
            ("folded over two lines", "\x07\x08\x0c\n\r\t\x0b\\\"ABS4C äB"),
            ("last", "letzte"),
        ],
    );
}

#[test]
fn the_header_is_passed_on_when_asked_for() {
    let text = "#, fuzzy\nmsgid \"\"\nmsgstr \"Language: de\\n\"\nmsgid \"a\"\nmsgstr \"b\"\n";
    gives(PO, text, &[("a", "b")]);
    let options = Options { catalogue_header: true, ..Options::default() };
    let header = (String::new(), "Language: de\n".to_string());
    assert_eq!(pairs(PO, &options, text.as_bytes()).unwrap()[0], header);
    gives(PO, "msgctxt \"\"\nmsgid \"\"\nmsgstr \"no header\"\n", &[("\x04", "no header")]);
}

#[test]
fn only_the_flag_fuzzy_is_fuzzy() {
    for flags in ["#, fuzzy", "#,fuzzy", "#! fuzzy", "  #, c-format,fuzzy\r", "#, x fuzzy\t\n\n# why"] {
        gives(PO, format!("{flags}\nmsgid \"a\"\nmsgstr \"b\"\nmsgid \"c\"\nmsgstr \"d\"\n"), &[("c", "d")]);
    }
    for comment in [
        "# , fuzzy",
        "#, Fuzzy",
        "#, not-fuzzy",
        "#. fuzzy",
        "#: fuzzy",
        "#, fuzzy\n#, range: 0..1",
        "#, fuzzy\n#~ msgid \"gone\"",
    ] {
        gives(PO, format!("{comment}\nmsgid \"a\"\nmsgstr \"b\"\n"), &[("a", "b")]);
    }
}

#[test]
fn the_charset_of_the_header_counts_for_the_whole_file() {
    let header = |charset: &str| format!("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset={charset}\\n\"\n");
    let entry = b"# \xe9\nmsgid \"caf\xe9\"\nmsgstr \"\xe9t\xe9\"\n";
    let expected = [("café", "été")];
    gives(PO, [header("ISO-8859-1").as_bytes(), entry].concat(), &expected);
    gives(PO, [entry, header("ISO-8859-1").as_bytes()].concat(), &expected);
    // The second byte of these is a backslash.
    let entry = b"msgid \"a\"\nmsgstr \"\x95\x5c\x83\x5c\"\n";
    gives(PO, [header("SHIFT_JIS").as_bytes(), entry].concat(), &[("a", "表ソ")]);

    let entry = "msgid \"a\"\nmsgstr \"\\351\"\n";
    refuses(PO, header("ISO-8859-1") + entry, "line 4: an escape for a byte beyond ASCII");
    refuses(PO, header("UTF-8") + entry, "entry on line 3, the text is not UTF-8");
    assert_eq!(refuses(PO, header("KLINGON"), "KLINGON").kind(), Kind::Unsupported);
    gives(PO, [b"# \xff\n", header("UTF-8").as_bytes()].concat(), &[]);
}

#[test]
fn what_is_no_catalogue_is_refused_with_its_line() {
    for (text, finding) in [
        ("msgid \"a\nmsgstr \"b\"", "line 1: a string is not closed"),
        ("msgid \"a\"\nmsgstr \"b", "line 2: a string is not closed"),
        ("msgid \"a\"\n\nmsgid \"b\"", "line 3: expected `msgstr`, found `msgid`"),
        ("msgid \"a\"\n# between\nmsgstr \"b\"", "line 2: expected `msgstr`, found a comment"),
        ("msgid \"a\"\n#~ msgstr \"b\"", "line 2: expected `msgstr`, found a comment"),
        ("msgid \"a\" msgstr \"b\"\n# between\n\"c\"", "line 3: expected `msgid`, found a string"),
        ("msgid \"a\"\nmsgctxt \"c\"\nmsgstr \"b\"", "line 2: expected `msgstr`, found `msgctxt`"),
        ("msgctxt \"a\"\nmsgstr \"b\"", "line 2: expected `msgid`, found `msgstr`"),
        ("msgid\nmsgstr \"b\"", "line 2: expected a string, found `msgstr`"),
        ("msgid \"a\"\nmsgstr[0] \"b\"", "line 2: expected a string, found `[`"),
        ("msgid \"a\"\nmsgid_plural \"as\"\nmsgstr \"b\"", "line 3: expected `[`, found a string"),
        ("msgid \"a\"\nmsgid_plural \"as\"\nmsgstr[1] \"b\"", "line 3: expected 0, found 1"),
        ("msgid \"a\"\nmsgid_plural \"as\"\nmsgstr[0] \"b\"\nmsgstr[2] \"c\"", "line 4: expected 1, found 2"),
        ("msgid \"a\"\nmsgid_plural \"as\"\nmsgid \"b\"", "line 3: expected `msgstr`, found `msgid`"),
        ("msgid \"a\"\nmsgstr \"\\q\"", "line 2: unknown escape"),
        ("msgid \"a\"\nmsgstr \"\\xg\"", "line 2: unknown escape"),
        ("msgid \"a\"\nmsgstr \"b\\000c\"", "line 2: a byte 0 in a string"),
        ("msgid \"a\"\nmsgstr \"b\0c\"", "line 2: a byte 0 in a string"),
        ("msgid \"a\\4b\"\nmsgstr \"c\"", "line 1: a byte 4 in a string"),
        ("msgid \"a\\\nb\"\n;", "line 3: unexpected `;`"),
        ("msgstr \"a\"", "line 1: expected `msgid`, found `msgstr`"),
        ("msgid \"a\"", "line 1: expected `msgstr`, found the end of the file"),
        ("\"", "line 1: a string is not closed"),
    ] {
        assert_eq!(refuses(PO, text, finding).kind(), Kind::Corrupt);
    }
}
