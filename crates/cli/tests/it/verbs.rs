//! What the manual's sessions leave out.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::ran::Place;

#[test]
fn keys_and_values_are_bytes() {
    let place = Place::new();
    place.feed(&place.hammerspace, &["set", "s", "--hex", "00ff"], b"\x00\n\xfe").ends(0);
    assert_eq!(place.run("get s 00ff --hex").ends(0).stdout, b"\x00\n\xfe");
    assert_eq!(place.run("scan s").ends(0).stdout, b"\x00\xff\t\x00\n\xfe\n");
    place.run("get s 00ff").ends(1);
    place.words(&["set", "s", "", ""]).ends(0);
    assert_eq!(place.words(&["get", "s", ""]).ends(0).stdout, b"");
    place.words(&["set", "s", "-x", "-1"]).ends(0);
    assert_eq!(place.run("get s -x").ends(0).text(), "-1");
    place.words(&["set", "s", "--", "--json", "2"]).ends(0);
    assert_eq!(place.run("get s -- --json").ends(0).text(), "2");
}

#[test]
fn a_scan_filters_and_stops() {
    let place = Place::new();
    place.write("a.tsv", "a1\tx\nb1\tx\na2\ty\na3\tz\n");
    place.run("load s a.tsv").ends(0);
    assert_eq!(place.run("scan s --prefix a --limit 2").ends(0).text(), "a1\tx\na2\ty\n");
    assert_eq!(place.run("scan s --prefix 6233 --hex").ends(1).text(), "");
    assert_eq!(place.run("scan s --prefix 6231 --hex --keys-only").ends(0).text(), "b1\n");
    place.run("scan s --limit 0").ends(1);
}

#[test]
fn whatever_the_paging_the_data_is_the_same() {
    let place = Place::new();
    place.write("a.tsv", "a\tx\n");
    place.run("load s a.tsv").ends(0);
    for way in ["on-demand", "random", "prefetch", "populate", "huge-pages"] {
        assert_eq!(place.run(&format!("scan s --paging {way}")).ends(0).text(), "a\tx\n");
    }
    place.run("verify s --paging prefetch").ends(0);
    place.run("export s --paging random").ends(0);
    place.run("scan s --paging lazily").ends(2);
    let warm = place.run("warm s --json").ends(0).object();
    assert_eq!((&warm["version"], &warm["locked"]), (&1.into(), &false.into()));
    place.run("warm nowhere").ends(4);
}

#[test]
fn an_empty_space_is_empty_and_not_an_error() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("s")).unwrap();
    place.run("get s a").ends(1);
    place.run("scan s").ends(1);
    place.run("versions s").ends(1);
    place.run("delete s a").ends(1);
    place.run("rollback s").ends(1);
    assert_eq!(place.run("export s --format json").ends(0).text(), "{}\n");
    assert_eq!(place.run("verify s").ends(0).text(), "sound: 0 entries\n");
    assert!(place.run("info s --json").ends(0).object()["current"].is_null());
    assert_eq!(place.run("info s").ends(0).text(), "space     s\nversions  0 on disk\nentries   0\n");
}

#[test]
fn a_damaged_version_can_be_listed_gone_back_from_and_replaced() {
    let place = Place::new();
    place.run("set s a 1 --keep 2").ends(0);
    place.run("set s a 2 --keep 2").ends(0);
    place.write("s/current/hammerspace.spi", "");
    place.run("get s a").ends(3);
    assert!(place.run("versions s").ends(0).text().contains("? entries"));
    place.run("rollback s").ends(0);
    assert_eq!(place.run("get s a").ends(0).text(), "1");

    place.write("s/current/hammerspace.spl", "");
    place.write("a.tsv", "a\t3\n");
    place.run("load s a.tsv").ends(3);
    place.run("load s a.tsv --replace").ends(0);
    assert_eq!(place.run("get s a").ends(0).text(), "3");
}

