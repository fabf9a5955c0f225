//! `hammerspace serve`, with the clients that people have.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::ran::Place;

/// A server that runs, and what it said when it began.
struct Serving {
    child: Child,
    stdout: BufReader<ChildStdout>,
    said: String,
}

impl Serving {
    fn start(place: &Place, line: &str) -> Self {
        let mut command = Command::new(&place.hammerspace);
        command.args(line.split(' ')).current_dir(place.path()).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (mut stdout, mut said) = (BufReader::new(child.stdout.take().unwrap()), String::new());
        stdout.read_line(&mut said).unwrap();
        Self { child, stdout, said }
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success());
    }

    /// Waits for its end; gives the exit code and what else it said.
    fn end(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }

    /// Bytes of memory that it holds, without the store's.
    fn private_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }
}

impl Drop for Serving {
    /// A test that fails leaves no server behind.
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn redis_cli(place: &Place, line: &str) -> String {
    let mut command = Command::new("redis-cli");
    command.args(["-s", "redis.sock"]).args(line.split(' ')).current_dir(place.path());
    let output = command.output().expect("redis-cli, of Debian's redis-tools");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[test]
fn redis_cli_works_until_sigterm_and_the_store_stays() {
    let place = Place::new();
    let serving = Serving::start(&place, "serve --store st --limit 64MiB --unix redis.sock");
    assert_eq!(serving.said, "serving st on redis.sock\n");
    assert_eq!(redis_cli(&place, "SET visits 41"), "OK");
    assert_eq!(redis_cli(&place, "INCR visits"), "42");
    assert_eq!(
        redis_cli(&place, "-3 HGET visits field"),
        "ERR unknown command 'HGET', with args beginning with: 'visits' 'field'"
    );
    // Any process reads meanwhile, straight from shared memory.
    assert_eq!(place.run("store get st visits").ends(0).text(), "42");
    serving.signal("-TERM");
    assert_eq!(serving.end(), (Some(0), String::new()));
    assert!(!place.path().join("redis.sock").exists());
    assert_eq!(place.run("store incr st visits").ends(0).text(), "43\n");
    assert!(place.run("store verify st").ends(0).text().contains("sound"));
    place.run("store remove st").ends(0);
}

#[test]
fn a_server_that_is_killed_leaves_its_store_and_its_socket_to_the_next() {
    let place = Place::new();
    let first = Serving::start(&place, "serve --store st --limit 64MiB --unix redis.sock");
    assert_eq!(redis_cli(&place, "SET k v"), "OK");
    assert!(place.run("serve --store st --unix other.sock").ends(4).stderr.contains("hammerspace: "), "one owner");
    first.signal("-KILL");
    first.end();
    let second = Serving::start(&place, "serve --store st --unix redis.sock");
    assert_eq!(redis_cli(&place, "GET k"), "v");
    assert_eq!(redis_cli(&place, "SHUTDOWN"), "");
    assert_eq!(second.end().0, Some(0));
    place.run("store remove st").ends(0);
}

#[test]
fn redis_benchmark_runs_and_ten_thousand_idle_connections_cost_little() {
    let place = Place::new();
    let serving = Serving::start(&place, "serve --store st --limit 64MiB --unix redis.sock --threads 2");
    let mut bench = Command::new("redis-benchmark");
    bench.args(["-s", "redis.sock", "-n", "3000", "-q", "-P", "4", "-t", "set,get,incr,mset"]);
    assert!(bench.current_dir(place.path()).output().unwrap().status.success());
    let idle = usize::try_from(descriptors().saturating_sub(200).min(9_900)).unwrap();
    let before = serving.private_memory();
    let connections: Vec<UnixStream> = (0..idle)
        .map(|_| {
            let mut stream = UnixStream::connect(place.path().join("redis.sock")).unwrap();
            stream.write_all(b"PING\r\n").unwrap();
            stream.read_exact(&mut [0; 7]).unwrap();
            stream
        })
        .collect();
    let each = serving.private_memory().saturating_sub(before) / idle as u64;
    assert!(each < 12 << 10, "{each} bytes for each of {idle}");
    assert_eq!(redis_cli(&place, "PING"), "PONG");
    drop(connections);
    serving.signal("-INT");
    assert_eq!(serving.end().0, Some(0));
    place.run("store remove st").ends(0);
}

/// How many files a process may have open.
fn descriptors() -> u64 {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    line.split_whitespace().nth(3).unwrap().parse().unwrap()
}

#[test]
fn what_cannot_be_served_is_named() {
    let place = Place::new();
    for (line, code, said) in [
        ("serve --store st --listen nowhere", 2, "127.0.0.1:6379"),
        ("serve --store st --space words", 2, "words=/srv/words"),
        ("serve --store st --limit 64MiB --unix s --unix-mode 9", 2, "octal"),
        ("serve --store st --limit 64MiB --unix s --password-file none", 4, "none"),
        ("serve --store st --limit 64MiB --unix s --space words=none", 4, "none"),
    ] {
        let ran = place.run(line).ends(code);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
    place.write("file", "not a socket");
    assert!(place.run("serve --store st2 --limit 64MiB --unix file").ends(4).stderr.contains("file"));
    assert_eq!(place.read("file"), b"not a socket");
    for store in ["st", "st2"] {
        place.run(&format!("store remove {store}"));
    }
}
