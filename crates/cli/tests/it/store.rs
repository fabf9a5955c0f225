//! `hammerspace store`, beyond what its guide shows.

use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::ran::Place;

fn with_store() -> Place {
    let place = Place::new();
    place.run("store create s --limit 32MiB --region .").ends(0);
    place
}

#[test]
fn answers_in_json() {
    let place = with_store();
    let put = place.run("store put s k one --json").ends(0).object();
    assert_eq!((&put["done"], &put["replaced"]), (&json!(true), &json!(false)));
    let version = put["version"].as_u64().unwrap();
    let refused = place.run("store put s k two --if-absent --json").ends(1).object();
    assert_eq!(refused, json!({ "done": false, "there": { "kind": "bytes", "version": version, "expiry": null } }));
    place.run(&format!("store put s k two --if-version {version}")).ends(0);
    place.run(&format!("store put s k three --if-version {version}")).ends(1);
    let mut got = place.run("store get s k --json").ends(0).object();
    assert!(got["version"].as_u64() > Some(version), "what --if-version takes: {got}");
    got["version"] = Value::Null;
    let record = json!({ "found": true, "key": "k", "value": "two", "integer": false, "kind": "bytes", "version": null, "expiry": null });
    assert_eq!(got, record);
    let nothing = place.run("store get s 7 --integer --json").ends(1).object();
    assert_eq!(nothing, json!({ "found": false, "key": "7", "integer": true }));
    place.run("store put s late v --ttl 9000years").ends(0);
    let late = place.run("store put s late v --if-absent --json").ends(1).object();
    assert_eq!(late["there"]["expiry"], "9999-12-31T23:59:59.999Z");
    place.run("store put s -k v").ends(0);
    place.run("store delete s late -- -k").ends(0);
    assert_eq!(place.run("store incr s n -5 --json").ends(0).object(), json!({ "value": -5 }));
    assert_eq!(place.run("store append s l ab --json").ends(0).object(), json!({ "length": 2 }));
    assert_eq!(place.run("store delete s k l m --json").ends(1).object(), json!({ "deleted": 2, "missing": 1 }));
    place.run("store incr s 7 42 --integer").ends(0);
    let scanned = place.run("store scan s --json --limit 2").ends(0).objects();
    let number = scanned.iter().find(|record| record["key"] == "7").unwrap();
    assert_eq!((&number["integer"], &number["value"], &number["kind"]), (&json!(true), &json!("42"), &json!("add")));
    let keys = place.run("store scan s --json --keys-only --limit 1").ends(0).object();
    assert!(keys.get("value").is_none() && keys.get("key").is_some(), "{keys}");
    place.run("store delete s 7 --integer").ends(0);
    let info = place.run("store info s --json").ends(0).object();
    assert!(info["ready"].as_u64() > Some(0), "{info}");
    assert_eq!((&info["owned"], &info["keys"]), (&json!(false), &json!(1)), "the number, and not the list of tables");
    assert!(info["written"].as_u64() > Some(0), "{info}");
    assert_eq!(info["tables"], json!([{ "name": "default", "versions": true, "keys": 1 }]));
    assert_eq!(place.run("store verify s --json").ends(0).object()["sound"], json!(true));
    let top = place.run("store top s --once").ends(0);
    assert!(top.text().contains("utilisation") && top.text().trim_end().ends_with('.'), "{}", top.text());
    let top = place.run("store top s --once --json").ends(0).object();
    let segments = top["segments"].as_array().unwrap();
    assert_eq!(segments.iter().filter_map(Value::as_u64).sum::<u64>(), top["live"].as_u64().unwrap(), "{top}");
    assert!(
        segments.contains(&Value::Null) && top["segment_size"] == 256 << 10 && top["keys"] == info["keys"],
        "{top}"
    );
}

