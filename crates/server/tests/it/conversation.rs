//! One conversation, held with both servers: the same answers.
//!
//! `conversation.txt` has a request on each line, as a person types it. In front of it may stand
//!
//! - a number and `>`: which of several connections sends it; the first by default;
//! - `%`: the answers are compared as sets;
//! - `~`: only what kind of value they are is compared;
//! - `<` alone: no request; the next message that comes by itself is compared.
//!
//! `differences.txt` names the requests that are answered differently, each with the reason. One that is
//! answered alike is an error, so the list stays true.

use std::collections::BTreeMap;
use std::mem::discriminant;

use hammerspace_resp::Value;

use crate::peers::{Client, Ours, Redis};

const CONVERSATION: &str = include_str!("conversation.txt");
const DIFFERENCES: &str = include_str!("differences.txt");

/// How answers are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compared {
    Whole,
    AsSets,
    Kind,
}

/// A line of the conversation.
struct Line<'c> {
    client: usize,
    compared: Compared,
    /// Nothing, where a message is awaited.
    request: &'c str,
}

fn parse(line: &str) -> Line<'_> {
    let (client, rest) = match line.split_once('>') {
        Some((client, rest)) if client.len() == 1 && client.parse::<usize>().is_ok() => {
            (client.parse().unwrap(), rest.trim_start())
        }
        _ => (1, line),
    };
    let (compared, request) = match rest.split_at_checked(1) {
        Some(("%", request)) => (Compared::AsSets, request),
        Some(("~", request)) => (Compared::Kind, request),
        _ => (Compared::Whole, rest),
    };
    Line { client, compared, request: request.trim() }
}

/// Nothing is random about an answer that was sorted.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(mut values) | Value::Set(mut values) => {
            values = values.into_iter().map(sorted).collect();
            values.sort_by_key(|value| format!("{value:?}"));
            Value::Array(values)
        }
        Value::Map(mut pairs) => {
            pairs.sort_by_key(|(key, _)| format!("{key:?}"));
            Value::Map(pairs)
        }
        other => other,
    }
}

fn are_alike(compared: Compared, ours: &Value, theirs: &Value) -> bool {
    match compared {
        Compared::Whole => ours == theirs,
        Compared::AsSets => sorted(ours.clone()) == sorted(theirs.clone()),
        Compared::Kind => discriminant(ours) == discriminant(theirs),
    }
}

fn answer(clients: &mut BTreeMap<usize, Client>, connect: impl Fn() -> Client, line: &Line<'_>) -> Value {
    let client = clients.entry(line.client).or_insert_with(connect);
    if line.request == "<" { client.reply().unwrap() } else { client.say(line.request) }
}

#[test]
fn both_servers_give_the_same_answers() {
    let (ours, redis) = (Ours::start(), Redis::start());
    let mut reasons: BTreeMap<&str, bool> = BTreeMap::new();
    for line in DIFFERENCES.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (request, reason) = line.split_once(" # ").expect("a request and the reason");
        assert!(reason.len() > 10, "{request} has no reason");
        reasons.insert(request.trim(), false);
    }
    let (mut to_ours, mut to_redis) = (BTreeMap::new(), BTreeMap::new());
    let mut wrong = Vec::new();
    for text in CONVERSATION.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let line = parse(text);
        let one = answer(&mut to_ours, || ours.client(), &line);
        let other = answer(&mut to_redis, || redis.client(), &line);
        match (are_alike(line.compared, &one, &other), reasons.get_mut(line.request)) {
            (true, None) => {}
            (false, Some(is_met)) => *is_met = true,
            (true, Some(_)) => wrong.push(format!("{text}: answered alike, which differences.txt denies")),
            (false, None) => wrong.push(format!("{text}\n   ours  {one:?}\n   redis {other:?}")),
        }
    }
    let unmet: Vec<_> = reasons.iter().filter(|(_, is_met)| !**is_met).map(|(request, _)| *request).collect();
    assert!(wrong.is_empty(), "{} answers differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(unmet.is_empty(), "not in the conversation: {unmet:?}");
}

/// Every command that is offered is talked about.
#[test]
fn the_conversation_has_every_command() {
    let ours = Ours::start();
    let Value::Array(commands) = ours.client().say("COMMAND LIST") else { panic!("no list") };
    let said: Vec<String> = CONVERSATION.lines().map(|line| parse(line).request.to_lowercase()).collect();
    let is_said = |name: &str| said.iter().any(|line| line.split(' ').next() == Some(name));
    let silent: Vec<String> = commands
        .iter()
        .map(|command| match command {
            Value::Bulk(name) => String::from_utf8_lossy(name).into_owned(),
            other => panic!("{other:?}"),
        })
        // It ends the conversation; `hostile.rs` has it.
        .filter(|name| name != "shutdown" && !is_said(name))
        .collect();
    assert_eq!(silent, Vec::<String>::new());
}

/// A comparison that cannot see a wrong answer sees none.
#[test]
fn canary_a_wrong_answer_is_noticed() {
    let (ours, redis) = (Ours::start(), Redis::start());
    ours.client().say("SET planted 1");
    let answers = [ours.client(), redis.client()].map(|mut client| client.say("GET planted"));
    assert!(!are_alike(Compared::Whole, &answers[0], &answers[1]));
    assert!(!are_alike(Compared::Kind, &answers[0], &answers[1]));
}
