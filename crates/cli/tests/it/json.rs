//! With `--json`, one object on standard output whatever happens; without it, words where words belong.

use crate::ran::Place;

/// A space `s` with two versions, a pair `p` and a store `t`, and what calls there end with.
const CALLS: [(&str, i32); 45] = [
    ("load s more.tsv", 0),
    ("load s missing.tsv", 4),
    ("load s more.tsv --format mo", 3),
    ("load s more.bin", 2),
    ("load s more.tsv --prefix {locale}", 2),
    ("load s more.tsv --keep 0", 2),
    ("get s a", 0),
    ("get s z", 1),
    ("get nowhere a", 4),
    ("get s", 2),
    ("get s --hex xy", 2),
    ("set s c 3 --keep 2", 0),
    ("delete s c --keep 2", 0),
    ("delete s c", 1),
    ("info s", 0),
    ("verify s", 0),
    ("versions s", 0),
    ("rollback s", 0),
    ("rollback s 77", 1),
    ("export s --output s.json --format json", 0),
    ("export s --format sparkey", 2),
    ("completions zsh", 0),
    ("completions tcsh", 2),
    ("man pages", 0),
    ("sparkey createlog q.spl", 0),
    ("sparkey writehash q.spl", 0),
    ("sparkey info q.spl q.spi", 0),
    ("sparkey info q.spl more.tsv", 1),
    ("sparkey get q.spi a", 2),
    ("sparkey get q.spl a", 1),
    ("sparkey get", 1),
    ("sparkey verify q.spi", 0),
    ("store create u --limit 32MiB --region .", 0),
    ("store create u --limit 32MiB --region .", 2),
    ("store scan t", 0),
    ("store scan t --table x", 4),
    ("store table t x", 0),
    ("store table t x", 2),
    ("store table t x --drop", 0),
    ("store raise t 64MiB", 0),
    ("store info t", 0),
    ("store verify t", 0),
    ("store remove u", 0),
    ("store remove u", 4),
    ("no-such-verb", 2),
];

fn place() -> Place {
    let place = Place::new();
    place.write("more.tsv", "a\t1\nb\t2\n");
    place.write("more.bin", "");
    place.run("load s more.tsv --keep 2").ends(0);
    place.run("set s a 2 --keep 2").ends(0);
    place.run("store create t --limit 32MiB --region .").ends(0);
    place.run("store put t k v").ends(0);
    place
}

#[test]
fn with_json_every_call_ends_in_one_object() {
    let place = place();
    for (line, code) in CALLS {
        let object = place.run(&format!("{line} --json")).ends(code).object();
        let failed = object.get("error").is_some_and(|error| error["kind"].is_string() && error["message"].is_string());
        let not_found = object.get("found").is_some() || object.get("missing").is_some();
        let told = object.get("files").is_some();
        assert_eq!(failed, code > 0 && !not_found && !told, "{line}: {object}");
    }
}

#[test]
fn without_it_errors_are_words_on_standard_error() {
    let place = place();
    for (line, code) in CALLS {
        let ran = place.run(line).ends(code);
        let name = if line.starts_with("sparkey") { "sparkey: " } else { "hammerspace: " };
        let silent =
            code == 0 || line.starts_with("get s z") || line.ends_with("q.spi a") || line.starts_with("delete");
        assert_eq!(ran.stderr.is_empty(), silent, "{line}: {}", ran.stderr);
        assert!(silent || ran.stderr.starts_with(name), "{line}: {}", ran.stderr);
        assert!(code == 0 || ran.stdout.is_empty() || line.contains("info"), "{line}: {}", ran.text());
    }
}

#[test]
fn a_stream_that_breaks_off_ends_with_the_error() {
    let place = place();
    place.run("export s --format sparkey --output p.spl").ends(0);
    let mut log = place.read("p.spl");
    let end = log.len();
    log[end - 4] = 200;
    place.write("p.spl", log);
    let objects = place.run("sparkey dump p.spl --json").ends(1).objects();
    assert_eq!(objects.len(), 2);
    assert_eq!((&objects[0]["op"], &objects[0]["key"]), (&"put".into(), &"b".into()));
    assert_eq!(objects[1]["error"]["kind"], "Corrupt");
    assert!(objects[1]["error"]["offset"].is_u64() && objects[1]["error"]["remedy"].is_string());
}

#[test]
fn a_stream_that_nobody_reads_on_ends_quietly() {
    let place = Place::new();
    let pairs: Vec<String> = (0..50_000).map(|number| format!("key {number}\tvalue")).collect();
    place.write("many.tsv", pairs.join("\n"));
    place.run("load s many.tsv --no-sync").ends(0);
    let ran = place.feed("sh".as_ref(), &["-c", "bin/hammerspace scan s | head -1"], b"").ends(0);
    assert_eq!((ran.text(), ran.stderr.as_str()), ("key 0\tvalue\n", ""));
}