#[test]
fn what_is_made_and_removed_is_told_in_json() {
    let place = Place::new();
    let told = |line: &str| place.run(&format!("store {line} --json")).ends(0).object();
    let created = json!({ "store": "s", "limit": 32 << 20, "durability": "interval" });
    assert_eq!(told("create s --limit 32MiB --region ."), created);
    assert_eq!(told("table s words"), json!({ "created": "words" }));
    place.run("store put s a 1 --table words").ends(0);
    place.run("store put s 7 12 --integer --kind add --table words").ends(0);
    let mut listed = place.run("store scan s --table words --json").ends(0).objects();
    listed.sort_by_key(Value::to_string);
    let pairs: Vec<_> = listed.iter().map(|record| (&record["key"], &record["value"])).collect();
    assert_eq!(pairs, [(&json!("7"), &json!("12")), (&json!("a"), &json!("1"))]);
    assert_eq!(told("scan s --table words --limit 1 --keys-only").as_object().unwrap().len(), 2);
    assert_eq!(told("table s words --empty"), json!({ "emptied": "words" }));
    assert_eq!(told("table s words --drop"), json!({ "dropped": "words" }));
    assert_eq!(told("raise s 64MiB"), json!({ "limit": 64 << 20 }));
    assert_eq!(told("remove s"), json!({ "removed": "s" }));
    assert_eq!(place.path().read_dir().unwrap().count(), 1, "nothing is left but the command");
}

/// A store reserves more address space than it ever takes of memory.
#[test]
fn a_limit_on_address_space_is_named() {
    let place = with_store();
    let line = "ulimit -v 8000000; exec \"$0\" store get s key --json";
    let words = ["-c", line, env!("CARGO_BIN_EXE_hammerspace")];
    let error = &place.feed("/bin/sh".as_ref(), &words, b"").ends(4).object()["error"];
    assert!(error["kind"] == "Full" && error["remedy"].as_str().unwrap().contains("ulimit -v"), "{error}");
}

#[test]
fn info_says_how_full_the_memory_is() {
    let place = with_store();
    let info = || place.run("store info s --json").ends(0).object();
    let number = |info: &Value, name: &str| info[name].as_f64().unwrap_or_else(|| panic!("{name} of {info}"));
    assert_eq!(info()["bytes_per_key"], Value::Null, "there are none");
    let store = hammerspace::Store::open(place.path().join("s")).unwrap();
    let put = |key: u64, len: usize| assert!(store.default_table().put(key, &[7; 10_000][..len]).is_ok());
    (0..1000).for_each(|key| put(key, 10_000));
    // It lies in two parts, which are no keys.
    store.default_table().put(1, vec![7; 100_000]).unwrap();
    let full = info();
    assert_eq!(full["keys"], 1000);
    let live = number(&full, "live");
    assert!((10.1e6..10.3e6).contains(&live) && number(&full, "utilisation") > 0.95, "{full}");
    assert!((number(&full, "bytes_per_key") - number(&full, "in_use") / 1000.0).abs() < 1.0, "{full}");
    assert_eq!((number(&full, "moved"), number(&full, "cleaning_cost")), (0.0, 0.0), "{full}");
    // One in three stays: dead and live lie side by side.
    (0..1000).filter(|key| key % 3 > 0).for_each(|key| assert!(store.default_table().delete(key).unwrap()));
    let sparse = info();
    assert!((3.3e6..3.4e6).contains(&number(&sparse, "live")), "{sparse}");
    assert!((0.25..0.4).contains(&number(&sparse, "utilisation")), "{sparse}");
    // More than there is room for, at random, too short for holes: so cleaners have moved what stays.
    let mut rng = fastrand::Rng::with_seed(1);
    (0..150_000).for_each(|_| put(1000 + rng.u64(..30_000), rng.usize(100..400)));
    let cleaned = info();
    let cost = number(&cleaned, "moved") / number(&cleaned, "written");
    assert!(cost > 0.0 && (number(&cleaned, "cleaning_cost") - cost).abs() < 1e-9, "{cleaned}");
}

/// Its owner alone, unless it was made for the group.
#[test]
fn who_may_read_a_store_is_said_when_it_is_made() {
    for (option, mode) in [("", 0o600), ("--group", 0o640)] {
        let place = Place::new();
        let create = format!("umask 022; bin/hammerspace store create s --limit 32MiB --region . {option}");
        place.feed(Path::new("sh"), &["-c", &create], b"").ends(0);
        let entries = place.path().read_dir().unwrap().map(|entry| entry.unwrap().metadata().unwrap());
        let modes: Vec<_> = entries.filter(Metadata::is_file).map(|file| file.permissions().mode() & 0o777).collect();
        assert_eq!(modes, [mode], "{option}");
    }
}

