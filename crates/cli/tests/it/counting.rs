//! `hammerspace store count`, beyond what its guide shows.

use serde_json::json;

use crate::ran::Place;

#[test]
fn ids_are_counted_as_postgres_hashes_them() {
    let place = Place::with_store();
    let text = place.feed_line("store count add s text --json", b"1\n2\n1\n").ends(0).object();
    let expected =
        json!({ "estimate": 2.0, "relative_error": 0.0, "representation": "EXPLICIT", "bytes": 19, "ids": 3 });
    assert_eq!(text, expected);
    let value = |line: &str| place.run(&format!("store count union s --value {line}")).ends(0).text().to_owned();
    // hll_add(hll_add(hll_empty(), hll_hash_bigint(1)), hll_hash_bigint(2)), as docs/format/hll.md has it.
    let both = "\\x128b7fde0820a06c76c0a8004403b7fb05c44a\n";
    assert_eq!(place.feed_line("store count add s lines --type bigint", b"1\n2").ends(0).text(), "2\n");
    assert_eq!(value("lines"), both);
    let words = [1_u64, 2].map(u64::to_le_bytes).concat();
    place.feed_line("store count add s words --words", &words).ends(0);
    assert_eq!(value("words"), both);
    let hashes = format!("{}\n{}\n", 0xde08_20a0_6c76_c0a8_u64, 0x0044_03b7_fb05_c44a_i64);
    place.feed_line("store count add s hashes --type hash", hashes.as_bytes()).ends(0);
    assert_eq!(value("hashes"), both);
    for other in ["integer", "bytea"] {
        place.feed_line(&format!("store count add s {other} --type {other}"), b"1\n").ends(0);
    }
    assert_ne!(value("bytea"), value("integer"));
    assert_eq!(place.run("store count get s text").ends(0).text(), "2\n");
    assert_eq!(place.run("store count get s none --json").ends(1).object(), json!({ "found": false }));
    assert_eq!(place.run("store count s --json").ends(0).object(), json!({ "keys": 6 }), "keys, as ever");
    place.run("store create add --limit 32MiB --region .").ends(0);
    assert_eq!(place.run("store count ./add").ends(0).text(), "0\n");
}

#[test]
fn a_line_may_name_its_key() {
    let place = Place::with_store();
    let events: Vec<_> = (0..3000).map(|event| format!("day {}\tuser {}\n", event % 3, event / 2)).collect();
    let events = events.concat();
    assert_eq!(
        place.feed_line("store count add s --keyed --json", events.as_bytes()).ends(0).object(),
        json!({ "ids": 3000 })
    );
    let all = place.run("store count union s --prefix day --json").ends(0).object();
    let error = (all["estimate"].as_f64().unwrap() - 1500.0).abs();
    assert!(error < 4.0 * 0.023 * 1500.0 && all["representation"] == "FULL", "{all}");
    place.run("store table s fine --log2m 14 --regwidth 6 --expthresh 0").ends(0);
    place.feed_line("store count add s --keyed --table fine", events.as_bytes()).ends(0);
    let fine = place.words(&["store", "count", "union", "s", "--table", "fine", "day 0", "day 1", "day 2", "--json"]);
    assert!((fine.ends(0).object()["estimate"].as_f64().unwrap() - 1500.0).abs() < 40.0);
    place.run("store table s odd --log2m 3").ends(2);
}

#[test]
fn rows_go_out_and_come_back() {
    let place = Place::with_store();
    place.feed_line("store count add s --keyed", b"a\\b\tx\nc\ty\nc\tz\n").ends(0);
    place.run("store put s text value").ends(0);
    let rows = place.run("store count export s").ends(0).text().to_owned();
    assert_eq!(rows.lines().count(), 2, "{rows}");
    assert!(rows.lines().any(|row| row.starts_with("a\\\\b\t\\\\x128b7f")), "{rows}");
    place.run("store table s copy").ends(0);
    assert_eq!(
        place.feed_line("store count import s --table copy --json", rows.as_bytes()).ends(0).object(),
        json!({ "imported": 2 })
    );
    let mut copied: Vec<_> =
        place.run("store count export s --table copy").ends(0).text().lines().map(String::from).collect();
    let mut there: Vec<_> = rows.lines().map(String::from).collect();
    copied.sort();
    there.sort();
    assert_eq!(copied, there);
    let objects = place.run("store count export s --prefix c --json").ends(0).objects();
    assert_eq!((objects.len(), &objects[0]["estimate"], &objects[0]["key"]), (1, &json!(2.0), &json!("c")));
}

#[test]
fn what_is_no_id_and_no_row_is_refused_with_its_offset() {
    let place = Place::with_store();
    for (line, input, offset, code) in [
        ("store count add s k --type bigint --json", &b"1\n22\nx\n"[..], 5, 2),
        ("store count add s k --type integer --json", b"1\n3000000000\n", 2, 2),
        ("store count add s k --words --json", b"12345678123", 8, 2),
        ("store count add s --keyed --json", b"a\tb\nc\n", 4, 2),
        ("store count import s --json", b"k\t\\\\x118b7f\nk\t\\\\x198b7f\n", 12, 3),
        ("store count import s --json", b"k\t\\\\x118c7f\n", 0, 2),
    ] {
        let error = place.feed_line(line, input).ends(code).object()["error"].clone();
        assert_eq!(error["offset"], offset, "{line}: {error}");
    }
}