#[test]
fn info_counts_the_processes_that_share() {
    let place = Place::new();
    place.feed(&place.hammerspace, &["set", "s", "a"], &vec![b'x'; 1 << 20]).ends(0);
    // Two that have the space open: they wait for somebody to read what they print, which is more than a pipe holds.
    let mut readers = [(); 2].map(|()| {
        let mut get = Command::new(&place.hammerspace);
        let get = get.args(["get", "s", "a"]).current_dir(place.path()).stdout(Stdio::piped());
        let mut reader = get.spawn().unwrap();
        reader.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        reader
    });
    let info = place.run("info s --json").ends(0).object();
    let current = &info["current"];
    assert_eq!(current["processes"], 2);
    let bytes = current["log_bytes"].as_u64().unwrap() + current["index_bytes"].as_u64().unwrap();
    assert_eq!(current["saved_bytes"], bytes);
    for reader in &mut readers {
        reader.kill().unwrap();
        reader.wait().unwrap();
    }
    assert_eq!(place.run("info s --json").object()["current"]["processes"], 0);
}

#[test]
fn completions_and_man_pages_know_every_verb() {
    let place = Place::new();
    let verbs = ["load", "get", "set", "delete", "scan", "info", "verify", "versions", "rollback", "export", "sparkey"];
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = place.run(&format!("completions {shell}")).ends(0);
        for verb in verbs {
            assert!(script.text().contains(verb), "{shell}: {verb}");
        }
    }
    let pages = place.run("man pages").ends(0);
    for page in verbs.iter().map(|verb| format!("hammerspace-{verb}.1")).chain(["hammerspace-sparkey-rewrite.1".into()])
    {
        assert!(pages.text().lines().any(|line| line == page), "{page}");
        assert!(place.read(&format!("pages/{page}")).starts_with(b".ie"), "{page}");
    }
}

#[test]
fn compression_and_kept_versions_are_as_asked() {
    let place = Place::new();
    place.write("a.tsv", "a\t1\n");
    for compression in ["snappy", "zstd", "none"] {
        place.run(&format!("load s a.tsv --keep 2 --compression {compression}")).ends(0);
        let info = place.run("info s --json").object();
        assert_eq!(info["current"]["compression"], compression);
        assert_eq!(place.run("get s a").text(), "1");
    }
    assert_eq!(place.run("versions s").ends(0).text().lines().count(), 2);
    place.run("set s b 2").ends(0);
    assert_eq!(place.run("versions s").ends(0).text().lines().count(), 1);
}

#[test]
fn two_cannot_append_to_one_log() {
    let place = Place::new();
    place.sparkey("createlog a.spl").ends(0);
    let holder = std::fs::File::open(place.path().join("a.spl")).unwrap();
    holder.lock().unwrap();
    let ran = place.feed(&place.sparkey, &["appendlog", "a.spl", "--json"], b"k\tv\n").ends(1);
    assert_eq!(ran.object()["error"]["kind"], "Busy");
    // Another test may have forked a program meanwhile, which has a copy of the lock until it is executed: closing is not enough.
    holder.unlock().unwrap();
    place.feed(&place.sparkey, &["appendlog", "a.spl"], b"k\tv\n").ends(0);
}

#[test]
fn a_rewrite_trims_what_is_dead() {
    let place = Place::new();
    place.sparkey("createlog -c zstd -b 64 a.spl").ends(0);
    place.feed(&place.sparkey, &["appendlog", "a.spl"], b"a\told\nb\tgone\na\tnew\nc\tlast\n").ends(0);
    place.sparkey("delete a.spl b b").ends(0);
    let ran = place.sparkey("rewrite a.spi b.spi --json").ends(0).object();
    assert_eq!((&ran["entries"], &ran["dropped_puts"], &ran["dropped_deletes"]), (&2.into(), &2.into(), &1.into()));
    assert_eq!(place.sparkey("dump b.spl").ends(0).text(), "put\ta\tnew\nput\tc\tlast\n");
    let info = place.sparkey("info b.spl --json").ends(0).object();
    assert_eq!((&info["files"][0]["compression"], &info["files"][0]["block_size"]), (&"zstd".into(), &64.into()));
    place.sparkey("get b.spi b").ends(2);
    // What the new pair says is what the old one said, and appendlog reads a dump back.
    assert_eq!(place.sparkey("dump b.spi").text(), place.sparkey("dump a.spi").text());
    let dumped = place.sparkey("dump b.spi -d :").ends(0);
    assert_eq!(dumped.text(), "a:new\nc:last\n");
    place.sparkey("createlog c.spl").ends(0);
    place.feed(&place.sparkey, &["appendlog", "-d", ":", "c.spl"], &dumped.stdout).ends(0);
    place.sparkey("writehash c.spl").ends(0);
    assert_eq!(place.sparkey("dump c.spi -d :").text(), dumped.text());
}

