//! Clients that misbehave, and the end of a server.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use hammerspace_resp::Value;
use hammerspace_server::Options;

use crate::peers::{Client, Ours, bulk, error, request};

fn with_password() -> Ours {
    Ours::with(Vec::new(), Options { password: Some("secret".into()), ..Options::default() })
}

/// What tests that run at the same time may take.
const LEEWAY: u64 = 1 << 30;

/// Bytes of memory that this process holds.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// 10,000 replies of a megabyte are 10 GB.
#[test]
fn a_client_that_never_reads_costs_little_and_keeps_nobody_waiting() {
    let ours = Ours::start();
    ours.client().ask(&[&b"SET"[..], b"large", &vec![b'x'; 1 << 20]]);
    let mut deaf = ours.client();
    deaf.stream.set_nonblocking(true).unwrap();
    let before = resident();
    let get = request(&["GET", "large"]).repeat(10_000);
    let mut sent = 0;
    while let Ok(len) = deaf.stream.write(&get[sent..]) {
        sent += len;
        if sent == get.len() {
            break;
        }
    }
    let mut other = ours.client();
    for _ in 0..100 {
        assert_eq!(other.say("STRLEN large"), Value::Integer(1 << 20));
    }
    assert!(resident() < before + LEEWAY, "{} bytes more", resident() - before);
    // It can still be thrown out.
    let Value::Bulk(clients) = other.say("CLIENT LIST") else { panic!("no list") };
    let clients = String::from_utf8(clients).unwrap();
    let id = clients.lines().find(|line| line.contains("cmd=get")).unwrap();
    let id = id.split(' ').next().unwrap().trim_start_matches("id=");
    assert_eq!(other.ask(&["CLIENT", "KILL", "ID", id]), Value::Integer(1));
    let until = Instant::now() + Duration::from_secs(20);
    while matches!(other.say("CLIENT LIST"), Value::Bulk(list) if list.windows(7).any(|part| part == b"cmd=get")) {
        assert!(Instant::now() < until, "it was not thrown out");
    }
}

/// A length that is claimed takes no memory.
#[test]
fn a_claimed_length_reserves_nothing() {
    let ours = Ours::start();
    let before = resident();
    let mut clients: Vec<Client> = (0..50).map(|_| ours.client()).collect();
    for client in &mut clients {
        client.send(b"*1000000\r\n$500000000\r\nx");
    }
    assert_eq!(ours.client().say("PING"), Value::Simple("PONG".into()));
    assert!(resident() < before + LEEWAY);
}

#[test]
fn before_it_has_authenticated_a_client_may_send_little() {
    let ours = with_password();
    for claim in [&b"*11\r\n"[..], b"*2\r\n$4\r\nAUTH\r\n$20000\r\n"] {
        let mut client = ours.client();
        client.send(claim);
        let Value::Error(said) = client.reply().unwrap() else { panic!("accepted") };
        assert!(said.starts_with(b"ERR Protocol error"), "{}", said.escape_ascii());
        assert!(client.reply().is_err(), "the connection is closed");
    }
    let mut client = ours.client();
    assert_eq!(client.say("AUTH secret"), Value::Simple("OK".into()));
    assert_eq!(client.ask(&[&b"SET"[..], b"k", &vec![b'x'; 20_000]]), Value::Simple("OK".into()));
}

#[test]
fn a_client_that_does_not_authenticate_is_closed_in_time() {
    let ours = with_password();
    let mut admin = ours.client();
    admin.say("AUTH secret");
    assert_eq!(admin.say("CONFIG SET hs-login-timeout 1"), Value::Simple("OK".into()));
    let mut silent = ours.client();
    assert_eq!(silent.say("PING"), error("NOAUTH Authentication required."));
    assert!(silent.reply().is_err(), "closed");
    assert_eq!(admin.say("PING"), Value::Simple("PONG".into()));
}

#[test]
fn a_request_may_be_as_long_as_the_limit_says() {
    let ours = Ours::start();
    let mut client = ours.client();
    client.say("CONFIG SET client-query-buffer-limit 1mb");
    client.send(b"*2\r\n$4\r\nECHO\r\n$3000000\r\n");
    client.stream.write_all(&vec![b'x'; 2_000_000]).ok();
    assert!(matches!(client.reply(), Ok(Value::Error(_)) | Err(_)));
    assert!(client.reply().is_err());
}