#[test]
fn keys_are_text_or_bytes_or_integers() {
    let place = with_store();
    place.run("store put s 7 text").ends(0);
    place.run("store put s 7 integer --integer").ends(0);
    place.feed(&place.hammerspace, &["store", "put", "s", "--hex", "00ff"], b"\x00\n").ends(0);
    assert_eq!(place.run("store get s 7").ends(0).text(), "text");
    assert_eq!(place.run("store get s 7 --integer").ends(0).text(), "integer");
    assert_eq!(place.run("store get s 00ff --hex").ends(0).stdout, b"\x00\n");
    place.run("store get s seven --integer").ends(2);
    place.run("store put s n many --kind add").ends(2);
    place.run("store put s n 12 --kind max").ends(0);
    assert_eq!(place.run("store get s n").ends(0).text(), "12");
    let refused = place.run("store incr s n").ends(2);
    assert!(refused.stderr.contains("add cannot be merged into a value of kind max"), "{}", refused.stderr);
    let listed = place.run("store scan s --keys-only").ends(0).stdout;
    assert_eq!(listed.split(|byte| *byte == b'\n').count(), 4 + 1);
}

#[test]
fn while_somebody_owns_it_others_read() {
    let place = with_store();
    place.run("store put s k v").ends(0);
    let store = hammerspace::Store::open(place.path().join("s")).unwrap();
    assert_eq!(place.run("store get s k").ends(0).text(), "v");
    assert!(place.run("store info s").ends(0).text().contains(", owned"));
    for line in ["put s k w", "incr s n", "delete s k", "table s t", "verify s", "raise s 64MiB", "remove s"] {
        let refused = place.run(&format!("store {line} --json")).ends(4).object();
        assert_eq!(refused["error"]["kind"], "Busy", "{line}");
        assert!(refused["error"]["remedy"].is_string(), "{line}");
    }
    drop(store);
    place.run("store raise s 64MiB").ends(0);
    assert_eq!(place.run("store info s --json").ends(0).object()["limit"], 64 << 20);
    place.run("store remove s").ends(0);
    place.run("store get s k").ends(4);
}

/// A verb that goes on by itself, which ends with this at the latest.
struct Live(Child);

