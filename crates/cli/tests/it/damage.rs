//! Damaged files: said exactly, and with the exit code that says so.

use crate::ran::Place;

/// A space `s` of three entries, and where its files are.
fn place() -> (Place, String, String) {
    let place = Place::new();
    place.write("a.tsv", "a\t1\nb\t2\nc\t3\n");
    place.run("load s a.tsv").ends(0);
    let current = std::fs::read_link(place.path().join("s/current")).unwrap();
    let file = |name: &str| format!("s/{}/hammerspace.{name}", current.display());
    let files = (file("spl"), file("spi"));
    (place, files.0, files.1)
}

fn spoil(place: &Place, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = place.read(name);
    change(&mut bytes);
    place.write(name, bytes);
}

#[test]
fn verify_names_file_offset_and_remedy() {
    let (place, log, index) = place();
    // The first byte of the first entry says how long its key is.
    spoil(&place, &log, |bytes| bytes[84] = 99);
    let ran = place.run("verify s").ends(3);
    assert!(ran.text().contains("hammerspace.spl: ") && ran.text().contains("(at offset 84)"), "{}", ran.text());
    assert!(ran.text().lines().last().unwrap().starts_with("not sound: "), "{}", ran.text());

    spoil(&place, &log, |bytes| bytes[84] = 2);
    spoil(&place, &index, |bytes| bytes[112 + 4] ^= 0x80);
    let verdict = place.run("verify s --json").ends(3).object();
    assert_eq!(verdict["sound"], false);
    let finding = &verdict["findings"][0];
    assert_eq!(finding["kind"], "Corrupt");
    assert!(finding["file"].as_str().unwrap().ends_with("hammerspace.spi"), "{finding}");
    assert!(finding["offset"].is_u64() && finding["remedy"].is_string(), "{finding}");
}

#[test]
fn what_cannot_be_opened_is_a_finding_too() {
    let (place, log, index) = place();
    spoil(&place, &index, |bytes| bytes[0] ^= 1);
    let verdict = place.run("verify s --json").ends(3).object();
    assert_eq!((&verdict["sound"], &verdict["count"]), (&false.into(), &1.into()));
    place.run("get s a").ends(3);

    // An index that cannot be opened does not hide what is wrong with the log.
    spoil(&place, &log, |bytes| bytes[84] = 99);
    let (of_log, of_both) =
        (place.sparkey(&format!("verify {log} --json")), place.sparkey(&format!("verify {index} --json")));
    let count = |object: serde_json::Value| object["count"].as_u64().unwrap();
    assert_eq!(count(of_both.ends(1).object()), count(of_log.ends(1).object()) + 1);
}

#[test]
fn a_newer_format_is_unsupported() {
    let (place, log, _) = place();
    spoil(&place, &log, |bytes| bytes[4] = 2);
    let ran = place.run("get s a --json").ends(3).object();
    assert_eq!(ran["error"]["kind"], "Unsupported");
}

#[test]
fn the_remedy_for_a_broken_index_works() {
    let (place, log, index) = place();
    spoil(&place, &index, |bytes| bytes[112..].fill(0xaa));
    let ran = place.run("verify s").ends(3);
    assert!(ran.text().contains("writehash"), "{}", ran.text());
    place.sparkey(&format!("writehash {log}")).ends(0);
    place.run("verify s").ends(0);
    assert_eq!(place.run("get s b").ends(0).text(), "2");
}

#[test]
fn sound_golden_pairs_verify_and_load_and_broken_ones_do_neither() {
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/sparkey");
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(golden.join("manifest.json")).unwrap()).unwrap();
    let place = Place::new();
    let (mut sound, mut broken) = (0, 0);
    for pair in manifest["pairs"].as_array().unwrap().iter().chain(manifest["reject"].as_array().unwrap()) {
        let index = golden.join(pair["spi"].as_str().unwrap()).display().to_string();
        let [verified, loaded] =
            [&["sparkey", "verify", &index, "--json"][..], &["load", "s", &index, "--no-sync", "--json"]]
                .map(|words| place.words(words));
        match pair.get("must_reject").map(|must| must == true) {
            None => {
                assert_eq!((verified.code, loaded.code), (0, 0), "{index}: {} {}", verified.text(), loaded.text());
                sound += 1;
            }
            Some(true) => {
                assert_eq!((verified.code, loaded.code), (1, 3), "{index}: {} {}", verified.text(), loaded.text());
                assert!(!verified.object()["findings"].as_array().unwrap().is_empty(), "{index}");
                broken += 1;
            }
            Some(false) => {}
        }
    }
    assert!(sound > 40 && broken > 25, "{sound} sound, {broken} broken");
}