#[test]
fn there_are_as_many_clients_as_the_limit_says() {
    let ours = Ours::with(Vec::new(), Options { clients_max: 2, ..Options::default() });
    let mut clients = [ours.client(), ours.client()];
    for client in &mut clients {
        client.say("PING");
    }
    assert_eq!(ours.client().reply().unwrap(), error("ERR max number of clients reached"));
}

#[test]
fn pipelined_requests_are_answered_in_order_before_a_client_leaves() {
    let ours = Ours::start();
    let mut client = ours.client();
    let mut requests = Vec::new();
    for at in 0..1000 {
        let (key, value) = (format!("k{at}"), format!("v{at}"));
        requests.extend(request(&["SET", &key, &value]));
        requests.extend(request(&["GET", &key]));
        requests.extend(request(&["get", "none"]));
    }
    client.send(&requests);
    let answers = client.rest();
    assert_eq!(answers.len(), 3000);
    for (at, answer) in answers.chunks(3).enumerate() {
        assert_eq!(answer, [Value::Simple("OK".into()), bulk(&format!("v{at}")), Value::Null]);
    }
}

/// More than a pause's worth of replies, gathered and not.
#[test]
fn replies_that_are_long_come_in_order() {
    let ours = Ours::start();
    let mut client = ours.client();
    for key in ["a", "b", "c"] {
        client.ask(&[b"SET", key.as_bytes(), key.repeat(100_000).as_bytes()]);
    }
    let mut requests = Vec::new();
    for at in 0..60 {
        let key = ["a", "b", "c"][at % 3];
        requests.extend(request(&["GET", key]));
        if at % 7 == 0 {
            requests.extend(request(&["STRLEN", key]));
        }
    }
    client.send(&requests);
    for at in 0..60 {
        let key = ["a", "b", "c"][at % 3];
        assert_eq!(client.reply().unwrap(), bulk(&key.repeat(100_000)), "{at}");
        if at % 7 == 0 {
            assert_eq!(client.reply().unwrap(), Value::Integer(100_000));
        }
    }
}

#[test]
fn shutdown_answers_what_came_and_closes_everybody() {
    let ours = Ours::start();
    let mut other = ours.client();
    other.say("SET k v");
    let mut client = ours.client();
    client.send(&[request(&["GET", "k"]), request(&["SHUTDOWN"]), request(&["GET", "k"])].concat());
    assert_eq!(client.reply().unwrap(), bulk("v"));
    assert!(client.reply().is_err(), "SHUTDOWN has no reply");
    assert!(other.reply().is_err());
    let until = Instant::now() + Duration::from_secs(20);
    while UnixStream::connect(ours.socket()).is_ok_and(|mut stream| stream.read(&mut [0]).is_err()) {
        assert!(Instant::now() < until, "it still serves");
    }
}

#[test]
fn both_ends_of_a_tcp_connection_may_close_it() {
    let ours = Ours::start();
    let address = ours.server().addresses()[0];
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"PING\r\n").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "+PONG\r\n");
    // A reset in the middle of a request.
    for _ in 0..50 {
        TcpStream::connect(address).unwrap().write_all(b"*2\r\n$3\r\nGET\r\n$1000").unwrap();
    }
    assert_eq!(ours.client().say("PING"), Value::Simple("PONG".into()));
}

/// Random bytes, cut anywhere: the server goes on.
#[test]
fn noise_ends_a_connection_at_most() {
    let (ours, mut rng) = (Ours::start(), fastrand::Rng::with_seed(38));
    let words: [&[u8]; 12] =
        [b"*", b"$", b"\r\n", b"1", b"-1", b"SET", b"GET", b"*3\r\n$3\r\nSET\r\n", b"\"", b"k", b"\0\xff", b"CLIENT"];
    for _ in 0..500 {
        let mut client = ours.client();
        let noise: Vec<u8> = (0..rng.usize(1..40)).flat_map(|_| rng.choice(words).unwrap().to_vec()).collect();
        client.stream.write_all(&noise).ok();
    }
    assert_eq!(ours.client().say("PING"), Value::Simple("PONG".into()));
}
