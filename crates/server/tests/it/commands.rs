//! What the store holds after commands, as a local reader sees it; and the table of commands.

use hammerspace_resp::Value;
use hammerspace_store::ValueKind;

use crate::peers::{Ours, Redis, bulk};

#[test]
fn a_local_reader_sees_the_kinds_that_commands_make() {
    let ours = Ours::start();
    let mut client = ours.client();
    let table = ours.store.default_table().clone();
    let kind = |key: &str| table.get(key).unwrap().unwrap().meta.kind;
    client.say("SET n 41");
    assert_eq!(kind("n"), ValueKind::Bytes);
    assert_eq!(client.say("INCR n"), Value::Integer(42));
    assert_eq!((kind("n"), table.get("n").unwrap().unwrap().number()), (ValueKind::Add, Some(42)));
    client.say("APPEND n !");
    assert_eq!((kind("n"), &table.get("n").unwrap().unwrap().bytes[..]), (ValueKind::Append, &b"42!"[..]));
    client.say("SET n 1");
    assert_eq!(kind("n"), ValueKind::Bytes, "SET writes bytes over any kind");
    // And what a local owner has made is a string to a client.
    table.max("greatest", -7).unwrap();
    assert_eq!(client.say("GET greatest"), bulk("-7"));
    assert_eq!(client.say("STRLEN greatest"), Value::Integer(2));
    assert!(matches!(client.say("INCR greatest"), Value::Error(_)), "it merges by another rule");
}

#[test]
fn a_database_is_the_table_of_its_number() {
    let ours = Ours::start();
    let mut client = ours.client();
    client.say("SELECT 3");
    client.say("SET k v");
    assert_eq!(ours.store.table("3").unwrap().get("k").unwrap().unwrap().bytes, b"v");
    client.say("FLUSHALL");
    assert!(ours.store.table("3").unwrap().get("k").unwrap().is_none());
}

/// Integer keys have no name in the protocol.
#[test]
fn integer_keys_are_left_out() {
    let ours = Ours::start();
    ours.store.default_table().put(7, "seven").unwrap();
    let mut client = ours.client();
    assert_eq!(client.say("KEYS *"), Value::Array(vec![]));
    assert_eq!(client.say("RANDOMKEY"), Value::Null);
    assert_eq!(client.say("DBSIZE"), Value::Integer(1));
}

/// Name, arity, flags, keys and categories.
#[test]
fn the_table_of_commands_is_that_of_redis() {
    let (ours, redis) = (Ours::start(), Redis::start());
    let (mut to_ours, mut to_redis) = (ours.client(), redis.client());
    let Value::Array(commands) = to_ours.say("COMMAND") else { panic!("no commands") };
    let described = |command: &Value| match command {
        Value::Array(fields) => fields[..7].to_vec(),
        other => panic!("{other:?}"),
    };
    let sorted = |mut fields: Vec<Value>| {
        for field in &mut fields {
            if let Value::Array(values) = field {
                values.sort_by_key(|value| format!("{value:?}"));
            }
        }
        fields
    };
    for command in &commands {
        let ours = sorted(described(command));
        let Value::Bulk(name) = &ours[0] else { panic!("no name") };
        if name.starts_with(b"hs.") {
            continue;
        }
        let Value::Array(found) = to_redis.ask(&[&b"COMMAND"[..], b"INFO", name]) else { panic!("no answer") };
        let Value::Array(theirs) = &found[0] else { panic!("{} is unknown to Redis", name.escape_ascii()) };
        assert_eq!(ours, sorted(theirs[..7].to_vec()), "{}", name.escape_ascii());
        let Value::Array(subcommands) = &theirs[9] else { panic!("no subcommands") };
        for theirs in subcommands {
            let theirs = sorted(described(theirs));
            let Value::Bulk(name) = &theirs[0] else { panic!("no name") };
            let Value::Array(found) = to_ours.ask(&[&b"COMMAND"[..], b"INFO", name]) else { panic!("no answer") };
            if let Value::Array(ours) = &found[0] {
                assert_eq!(sorted(ours[..7].to_vec()), theirs, "{}", name.escape_ascii());
            }
        }
    }
    assert!(commands.len() > 50);
}
