//! `hammerspace serve`, with the clients that people have.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::{UnixDatagram, UnixStream};
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
        Self::with(place, line, &[])
    }

    fn with(place: &Place, line: &str, env: &[(&str, &str)]) -> Self {
        let mut command = Command::new(&place.hammerspace);
        command.envs(env.iter().copied());
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

/// What `/metrics` says has the form that Prometheus reads, and systemd is told when clients may come.
#[test]
fn a_server_is_monitored_and_says_when_it_is_ready() {
    let place = Place::new();
    let notified = UnixDatagram::bind(place.path().join("notify")).unwrap();
    let serving = Serving::with(
        &place,
        "serve --store st --limit 64MiB --unix redis.sock --monitor 127.0.0.1:0 --json",
        &[("NOTIFY_SOCKET", place.path().join("notify").to_str().unwrap())],
    );
    let mut told = [0; 64];
    let len = notified.recv(&mut told).unwrap();
    assert_eq!(std::str::from_utf8(&told[..len]).unwrap().trim_end(), "READY=1");
    assert_eq!(redis_cli(&place, "SET k v"), "OK");
    assert_eq!(redis_cli(&place, "GET k"), "v");
    let said: serde_json::Value = serde_json::from_str(&serving.said).unwrap();
    let ask = |path: &str| {
        let mut stream = TcpStream::connect(said["monitor"].as_str().unwrap()).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(ask("/healthz").ends_with("\r\n\r\nok\n"));
    assert!(ask("/readyz").starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(ask("/other").starts_with("HTTP/1.1 404 "));
    let metrics = ask("/metrics");
    let (_, metrics) = metrics.split_once("\r\n\r\n").unwrap();
    assert!(metrics.contains("\nhammerspace_commands_total{command=\"get\"} 1\n"), "{metrics}");
    assert!(metrics.contains("\nhammerspace_command_seconds_count{family=\"string\"} 2\n"), "{metrics}");
    for line in metrics.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("hammerspace_") && value.parse::<f64>().is_ok(), "{line}");
    }
    serving.signal("-TERM");
    assert_eq!(serving.end().0, Some(0));
    place.run("store remove st").ends(0);
}

/// A Redis that runs, with strings of all sorts, a key that ends, and a list, which a store has no kind for.
#[test]
fn a_redis_that_runs_is_copied() {
    let place = Place::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut redis = Command::new("redis-server");
    redis.args(["--port", &port, "--save", "", "--requirepass", "secret"]).current_dir(place.path());
    redis.stdin(Stdio::null()).stdout(Stdio::null());
    let redis = Killed(redis.spawn().unwrap());
    let ask = |line: &str| {
        let mut command = Command::new("redis-cli");
        command.args(["-p", &port, "-a", "secret", "--no-auth-warning", "-n", "3"]).args(line.split(' '));
        String::from_utf8(command.output().unwrap().stdout).unwrap().trim_end().to_owned()
    };
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while ask("PING") != "PONG" {
        assert!(std::time::Instant::now() < until, "redis-server does not listen");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(ask("SET k0 v0"), "OK");
    let many: Vec<String> = (1..1200).map(|at| format!("k{at} v{at}")).collect();
    assert_eq!(ask(&format!("MSET {}", many.join(" "))), "OK");
    ask("SET fleeting v EX 1000");
    ask("LPUSH list a b");
    let url = format!("redis://:secret@127.0.0.1:{port}/3");
    let ran = place.run(&format!("store import st --redis {url} --limit 64MiB --table copied")).ends(1);
    assert_eq!(ran.text(), "1201 strings copied, 1 keys of other types skipped, 0 expired meanwhile\n");
    for at in [0, 7, 1199] {
        assert_eq!(place.run(&format!("store get st k{at} --table copied")).ends(0).text(), format!("v{at}"));
    }
    let left: f64 = place.run("store ttl st fleeting --table copied").ends(0).text().trim().parse().unwrap();
    assert!((900.0..=1000.0).contains(&left), "{left}");
    let refused = place.run(&format!("store import st --redis redis://:wrong@127.0.0.1:{port}")).ends(2);
    assert!(refused.stderr.contains("WRONGPASS"), "{}", refused.stderr);
    place.run("store import st --redis nowhere").ends(2);
    drop(redis);
    place.run(&format!("store import st --redis {url}")).ends(4);
    place.run("store remove st").ends(0);
}

/// A process that ends with the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
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
