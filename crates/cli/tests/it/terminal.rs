//! What users see around the answers: examples, colours, progress, and words after Ctrl-C.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::ran::{Place, Ran};

/// The example that ends the help of a verb.
fn example(place: &Place, verb: &str) -> String {
    let help = place.run(&format!("{verb} --help")).ends(0);
    let (_, example) = help.text().split_once("\nExample:\n  ").unwrap_or_else(|| panic!("{verb}: {}", help.text()));
    example.trim_end().into()
}

fn shell(place: &Place, line: &str) -> Ran {
    let path = format!("{}:{}", place.path().join("bin").display(), std::env::var("PATH").unwrap());
    place.feed(Path::new("env"), &[&format!("PATH={path}"), "sh", "-c", line], b"")
}

#[test]
fn the_examples_work_in_the_order_of_the_manual() {
    let place = Place::new();
    place.write("words.tsv", "apple\tred\nplum\tblue\n");
    place.write(
        "event.schema",
        "message event { required int64 id; optional group user { optional binary state (STRING); } }",
    );
    place.write("events.ndjson", "{\"id\":1,\"user\":{\"state\":\"CA\"}}\n");
    let mut verbs: Vec<String> =
        ["load", "get", "set", "delete", "scan", "info", "verify", "versions", "rollback", "export", "warm", "split"]
            .map(String::from)
            .into();
    if cfg!(feature = "parquet") {
        verbs.extend(["stripe", "unstripe"].map(String::from));
    }
    for verb in ["createlog", "appendlog", "writehash", "info", "get", "dump", "rewrite", "shard", "verify", "delete"] {
        verbs.push(format!("sparkey {verb}"));
    }
    for verb in [
        "create", "table", "put", "get", "append", "incr", "scan", "export", "delete", "list", "info", "top", "raise",
        "verify", "remove",
    ] {
        verbs.push(format!("store {verb}"));
    }
    for verb in verbs.iter().map(String::as_str).chain(["completions", "man"]) {
        let line = example(&place, verb);
        let ran = shell(&place, &line);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
    }
}

/// Runs a line on a terminal; gives what is seen there.
fn on_terminal(place: &Place, line: &str) -> String {
    let line = format!("env -u NO_COLOR TERM=xterm {line}");
    String::from_utf8(shell(place, &format!("script -qfec '{line}' /dev/null < /dev/null")).stdout).unwrap()
}

#[test]
fn errors_are_coloured_on_a_terminal_unless_asked_not_to_be() {
    let place = Place::new();
    for (line, is_coloured) in [
        ("hammerspace get no key", true),
        ("hammerspace get", true),
        ("hammerspace get no key --color never", false),
        ("env NO_COLOR=1 hammerspace get no key", false),
        ("env NO_COLOR=1 hammerspace get no key --color=always", true),
        ("sparkey get no.spi key", true),
        ("sparkey --color never get no.spi key", false),
    ] {
        let seen = on_terminal(&place, line);
        assert_eq!(seen.contains("\x1b["), is_coloured, "{line}: {seen:?}");
    }
    assert!(!place.run("get no key").ends(4).stderr.contains('\x1b'));
    assert!(place.run("get no key --color always").ends(4).stderr.contains('\x1b'));
    assert!(place.run("get --help --color always").ends(0).text().contains('\x1b'));
    place.run("get no key --color mauve").ends(2);
}

#[test]
fn quiet_leaves_out_what_was_not_asked_for() {
    let place = Place::new();
    place.write("a.tsv", "a\t1\n");
    assert_eq!(place.run("load s a.tsv -q").ends(0).text(), "");
    assert_eq!(place.run("-q get s a").ends(0).text(), "1");
    assert_eq!(place.run("warm s --quiet").ends(0).text(), "");
    assert!(place.run("load s a.tsv -q --json").ends(0).object()["version"].is_u64());
    assert!(!place.run("get -q no key").ends(4).stderr.is_empty());
}

#[test]
fn progress_is_shown_on_a_terminal_unless_asked_not_to_be() {
    let place = Place::new();
    place.write("a.tsv", "a\t1\n");
    place.run("load s a.tsv").ends(0);
    for (options, is_shown) in [("", true), ("--no-progress", false), ("-q", false)] {
        let seen = on_terminal(&place, &format!("hammerspace load s a.tsv {options}"));
        assert_eq!(seen.contains("load "), is_shown, "{options}: {seen:?}");
    }
}

/// A verb that reads standard input, and has read a first line of it.
struct Reading {
    child: Child,
}

impl Reading {
    fn start(place: &Place, program: &Path, line: &str) -> Self {
        let mut child = Command::new(program)
            .args(line.split(' '))
            .current_dir(place.path())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.as_mut().unwrap().write_all(b"k\tv\n").unwrap();
        Self { child }
    }

    /// Interrupts it as soon as it listens; gives what it says, and whether the signal ended it.
    fn interrupted(mut self) -> (String, bool) {
        let (status, started) = (format!("/proc/{}/status", self.child.id()), Instant::now());
        let listens = || {
            let caught = fs::read_to_string(&status).unwrap();
            let caught = caught.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim().to_owned();
            u64::from_str_radix(&caught, 16).unwrap() & 2 != 0
        };
        while !listens() {
            assert!(started.elapsed() < Duration::from_mins(1), "it never listens");
        }
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let ended = self.child.wait().unwrap();
        (said, std::os::unix::process::ExitStatusExt::signal(&ended) == Some(2))
    }
}

#[test]
fn ctrl_c_says_what_stays_and_it_does() {
    let place = Place::new();
    place.run("set s a 1").ends(0);
    place.sparkey("createlog l.spl").ends(0);
    let log = place.read("l.spl");
    for (program, line, says) in [
        (&place.hammerspace, "set s b", "nothing was published, s is as it was"),
        (&place.sparkey, "appendlog l.spl", "nothing was appended, l.spl is as it was"),
    ] {
        let (said, by_signal) = Reading::start(&place, program, line).interrupted();
        assert_eq!((said.trim_end(), by_signal), (format!("interrupted: {says}").as_str(), true), "{line}");
    }
    assert_eq!(place.run("scan s").ends(0).text(), "a\t1\n");
    assert_eq!(place.read("l.spl")[..84], log[..84], "the header says how far the log goes");
}
