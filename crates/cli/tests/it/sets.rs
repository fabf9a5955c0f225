//! `hammerspace store set`, beyond what its guide shows.

use std::collections::BTreeSet;

use fastrand::Rng;
use serde_json::json;

use crate::ran::Place;

#[test]
fn ids_come_and_go() {
    let place = Place::with_store();
    assert_eq!(place.feed_line("store set add s saw", b"ada\ngrace\nmary\nada\n").ends(0).text(), "3\n");
    assert_eq!(
        place.feed_line("store set add s bought --json", b"mary\nbarbara").ends(0).object(),
        json!({ "count": 2 })
    );
    assert_eq!(place.words(&["store", "set", "count", "s", "saw & bought"]).ends(0).text(), "1\n");
    assert_eq!(place.words(&["store", "set", "list", "s", "saw - bought"]).ends(0).text(), "ada\ngrace\n");
    assert_eq!(place.run("store set list s").ends(0).text(), "bought\t2\nsaw\t3\n");
    assert_eq!(place.run("store set holds s mary --json").ends(0).object(), json!({ "sets": ["bought", "saw"] }));
    assert_eq!(place.run("store set holds s edith").ends(1).text(), "");
    assert_eq!(place.feed_line("store set remove s saw", b"ada\nedith\n").ends(0).text(), "2\n");
    let words = [7_u64, 1 << 63].map(u64::to_le_bytes).concat();
    assert_eq!(place.feed_line("store set add s numbers --words --universe n", &words).ends(0).text(), "2\n");
    assert_eq!(place.feed_line("store set add s numbers --integer --universe n", b"7\n8\n").ends(0).text(), "3\n");
    assert_eq!(place.run("store set list s numbers").ends(0).text(), "7\n9223372036854775808\n8\n");
    let error = place.words(&["store", "set", "count", "s", "saw | numbers", "--json"]).ends(2).object();
    assert!(error["error"]["message"].as_str().unwrap().contains("universe"), "{error}");
    place.run("store set export s saw --output saw.roaring").ends(0);
    assert_eq!(place.run("store set import s again --from saw.roaring").ends(0).text(), "2\n");
    assert_eq!(place.words(&["store", "set", "count", "s", "saw ^ again"]).ends(0).text(), "0\n");
    place.run("store set import s again --from saw.roaring --universe n").ends(2);
    place.write("bad", b"not Roaring");
    place.run("store set import s again --from bad").ends(3);
    place.run("store set remove s again --all").ends(0);
    place.run("store set count s again").ends(4);
    place.run("store set count s").ends(2);
    place.words(&["store", "set", "count", "s", "saw &"]).ends(2);
    assert_eq!(place.run("store verify s --json").ends(0).object()["sound"], json!(true));
}

/// In so little memory that there are hundreds of runs.
#[test]
fn files_larger_than_memory_are_counted() {
    let place = Place::new();
    let mut rng = Rng::with_seed(4);
    let mut sets = Vec::new();
    for name in ["a", "b", "c"] {
        let ids: Vec<_> = (0..6000).map(|_| format!("user {}", rng.u32(..9000))).collect();
        place.write(name, ids.join("\n"));
        sets.push(ids.into_iter().collect::<BTreeSet<_>>());
    }
    let (a, b, c) = (&sets[0], &sets[1], &sets[2]);
    for (expression, expected) in [("a", a.clone()), ("a & b - c", a & &(b - c)), ("(a | b) ^ c", &(a | b) ^ c)] {
        for memory in ["4KiB", "64MiB"] {
            let line = ["store", "set", "count", "--files", expression, "a=a", "b=b", "c=c", "--memory", memory];
            assert_eq!(place.words(&line).ends(0).text(), format!("{}\n", expected.len()), "{expression}, {memory}");
        }
    }
    for line in ["a & d a=a", "a a", "a a=missing"] {
        let (expression, named) = line.rsplit_once(' ').unwrap();
        assert_ne!(place.words(&["store", "set", "count", "--files", expression, named]).code, 0, "{line}");
    }
}