#[test]
fn a_delete_from_a_pair_says_what_was_not_there() {
    let place = Place::new();
    place.sparkey("createlog a.spl").ends(0);
    place.feed(&place.sparkey, &["appendlog", "a.spl"], b"a\t1\nb\t2\n").ends(0);
    // There is no index yet; the verb makes it.
    let ran = place.sparkey("delete a.spi a nothing --json").ends(2).object();
    assert_eq!((&ran["deleted"], &ran["missing"]), (&1.into(), &1.into()));
    assert_eq!(place.sparkey("dump a.spi").ends(0).text(), "b\t2\n");
    place.sparkey("delete a.spi a").ends(2);
    place.sparkey("delete a.spi --hex 62").ends(0);
    place.sparkey("get a.spi b").ends(2);
}

#[test]
fn a_directory_that_is_no_space_is_an_error_of_every_verb_that_reads() {
    let place = Place::new();
    place.write("etc/passwd", "root");
    place.run("store create st --limit 8MiB").ends(0);
    for verb in ["verify", "info", "scan", "versions", "export", "warm", "rollback", "clear", "gc", "diff"] {
        for wrong in ["etc", "st"] {
            let error = place.run(&format!("{verb} {wrong} --json")).ends(2).object()["error"].clone();
            assert_eq!((&error["kind"], &error["file"]), (&"Invalid".into(), &wrong.into()), "{verb}");
        }
    }
    place.run("get etc a").ends(2);
    place.run("delete etc a").ends(2);
    place.run("set st a 1").ends(2);
    place.run("load st etc/passwd --format tsv --replace").ends(2);
    place.run("set s a 1").ends(0);
    assert!(place.run("store create s --limit 8MiB").ends(2).stderr.contains("this directory holds a space"));
    place.run("store remove st").ends(0);
}

#[test]
fn a_clear_leaves_nothing_to_go_back_to() {
    let place = Place::new();
    place.run("set s a 1 --keep 3").ends(0);
    place.run("set s a 2 --keep 3").ends(0);
    assert_eq!(place.run("clear s --json").ends(0).object()["dropped"], 2);
    place.run("scan s").ends(1);
    place.run("rollback s").ends(1);
    assert_eq!(place.run("clear s").ends(0).text(), "dropped 0 versions\n");
}

#[test]
fn a_gc_keeps_all_versions_but_those_beyond_keep() {
    let place = Place::new();
    for value in 1..=4 {
        place.run(&format!("set s a {value} --keep 9")).ends(0);
    }
    assert_eq!(place.run("gc s").ends(0).text(), "removed 0, freed 0 B\n");
    assert_eq!(place.run("gc s --keep 2 --json").ends(0).object()["removed"], 2);
    assert_eq!(place.run("versions s").text().lines().count(), 2);
    place.run("gc s --keep 0").ends(2);
}

#[test]
fn a_diff_tells_added_changed_and_removed_keys() {
    let place = Place::new();
    place.write("old.tsv", "a\t1\nb\t2\nc\t3\n");
    place.write("new.tsv", "d\t4\nb\t5\nc\t3\n");
    place.run("load s old.tsv --keep 5").ends(0);
    place.run("diff s").ends(4);
    place.run("load s new.tsv --replace --keep 5").ends(0);
    place.run("load t old.tsv").ends(0);
    let told = "+\td\t4\n-\tb\t2\n+\tb\t5\n-\ta\t1\n";
    assert_eq!(place.run("diff s").ends(1).text(), told);
    assert_eq!(place.run("diff t s").ends(1).text(), told);
    assert_eq!(place.run("diff s --keys-only").text(), "+\td\n~\tb\n-\ta\n");
    assert_eq!(place.run("diff s t --from 1").ends(0).text(), "");
    assert_eq!(place.run("diff s --from 2 --to 1").text(), "+\ta\t1\n-\tb\t5\n+\tb\t2\n-\td\t4\n");
    place.run("diff s --from 7").ends(4);
    let objects = place.run("diff s --json").objects();
    assert_eq!(objects[0], serde_json::json!({ "change": "added", "key": "d", "new": "4" }));
    assert_eq!(objects[1], serde_json::json!({ "change": "changed", "key": "b", "old": "2", "new": "5" }));
    assert_eq!(objects[2], serde_json::json!({ "change": "removed", "key": "a", "old": "1" }));
}
