//! Random conversations with both servers, by a fixed seed: the same answers.

use fastrand::Rng;
use hammerspace_resp::Value;

use crate::peers::{Ours, Redis, request};

const KEYS: [&str; 5] = ["a", "b", "c", "d", "e"];
const VALUES: [&str; 12] =
    ["", "0", "1", "-1", "7", "007", " 7", "9223372036854775807", "-9223372036854775808", "x", "3.5", "longer text"];
/// `K` stands for a key, `V` for a value, `N` for a small number.
const REQUESTS: &[&str] = &[
    "GET K",
    "SET K V",
    "SET K V NX",
    "SET K V XX",
    "SET K V GET",
    "SET K V KEEPTTL",
    "SET K V EX 100",
    "SETNX K V",
    "GETSET K V",
    "GETDEL K",
    "GETEX K PERSIST",
    "GETEX K EX 100",
    "APPEND K V",
    "STRLEN K",
    "GETRANGE K N N",
    "SETRANGE K N V",
    "INCR K",
    "DECR K",
    "INCRBY K V",
    "DECRBY K V",
    "MGET K K K",
    "MSET K V K V",
    "MSETNX K V K V",
    "DEL K K",
    "EXISTS K K",
    "TYPE K",
    "EXPIRE K 100",
    "EXPIREAT K 33177117420 GT",
    "EXPIREAT K 33177117420 LT",
    "EXPIREAT K 33177117421 NX",
    "EXPIRE K -1",
    "PERSIST K",
    "TTL K",
    "RENAME K K",
    "RENAMENX K K",
    "COPY K K",
    "COPY K K REPLACE",
    "SETEX K 100 V",
    "TOUCH K",
    "MULTI",
    "EXEC",
    "EXEC",
    "DISCARD",
    "UNLINK K",
];

fn filled(template: &str, rng: &mut Rng) -> Vec<String> {
    let word = |word: &str, rng: &mut Rng| match word {
        "K" => rng.choice(KEYS).unwrap().to_owned(),
        "V" => rng.choice(VALUES).unwrap().to_owned(),
        "N" => rng.i32(-12..13).to_string(),
        other => other.to_owned(),
    };
    template.split(' ').map(|part| word(part, rng)).collect()
}

/// The same, but for a second that may have passed on one side of a time to live.
fn are_alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| are_alike(one, other))
        }
        (Value::Integer(one @ 90..=100), Value::Integer(other @ 90..=100)) => (one - other).abs() < 2,
        (Value::Integer(one @ 1_000_000_000..), Value::Integer(other)) => one.abs_diff(*other) < 2,
        _ => one == other,
    }
}

#[test]
fn random_conversations_get_the_same_answers() {
    let (ours, redis, mut rng) = (Ours::start(), Redis::start(), Rng::with_seed(38));
    let (mut to_ours, mut to_redis) = (ours.client(), redis.client());
    let mut said: Vec<Vec<String>> = Vec::new();
    let mut refused = 0;
    for round in 0..400 {
        let batch: Vec<_> = (0..50).map(|_| filled(rng.choice(REQUESTS).unwrap(), &mut rng)).collect();
        let bytes: Vec<u8> = batch.iter().flat_map(|args| request(args)).collect();
        to_ours.send(&bytes);
        to_redis.send(&bytes);
        for args in batch {
            let (one, other) = (to_ours.reply().unwrap(), to_redis.reply().unwrap());
            refused += usize::from(matches!(one, Value::Error(_)));
            said.push(args);
            let last = said.iter().rev().take(12).rev().map(|args| args.join(" ")).collect::<Vec<_>>();
            assert!(are_alike(&one, &other), "round {round}: {last:?}\n ours  {one:?}\n redis {other:?}");
        }
    }
    assert!(refused > 1000, "{refused} of {} were refused", said.len());
}
