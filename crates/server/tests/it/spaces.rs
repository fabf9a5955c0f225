//! Spaces as databases.

use hammerspace_resp::Value;
use hammerspace_server::Options;
use hammerspace_space::Space;

use crate::peers::{Ours, bulk};

fn publish(space: &Space, pairs: &[(&str, &str)]) {
    let mut writer = space.replace().unwrap();
    for (key, value) in pairs {
        writer.put(key, value).unwrap();
    }
    writer.publish().unwrap();
}

#[test]
fn a_space_is_a_read_only_database_that_follows_current() {
    let directory = tempfile::tempdir().unwrap();
    let space = Space::create(directory.path()).unwrap();
    publish(&space, &[("apple", "red"), ("plum", "blue"), ("pear", "green")]);
    let served = Space::open(directory.path()).unwrap();
    let ours = Ours::with(vec![("fruits".into(), served)], Options::default());
    let mut client = ours.client();
    assert_eq!(client.say("SELECT fruits"), Value::Simple("OK".into()));
    assert_eq!(client.say("GET apple"), bulk("red"));
    assert_eq!(client.say("MGET apple none plum"), Value::Array(vec![bulk("red"), Value::Null, bulk("blue")]));
    assert_eq!(client.say("EXISTS apple none"), Value::Integer(1));
    assert_eq!(client.say("TTL apple"), Value::Integer(-1));
    assert_eq!(client.say("DBSIZE"), Value::Integer(3));
    assert_eq!(client.say("TYPE plum"), Value::Simple("string".into()));
    assert!(matches!(client.say("RANDOMKEY"), Value::Bulk(_)));
    for write in ["SET apple green", "DEL apple", "INCR apple", "EXPIRE apple 1", "FLUSHDB", "MSET a 1", "RENAME a b"] {
        let Value::Error(said) = client.say(write) else { panic!("{write} was accepted") };
        assert!(said.starts_with(b"READONLY "), "{write}");
    }
    publish(&space, &[("apple", "golden")]);
    assert_eq!(client.say("HS.REFRESH"), Value::Integer(2));
    assert_eq!(client.say("GET apple"), bulk("golden"));
    assert_eq!(client.say("KEYS *"), Value::Array(vec![bulk("apple")]));
    assert_eq!(client.say("SELECT 16"), Value::Simple("OK".into()));
    assert_eq!(client.say("GET apple"), bulk("golden"), "by number, behind the tables");
}

/// However few at a time, and each once.
#[test]
fn scan_gives_every_key_of_a_space_and_of_a_table() {
    let directory = tempfile::tempdir().unwrap();
    let space = Space::create(directory.path()).unwrap();
    let pairs: Vec<(String, String)> = (0..500).map(|at| (format!("key {at}"), at.to_string())).collect();
    publish(&space, &pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect::<Vec<_>>());
    let ours = Ours::with(vec![("numbers".into(), Space::open(directory.path()).unwrap())], Options::default());
    let mut client = ours.client();
    for (key, value) in &pairs {
        client.ask(&["SET", key, value]);
    }
    for database in ["0", "numbers"] {
        client.ask(&["SELECT", database]);
        let (mut cursor, mut found) = ("0".to_owned(), Vec::new());
        loop {
            let Value::Array(answer) = client.ask(&["SCAN", &cursor, "COUNT", "7"]) else { panic!("no page") };
            let [Value::Bulk(next), Value::Array(keys)] = &answer[..] else { panic!("no page") };
            found.extend(keys.iter().map(|key| format!("{key:?}")));
            cursor = String::from_utf8(next.clone()).unwrap();
            if cursor == "0" {
                break;
            }
        }
        found.sort();
        let mut wanted: Vec<_> = pairs.iter().map(|(key, _)| format!("{:?}", bulk(key))).collect();
        wanted.sort();
        assert_eq!(found, wanted, "{database}");
    }
}