impl Live {
    fn start(place: &Place, program: &Path, words: &[&str]) -> Self {
        let child = Command::new(program)
            .args(words)
            .current_dir(place.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        Self(child.unwrap())
    }

    fn lines(&mut self) -> impl Iterator<Item = String> {
        BufReader::new(self.0.stdout.take().unwrap()).lines().map(Result::unwrap)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn top_looks_again_and_again_until_nobody_reads_it() {
    let place = with_store();
    let mut live = Live::start(&place, &place.hammerspace, &["store", "top", "s", "--json"]);
    let mut lines = live.lines().map(|line| serde_json::from_str::<Value>(&line).unwrap());
    assert_eq!(lines.next().unwrap()["keys"], 0);
    place.run("store put s k v").ends(0);
    let later = lines.find(|sight| sight["keys"] == 1).unwrap();
    assert_eq!(later["tables"], json!([{ "name": "default", "versions": true, "keys": 1 }]));
    drop(lines);
    let mut said = String::new();
    live.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((live.0.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}

/// On a terminal each sight takes the place of the one before; elsewhere it follows it.
#[test]
fn top_stays_where_it_is_on_a_terminal() {
    let place = with_store();
    let shown = |live: &mut Live| -> Vec<String> {
        let mut sights = 0;
        let is_before_third = |line: &String| {
            sights += u32::from(line.contains("without an owner"));
            sights < 3
        };
        live.lines().take_while(is_before_third).collect()
    };
    let piped = shown(&mut Live::start(&place, &place.hammerspace, &["store", "top", "s"]));
    assert!(!piped.iter().any(|line| line.contains('\x1b')), "{piped:?}");
    let top = format!("{} store top s", place.hammerspace.display());
    let on_terminal = shown(&mut Live::start(&place, Path::new("script"), &["-qfec", &top, "/dev/null"]));
    // As many lines up as the sight has that is replaced.
    let up = format!("\x1b[{}A", piped.len() / 2);
    assert!(piped.len() % 2 == 0 && on_terminal.iter().any(|line| line.contains(&up)), "{on_terminal:?}");
}

#[test]
fn a_store_stands_the_death_of_its_owners_and_readers() {
    let place = Place::new();
    let told = place.run("store stress --time 3s --limit 16MiB --region . --json").ends(0).object();
    assert!(told["owners_killed"].as_u64() > Some(0) && told["readers_killed"].as_u64() > Some(0), "{told}");
    assert!(told["records"].as_u64() > Some(100), "{told}");
}

/// A harness that cannot see this cannot see anything.
#[test]
#[should_panic(expected = "does not know of the table of the record")]
fn canary_damage_is_noticed_when_its_test_is_done() {
    let place = with_store();
    let mut entries = place.path().read_dir().unwrap().map(|entry| entry.unwrap().path());
    let region = entries.find(|path| path.is_file()).unwrap();
    let region = File::options().read(true).write(true).open(region).unwrap();
    let mut segments_max = [0; 8];
    region.read_exact_at(&mut segments_max, 48).unwrap();
    // Behind the superblock and the segments' entries: how each segment is used, and in that which tables have records there.
    let usage = (4096 + u64::from_le_bytes(segments_max) * 16).next_multiple_of(128);
    (0..16).for_each(|segment| region.write_all_at(&[0; 8], usage + segment * 128 + 32).unwrap());
}

/// A reader that does not see this sees nothing.
#[test]
fn canary_readers_notice_a_value_that_nobody_wrote() {
    let place = with_store();
    place.run("store table s plain --no-versions").ends(0);
    place.run("store put s 3 other --integer").ends(0);
    // Which says that nothing was done to any key.
    place.write("board", vec![0; 1 << 20]);
    let mut reader = Command::new(&place.hammerspace)
        .args(["store", "stress", "s", "--role", "reader", "--seed", "1", "--board", "."])
        .current_dir(place.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // While this is open, it goes on.
    let held = reader.stdin.take();
    let told = reader.wait_with_output().unwrap();
    drop(held);
    let said = String::from_utf8(told.stderr).unwrap();
    assert_eq!(told.status.code(), Some(3), "{said}");
    assert!(said.contains("key 3 of table default has these 5 bytes after none of its changes 0 to 0"), "{said}");
}

#[test]
fn list_shows_whose_regions_are_and_remove_takes_a_stranded_one() {
    let place = with_store();
    let listed = || place.run("store list --region . --json").ends(0).object();
    let store = hammerspace::Store::open(place.path().join("s")).unwrap();
    let owned = listed();
    assert_eq!((&owned["state"], &owned["owner"]), (&json!("owned"), &json!(std::process::id())), "{owned}");
    let busy = place.run("store delete s k --json").ends(4).object();
    let said = busy["error"]["message"].as_str().unwrap();
    assert_eq!(said, format!("process {} owns the store", std::process::id()));
    drop(store);
    assert_eq!(listed()["state"], "idle");
    std::fs::remove_dir_all(place.path().join("s")).unwrap();
    let stranded = listed();
    assert!(stranded["state"] == "stranded" && stranded["memory"].as_u64() > Some(1 << 20), "{stranded}");
    place.words(&["store", "remove", stranded["region"].as_str().unwrap()]).ends(0);
    place.run("store list --region .").ends(1);
}

#[test]
fn a_time_to_live_is_in_seconds_or_has_units() {
    let place = with_store();
    let ttl = |key: &str| place.run(&format!("store ttl s {key} --json")).ends(0).object()["ttl"].as_u64();
    place.run("store put s a v --ttl 500").ends(0);
    assert!((495..=500).contains(&ttl("a").unwrap()));
    place.run("store expire s a 2h").ends(0);
    assert!((7195..=7200).contains(&ttl("a").unwrap()));
    place.run("store persist s a").ends(0);
    assert_eq!((ttl("a"), place.run("store ttl s a").ends(0).text()), (None, ""));
    place.run("store incr s n --ttl 300").ends(0);
    place.run("store append s l text --ttl 300").ends(0);
    assert!(["n", "l"].iter().all(|key| (295..=300).contains(&ttl(key).unwrap())));
    place.run("store expire s a 0").ends(0);
    for verb in ["get s a", "ttl s a", "expire s a 5", "persist s a", "exists s n a"] {
        place.run(&format!("store {verb}")).ends(1);
    }
    let refused = place.run("store put s a v --ttl soon").ends(2);
    assert!(refused.stderr.contains("seconds"), "{}", refused.stderr);
    place.run(&format!("store expire s n {}", u64::MAX)).ends(2);
}

#[test]
fn the_lesser_and_the_greater_number_stay() {
    let place = with_store();
    for (verb, number, kept) in
        [("min", 5, 5), ("min", -7, -7), ("min", 6, -7), ("max", 5, 5), ("max", 9, 9), ("max", -1, 9)]
    {
        let told = place.run(&format!("store {verb} s {verb} {number} --json")).ends(0).object();
        assert_eq!(told, json!({ "value": kept }), "{verb} {number}");
    }
    place.run("store max s min 1").ends(2);
}

#[test]
fn keys_are_found_and_counted_by_how_they_begin() {
    let place = with_store();
    place.run("store table s other").ends(0);
    for key in ["user:1", "user:2", "use", "-u"] {
        place.words(&["store", "put", "s", key, "v"]).ends(0);
    }
    place.run("store put s 7 v --integer").ends(0);
    place.run("store put s user:3 v --table other").ends(0);
    let count = |options: &str| place.run(&format!("store count s {options}")).ends(0).text().trim().to_owned();
    let counts =
        ["", "--prefix user:", "--prefix 7", "--prefix=-", "--table other", "--prefix=x --table other"].map(count);
    assert_eq!(counts, ["5", "2", "0", "1", "1", "0"]);
    let mut scanned = place.run("store scan s --prefix user: --json --keys-only").ends(0).objects();
    scanned.sort_by_key(Value::to_string);
    assert_eq!(scanned.iter().map(|record| &record["key"]).collect::<Vec<_>>(), ["user:1", "user:2"]);
    assert_eq!(place.run("store scan s --prefix user: --limit 1").ends(0).text().lines().count(), 1);
    let info = place.run("store info s --json").ends(0).object();
    let keys: Vec<_> =
        info["tables"].as_array().unwrap().iter().map(|table| (&table["name"], &table["keys"])).collect();
    assert_eq!(keys, [(&json!("default"), &json!(5)), (&json!("other"), &json!(1))]);
    let there = place.run("store exists s use no user:1 --json").ends(1).object();
    assert_eq!(there, json!({ "there": 2, "missing": 1 }));
}

#[test]
fn what_scan_wrote_is_put_back_as_it_was() {
    let place = with_store();
    place.run("store put s 7 12 --integer --kind max --ttl 2h").ends(0);
    place.words(&["store", "put", "s", "text", "tab\tand \"quotes\""]).ends(0);
    place.feed(env!("CARGO_BIN_EXE_hammerspace").as_ref(), &["store", "put", "s", "bytes"], b"\xff\0").ends(0);
    let scanned = |store: &str| {
        let mut records = place.run(&format!("store scan {store} --json")).ends(0).objects();
        for record in &mut records {
            record["version"] = Value::Null;
        }
        records.sort_by_key(Value::to_string);
        records
    };
    place.write("s.ndjson", place.run("store scan s --json").ends(0).text());
    place.run("store create copy --limit 32MiB --region .").ends(0);
    assert_eq!(place.run("store put copy --from s.ndjson --json").ends(0).object(), json!({ "put": 3, "refused": 0 }));
    assert_eq!(scanned("copy"), scanned("s"));
    let again = place.run("store put copy --from s.ndjson --if-absent --json").ends(1).object();
    assert_eq!(again, json!({ "put": 0, "refused": 3 }));
}

#[test]
fn a_file_of_records_is_put_or_refused_with_its_line() {
    let place = with_store();
    place.write("good.tsv", "1\tone\n2\ttwo\n");
    place.run("store put s --from good.tsv --integer").ends(0);
    assert_eq!(place.run("store get s 2 --integer").ends(0).text(), "two");
    for (name, text, says, before) in [
        ("wide.tsv", "a\tb\nc\td\te\n", "a key, a tab", 1),
        ("narrow.tsv", "a\tb\nc\n", "a key, a tab", 1),
        ("no.ndjson", "{\"key\":\"a\",\"value\":1}\n{\"key\":\"b\"}\n", "line 2", 1),
        ("more.ndjson", "{\"key\":\"a\",\"value\":1,\"ttl\":5}\n", "ttl", 0),
        ("nested.ndjson", "{\"key\":\"a\",\"value\":{}}\n", "neither", 0),
        ("kind.ndjson", "{\"key\":\"a\",\"value\":\"x\",\"kind\":\"add\"}\n", "no number", 0),
        ("key.ndjson", "{\"key\":\"a\",\"value\":\"x\",\"integer\":true}\n", "no integer", 0),
    ] {
        place.write(name, text);
        let refused = place.run(&format!("store put s --from {name}"));
        assert!(refused.code > 1 && refused.stderr.contains(name), "{name}: {}", refused.stderr);
        assert!(refused.stderr.contains(says), "{name}: {}", refused.stderr);
        assert_eq!(refused.stderr.contains("put before it: 1"), before > 0, "{name}: {}", refused.stderr);
    }
    place.write("records", "a\tb\n");
    let refused = place.run("store put s --from records").ends(2);
    assert!(refused.stderr.contains("--format"), "{}", refused.stderr);
    place.run("store put s --from records --format tsv").ends(0);
    for line in ["store put s", "store put s key value --from records", "store put s key --format tsv"] {
        place.run(line).ends(2);
    }
}

#[test]
fn a_number_that_is_refused_says_why() {
    let place = with_store();
    for (line, why) in [
        ("store create t --limit 1KiB", "too low"),
        ("store raise s 2TiB", "too high"),
        ("load s x.tsv --threads 0", "at least one thread"),
        ("load s x.tsv --threads many", "whole number"),
    ] {
        let refused = place.run(line).ends(2);
        assert!(refused.stderr.contains(why), "{line}: {}", refused.stderr);
    }
}

#[test]
fn the_help_of_every_verb_has_an_example() {
    let place = Place::new();
    let help = place.run("store --help").ends(0);
    let verbs = help.text().lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let verbs = verbs.map(|line| line.split_whitespace().next().unwrap());
    let without = verbs.filter(|verb| *verb != "help").filter(|verb| {
        !place.run(&format!("store {verb} --help")).ends(0).text().contains(&format!("hammerspace store {verb} "))
    });
    assert_eq!(without.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn what_is_put_outlives_a_restart_of_the_machine() {
    let place = Place::new();
    place.run("store create s --limit 32MiB --region .").ends(0);
    place.run("store put s a 1").ends(0);
    let restart = || {
        let is_region = |name: &str| name.starts_with("hammerspace-");
        let entries = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap());
        entries.filter(|entry| is_region(&entry.file_name().to_string_lossy())).for_each(|region| {
            std::fs::remove_file(region.path()).unwrap();
        });
    };
    restart();
    assert!(place.run("store get s a").ends(4).stderr.contains("hammerspace store sync"));
    place.run("store create s --limit 32MiB --region .").ends(2);
    place.run("store sync s").ends(0);
    assert_eq!(place.run("store get s a").ends(0).text(), "1");
    assert_eq!(place.run("store durability s commit --json").ends(0).object(), json!({ "durability": "commit" }));
    restart();
    place.run("store put s b 2").ends(0);
    assert_eq!(place.run("store get s a").ends(0).text(), "1");
    restart();
    let mut manifest = place.read("s/manifest");
    manifest[20] ^= 1;
    place.write("s/manifest", manifest);
    assert!(place.run("store sync s").ends(3).stderr.contains("store repair"));
    let repaired = place.run("store repair s --limit 32MiB --json").object();
    assert_eq!((&repaired["keys"], repaired["lost"].as_array().unwrap().len()), (&json!(2), 1));
    place.run("store durability s none").ends(0);
    restart();
    place.run("store create s --limit 32MiB --region .").ends(0);
}
