//! Requests as redis-server takes them: the same bytes go to both, in other pieces.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use hammerspace_resp::{Encoder, Limits, Parser, ProtocolError, Value, Version, decode};
use tempfile::TempDir;

/// A redis-server on a socket of its own.
struct Redis {
    child: Child,
    directory: TempDir,
}

impl Redis {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new("redis-server");
        command.args(["--port", "0", "--save", "", "--unixsocket", "socket"]).current_dir(&directory);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let redis = Self { child: child.expect("redis-server, a package of Debian"), directory };
        let until = Instant::now() + Duration::from_secs(20);
        while UnixStream::connect(redis.directory.path().join("socket")).is_err() {
            assert!(Instant::now() < until, "redis-server does not listen");
            thread::sleep(Duration::from_millis(5));
        }
        redis
    }

    /// What it answers to these bytes, after which the client says no more.
    fn answers(&self, bytes: &[u8]) -> Vec<Value> {
        let mut stream = UnixStream::connect(self.directory.path().join("socket")).unwrap();
        // It may close the connection before all was sent.
        stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write)).ok();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        let (mut rest, mut values) = (&answer[..], Vec::new());
        while let Some((value, len)) = decode(rest).unwrap() {
            values.push(value);
            rest = &rest[len..];
        }
        values
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The answer that is due to a request.
#[derive(Debug, PartialEq)]
enum Due {
    Echo(Vec<u8>),
    SomeError,
    ProtocolError(String),
}

/// The requests in these bytes, which come in pieces, as what is due to each.
fn due(bytes: &[u8], rng: &mut Rng) -> Vec<Due> {
    let (mut parser, mut buffer, mut due) = (Parser::default(), Vec::new(), Vec::new());
    let mut rest = bytes;
    loop {
        let len = match parser.next(&buffer) {
            Err(error) => {
                due.push(Due::ProtocolError(sent(error)));
                return due;
            }
            Ok(Some(request)) => {
                let args: Vec<_> = request.args().collect();
                match args[..] {
                    [] => {}
                    [command, text] if command.eq_ignore_ascii_case(b"echo") => due.push(Due::Echo(text.to_vec())),
                    _ => due.push(Due::SomeError),
                }
                request.len()
            }
            Ok(None) if rest.is_empty() => return due,
            Ok(None) => {
                let (now, later) = rest.split_at(rng.usize(1..=rest.len().min(40)));
                buffer.extend_from_slice(now);
                rest = later;
                continue;
            }
        };
        buffer.drain(..len);
    }
}

/// The words of an error as a server sends them.
fn sent(error: ProtocolError) -> String {
    let mut out = Vec::new();
    Encoder::new(&mut out, Version::Two).error(&format!("ERR {error}"));
    String::from_utf8(out).unwrap()[1..].trim_end_matches("\r\n").to_owned()
}

fn is_due(value: &Value, due: &Due) -> bool {
    match (value, due) {
        (Value::Bulk(bytes), Due::Echo(text)) => bytes == text,
        (Value::Error(_), Due::SomeError) => true,
        // Redis sends a byte beyond ASCII as it is, and we the character that Latin-1 has for it.
        (Value::Error(said), Due::ProtocolError(words)) => said.iter().copied().map(char::from).eq(words.chars()),
        _ => false,
    }
}

/// Some requests, as a client sends them or a person types them; one in three conversations has a byte that is wrong.
fn conversation(rng: &mut Rng) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..rng.usize(1..6) {
        let text: Vec<u8> = (0..rng.usize(..30)).map(|_| rng.u8(1..)).collect();
        match rng.u8(..8) {
            0..4 => {
                bytes.extend_from_slice(format!("*2\r\n$4\r\nECHO\r\n${}\r\n", text.len()).as_bytes());
                bytes.extend_from_slice(&text);
                bytes.extend_from_slice(b"\r\n");
            }
            4 => bytes.extend_from_slice(b"echo \"a b\\x41\\n\" \r\n"),
            5 => bytes.extend_from_slice(b"  ECHO 'it\\'s'\n"),
            6 => bytes.extend_from_slice(rng.choice([&b"*0\r\n"[..], b"\r\n", b"*-1\r\n"]).unwrap()),
            _ => bytes.extend_from_slice(b"ECHO \x0bx\x0cy\tz\n"),
        }
    }
    if rng.u8(..3) == 0 {
        let at = rng.usize(..bytes.len());
        bytes[at] = *rng.choice(b"*$\r\n\"' 09x-").unwrap();
    }
    bytes
}

#[test]
fn requests_are_those_that_redis_finds() {
    let (redis, mut rng) = (Redis::start(), Rng::with_seed(38));
    let mut refused = 0;
    for round in 0..3000 {
        let bytes = conversation(&mut rng);
        let (due, answers) = (due(&bytes, &mut rng), redis.answers(&bytes));
        let are_due = answers.len() == due.len() && answers.iter().zip(&due).all(|(value, due)| is_due(value, due));
        assert!(are_due, "round {round}: {}\n{due:?}\n{answers:?}", bytes.escape_ascii());
        refused += usize::from(matches!(due.last(), Some(Due::ProtocolError(_))));
    }
    assert!(refused > 100, "{refused} conversations broke the protocol");
}

#[test]
fn what_redis_refuses_is_refused_in_its_words() {
    let redis = Redis::start();
    let long = b"x".repeat((64 << 10) + 1);
    let endless = |head: &[u8]| [head, &long].concat();
    for (bytes, wanted) in [
        (b"*x\r\n".to_vec(), ProtocolError::MultibulkLength),
        (b"*2147483648\r\n".to_vec(), ProtocolError::MultibulkLength),
        (b"*1\r\n+PING\r\n".to_vec(), ProtocolError::ExpectedBulk(b'+')),
        (b"*1\r\n$-1\r\n".to_vec(), ProtocolError::BulkLength),
        (b"*1\r\n$536870913\r\n".to_vec(), ProtocolError::BulkLength),
        (b"*1\r\n$01\r\n".to_vec(), ProtocolError::BulkLength),
        (b"GET 'x\r\n".to_vec(), ProtocolError::Quotes),
        (endless(b"*"), ProtocolError::MultibulkLine),
        (endless(b"*1\r\n$"), ProtocolError::BulkLine),
        (endless(b"GET"), ProtocolError::InlineLine),
    ] {
        assert_eq!(Parser::default().next(&bytes).unwrap_err(), wanted, "{wanted}");
        assert_eq!(redis.answers(&bytes), [Value::Error(format!("ERR {wanted}").into())]);
    }
}

#[test]
fn limits_are_the_callers() {
    let limits = Limits { args_max: 2, bulk_len_max: 3, line_len_max: 8 };
    let refused = |bytes: &[u8]| Parser::new(limits).next(bytes).map(|found| found.is_some());
    assert_eq!(refused(b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"), Ok(true));
    assert_eq!(refused(b"*3\r\n"), Err(ProtocolError::MultibulkLength));
    assert_eq!(refused(b"*1\r\n$4\r\n"), Err(ProtocolError::BulkLength));
    assert_eq!(refused(b"PING PONG"), Err(ProtocolError::InlineLine));
}
