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

#[test]
fn others_see_what_a_client_is_at() {
    let ours = Ours::start();
    let (mut listener, mut other) = (ours.client(), ours.client());
    let shown = |value: Value| match value {
        Value::Bulk(text) => String::from_utf8(text).unwrap(),
        other => panic!("{other:?}"),
    };
    listener.say("SUBSCRIBE news");
    listener.say("PSUBSCRIBE n*");
    let list = shown(other.say("CLIENT LIST TYPE pubsub"));
    assert!(list.lines().count() == 1 && list.contains(" flags=P db=0 sub=1 psub=1 "), "{list}");
    listener.say("RESET");
    assert_eq!(shown(other.say("CLIENT LIST TYPE pubsub")), "");
    listener.say("MULTI");
    listener.say("PING");
    assert!(shown(other.say("CLIENT LIST")).contains(" flags=x db=0 sub=0 psub=0 ssub=0 multi=1 "));
    listener.say("EXEC");
    assert!(!shown(other.say("CLIENT LIST")).contains(" flags=x "));
}

/// They could not see what the transaction has changed so far.
#[test]
fn commands_on_all_keys_break_a_transaction() {
    let ours = Ours::start();
    let mut client = ours.client();
    for command in ["DBSIZE", "KEYS *", "SCAN 0", "RANDOMKEY", "FLUSHDB", "FLUSHALL"] {
        client.say("MULTI");
        client.say("SET k v");
        assert!(matches!(client.say(command), Value::Error(_)), "{command}");
        assert!(matches!(client.say("EXEC"), Value::Error(text) if text.starts_with(b"EXECABORT")));
        assert_eq!(client.say("EXISTS k"), Value::Integer(0));
    }
}

/// One that is too large for a batch changes nothing.
#[test]
fn a_transaction_is_made_as_a_whole_or_not_at_all() {
    let ours = Ours::start();
    let mut client = ours.client();
    client.say("MULTI");
    let value = vec![b'x'; 1 << 20];
    for at in 0..20 {
        client.ask(&[b"SET", format!("k{at}").as_bytes(), &value]);
    }
    assert!(matches!(client.say("EXEC"), Value::Error(text) if text.starts_with(b"EXECABORT")));
    assert_eq!(client.say("DBSIZE"), Value::Integer(0));
}

/// Two clients move money between accounts, and a third adds all accounts up, each in transactions.
#[test]
fn transactions_of_several_clients_do_not_see_halves() {
    let ours = Ours::start();
    ours.client().say("MSET a 500 b 500");
    std::thread::scope(|scope| {
        for (from, to) in [("a", "b"), ("b", "a")] {
            let mut client = ours.client();
            scope.spawn(move || {
                for _ in 0..300 {
                    client.say("MULTI");
                    client.ask(&["DECR", from]);
                    client.ask(&["INCR", to]);
                    assert!(matches!(client.say("EXEC"), Value::Array(_)));
                }
            });
        }
        let mut client = ours.client();
        scope.spawn(move || {
            for _ in 0..300 {
                client.say("MULTI");
                client.say("GET a");
                client.say("GET b");
                let Value::Array(sums) = client.say("EXEC") else { panic!("no sums") };
                let number = |value: &Value| match value {
                    Value::Bulk(text) => String::from_utf8_lossy(text).parse::<i64>().unwrap(),
                    other => panic!("{other:?}"),
                };
                assert_eq!(sums.iter().map(number).sum::<i64>(), 1000);
            }
        });
    });
}

#[test]
fn our_own_commands_change_by_version_and_by_kind() {
    let ours = Ours::start();
    let mut client = ours.client();
    assert_eq!(client.say("HS.VERSION k"), Value::Null);
    let Value::Integer(first) = client.say("HS.CAS k 0 one") else { panic!("not absent") };
    assert_eq!(client.say("HS.VERSION k"), Value::Integer(first));
    assert_eq!(client.say("HS.CAS k 0 two"), Value::Null, "it is there");
    let Value::Integer(second) = client.ask(&["HS.CAS", "k", &first.to_string(), "two"]) else { panic!("refused") };
    assert_eq!(client.ask(&["HS.CAS", "k", &first.to_string(), "three"]), Value::Null, "it has version {second}");
    assert_eq!(client.say("GET k"), bulk("two"));
    for (merge, wanted) in
        [("m max 3", 3), ("m max 7", 7), ("m max 5", 7), ("n min 5", 5), ("n min 2", 2), ("l append abc", 3)]
    {
        assert_eq!(client.say(&format!("HS.MERGE {merge}")), Value::Integer(wanted), "{merge}");
    }
    client.say("MULTI");
    for merge in ["m max 9", "n min 1", "l append de", "s add 4", "m add 1"] {
        client.say(&format!("HS.MERGE {merge}"));
    }
    let Value::Array(merged) = client.say("EXEC") else { panic!("not executed") };
    assert_eq!(merged[..4], [9, 1, 5, 4].map(Value::Integer));
    assert!(matches!(merged[4], Value::Error(_)), "a number of another kind");
    let kind = |key: &str| ours.store.default_table().get(key).unwrap().unwrap().meta.kind;
    assert_eq!(["m", "n", "l", "s"].map(kind), [ValueKind::Max, ValueKind::Min, ValueKind::Append, ValueKind::Add]);
    assert!(matches!(client.say("HS.MERGE k nonsense 1"), Value::Error(_)));
}
