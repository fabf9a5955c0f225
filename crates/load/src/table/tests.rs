use super::*;
use crate::tests::{gives, pairs, refuses};
use crate::{Format, read};

#[test]
fn csv_has_quotes_and_tsv_has_none() {
    gives(
        Format::Csv,
        "\u{feff}a,x\r\n\n\"b, \"\"c\"\"\",\"y\nz\"\nd,\n",
        &[("a", "x"), ("b, \"c\"", "y\nz"), ("d", "")],
    );
    gives(Format::Tsv, "a\tx\n\"b\ty, \"z\"\nc\t", &[("a", "x"), ("\"b", "y, \"z\""), ("c", "")]);
    assert_eq!(refuses(Format::Csv, "a,x\nlonely\n", "line 2: `lonely` stands alone").kind(), Kind::Corrupt);
    refuses(Format::Tsv, "a,x\n", "line 1");
}

#[test]
fn a_third_column_is_not_dropped() {
    let error = refuses(Format::Csv, "a,x\nb,y,z\n", "line 2: the row of `b` has 3 columns");
    assert_eq!(error.kind(), Kind::Invalid);
    assert!(error.advice().unwrap().contains("--value-column"));
    refuses(Format::Tsv, "a\tx\t\n", "3 columns");
}

#[test]
fn a_header_row_is_skipped_when_announced() {
    let options = Options { header_row: true, ..Options::default() };
    for (format, text) in [(Format::Csv, "key,value\na,x\n"), (Format::Tsv, "key\tvalue\na\tx\n")] {
        assert_eq!(pairs(format, &options, text.as_bytes()).unwrap(), [("a".into(), "x".into())]);
        gives(format, text, &[("key", "value"), ("a", "x")]);
    }
}

#[test]
fn tables_pass_bytes_on_as_they_are() {
    let mut seen = Vec::new();
    read(Format::Csv, &b"\xff,\xfe\n"[..], &Options::default(), &mut |key, value| {
        seen.extend([key.to_vec(), value.to_vec()]);
        Ok(())
    })
    .unwrap();
    assert_eq!(seen, [b"\xff", b"\xfe"]);
}

fn options(key: &str, values: &[&str]) -> Options {
    let key_column = Some(key.to_string()).filter(|key| !key.is_empty());
    let value_columns = values.iter().map(ToString::to_string).collect();
    Options { key_column, value_columns, ..Options::default() }
}

const TABLE: &str = "id,de,fr\n1,Apfel,pomme\n2,Birne,\n";

#[test]
fn columns_are_named_or_numbered() {
    let object = r#"{"de":"Apfel","fr":"pomme"}"#;
    for (key, values, header_row, first) in [
        ("id", &["fr"][..], false, ("1", "pomme")),
        ("", &["fr"], false, ("1", "pomme")),
        ("fr", &["1"], false, ("pomme", "1")),
        ("2", &["3"], false, ("de", "fr")),
        ("2", &["3"], true, ("Apfel", "pomme")),
        ("", &["de", "fr"], false, ("1", object)),
        ("1", &["2", "fr"], false, ("1", object)),
        ("1", &["2", "3"], true, ("1", object)),
        ("1", &["2", "3"], false, ("id", r#"{"2":"de","3":"fr"}"#)),
    ] {
        let options = Options { header_row, ..options(key, values) };
        let pairs = pairs(Format::Csv, &options, TABLE.as_bytes()).unwrap();
        assert_eq!(pairs[0], (first.0.into(), first.1.into()), "{key} {values:?} {header_row}");
    }
    // A name goes before a number.
    let years = "year,2,1\nx,y,z\n";
    let pairs = pairs(Format::Csv, &Options { header_row: true, ..options("1", &["2"]) }, years.as_bytes()).unwrap();
    assert_eq!(pairs, [("z".into(), "y".into())]);
}

#[test]
fn a_delimiter_is_any_byte() {
    let options = Options { delimiter: Some(b';'), ..Options::default() };
    let text = "a;\"x;y\"\nb;z,\n";
    assert_eq!(
        pairs(Format::Csv, &options, text.as_bytes()).unwrap(),
        [("a".into(), "x;y".into()), ("b".into(), "z,".into())]
    );
    assert_eq!(pairs(Format::Tsv, &options, b"a;\"x\n").unwrap(), [("a".into(), "\"x".into())]);
}

#[test]
fn columns_that_cannot_be_had_are_refused() {
    let refused = |key: &str, values: &[&str], text: &str, kind: Kind, finding: &str| {
        let error = pairs(Format::Csv, &options(key, values), text.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.finding().contains(finding) && error.advice().is_some(), "{error}");
    };
    refused("es", &[], TABLE, Kind::Invalid, "has no `es`; it has id, de, fr");
    refused("id", &[], TABLE, Kind::Invalid, "line 2: the row of `1` has 3 columns");
    refused("id", &["x"], "id,x,x\n1,2,3\n", Kind::Invalid, "has `x` twice");
    refused("id", &["x", "2"], "id,x\n1,2\n", Kind::Invalid, "two of the value columns are called `x`");
    refused("1", &["4"], TABLE, Kind::Corrupt, "line 1: the row of `id` ends at column 3, and column 4 is wanted");
    let mut latin = TABLE.as_bytes().to_vec();
    latin.extend(b"3,\xc4pfel,x\n");
    let error = pairs(Format::Csv, &options("", &["de", "fr"]), &latin).unwrap_err();
    assert!(error.finding().contains("column 2 of the row of `3` is no UTF-8"), "{error}");
    assert_eq!(pairs(Format::Csv, &options("", &["fr"]), &latin).unwrap().len(), 3);
}
