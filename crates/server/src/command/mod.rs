//! The commands: this table of contents, and a file for each family.
//!
//! A row has what `COMMAND` says of a command: its name, its arity (a negative one is a minimum), its flags,
//! where its keys are (first, last, step), and the categories that access rules know it by. A name with a bar
//! is a subcommand. Two flags are ours, and not shown. While a command that is `alone` runs, no other does.
//! One that is `whole` looks at all keys of a database, and may not be part of a transaction.

#![expect(clippy::unnecessary_wraps, reason = "all commands have one signature")]

mod client;
mod config;
mod connection;
mod context;
mod counting;
mod execute;
mod expiry;
mod info;
mod inspect;
mod keys;
mod numbers;
mod own;
mod pubsub;
mod scan;
mod server;
mod strings;
mod table;
mod transactions;

pub(crate) use context::Context;
pub(crate) use execute::{Burst, Gathered, OUTPUT_PAUSE};
pub(crate) use pubsub::Subscriptions;
pub(crate) use table::{Command, Table};

pub(crate) use transactions::{Transaction, Watched};

use table::{Row, container, row};

const NO_KEYS: [i32; 3] = [0, 0, 0];
const ONE_KEY: [i32; 3] = [1, 1, 1];
const TWO_KEYS: [i32; 3] = [1, 2, 1];
const ALL_KEYS: [i32; 3] = [1, -1, 1];
const PAIRS: [i32; 3] = [1, -1, 2];

/// Flags of most commands of a connection.
const LOGIN: &str = "noscript loading stale fast no_auth allow_busy";
const CLIENT: &str = "noscript loading stale";
const ADMIN: &str = "admin noscript loading stale";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // Connections.
    row("auth", -2, LOGIN, NO_KEYS, "fast connection", connection::auth),
    row("echo", 2, "loading stale fast", NO_KEYS, "fast connection", connection::echo),
    row("hello", -1, LOGIN, NO_KEYS, "fast connection", connection::hello),
    row("ping", -1, "fast", NO_KEYS, "fast connection", connection::ping),
    row("quit", -1, LOGIN, NO_KEYS, "fast connection", connection::quit),
    row("reset", 1, LOGIN, NO_KEYS, "fast connection", connection::reset),
    row("select", 2, "loading stale fast", NO_KEYS, "fast connection", connection::select),
    container("client", -2, "", "slow"),
    row("client|getname", 2, CLIENT, NO_KEYS, "slow connection", client::getname),
    row("client|help", 2, "loading stale", NO_KEYS, "slow connection", server::help),
    row("client|id", 2, CLIENT, NO_KEYS, "slow connection", client::id),
    row("client|info", 2, CLIENT, NO_KEYS, "slow connection", client::info),
    row("client|kill", -3, ADMIN, NO_KEYS, "admin slow dangerous connection", client::kill),
    row("client|list", -2, ADMIN, NO_KEYS, "admin slow dangerous connection", client::list),
    row("client|no-evict", 3, ADMIN, NO_KEYS, "admin slow dangerous connection", client::no_evict),
    row("client|reply", 3, CLIENT, NO_KEYS, "slow connection", client::reply),
    row("client|setinfo", 4, CLIENT, NO_KEYS, "slow connection", client::setinfo),
    row("client|setname", 3, CLIENT, NO_KEYS, "slow connection", client::setname),
    // Strings.
    row("append", 3, "write denyoom fast", ONE_KEY, "write string fast", strings::append),
    row("get", 2, "readonly fast", ONE_KEY, "read string fast", strings::get),
    row("getdel", 2, "write fast", ONE_KEY, "write string fast", strings::getdel),
    row("getex", -2, "write fast", ONE_KEY, "write string fast", strings::getex),
    row("getrange", 4, "readonly", ONE_KEY, "read string slow", strings::getrange),
    row("getset", 3, "write denyoom fast", ONE_KEY, "write string fast", strings::getset),
    row("mget", -2, "readonly fast", ALL_KEYS, "read string fast", strings::mget),
    row("mset", -3, "write denyoom alone", PAIRS, "write string slow", strings::mset),
    row("msetnx", -3, "write denyoom alone", PAIRS, "write string slow", strings::msetnx),
    row("psetex", 4, "write denyoom", ONE_KEY, "write string slow", strings::psetex),
    row("set", -3, "write denyoom", ONE_KEY, "write string slow", strings::set),
    row("setex", 4, "write denyoom", ONE_KEY, "write string slow", strings::setex),
    row("setnx", 3, "write denyoom fast", ONE_KEY, "write string fast", strings::setnx),
    row("setrange", 4, "write denyoom", ONE_KEY, "write string slow", strings::setrange),
    row("strlen", 2, "readonly fast", ONE_KEY, "read string fast", strings::strlen),
    row("substr", 4, "readonly", ONE_KEY, "read string slow", strings::getrange),
    // Strings that are numbers.
    row("decr", 2, "write denyoom fast", ONE_KEY, "write string fast", numbers::decr),
    row("decrby", 3, "write denyoom fast", ONE_KEY, "write string fast", numbers::decrby),
    row("incr", 2, "write denyoom fast", ONE_KEY, "write string fast", numbers::incr),
    row("incrby", 3, "write denyoom fast", ONE_KEY, "write string fast", numbers::incrby),
    row("incrbyfloat", 3, "write denyoom fast", ONE_KEY, "write string fast", numbers::incrbyfloat),
    // Keys.
    row("copy", -3, "write denyoom alone", TWO_KEYS, "keyspace write slow", keys::copy),
    row("del", -2, "write alone", ALL_KEYS, "keyspace write slow", keys::del),
    row("exists", -2, "readonly fast", ALL_KEYS, "keyspace read fast", keys::exists),
    row("move", 3, "write fast alone", ONE_KEY, "keyspace write fast", keys::r#move),
    row("randomkey", 1, "readonly whole", NO_KEYS, "keyspace read slow", scan::randomkey),
    row("rename", 3, "write alone", TWO_KEYS, "keyspace write slow", keys::rename),
    row("renamenx", 3, "write fast alone", TWO_KEYS, "keyspace write fast", keys::renamenx),
    row("touch", -2, "readonly fast", ALL_KEYS, "keyspace read fast", keys::exists),
    row("type", 2, "readonly fast", ONE_KEY, "keyspace read fast", keys::r#type),
    row("unlink", -2, "write fast alone", ALL_KEYS, "keyspace write fast", keys::del),
    row("keys", 2, "readonly whole", NO_KEYS, "keyspace read slow dangerous", scan::keys),
    row("scan", -2, "readonly whole", NO_KEYS, "keyspace read slow", scan::scan),
    row("dbsize", 1, "readonly fast whole", NO_KEYS, "keyspace read fast", server::dbsize),
    row("flushall", -1, "write alone whole", NO_KEYS, "keyspace write slow dangerous", server::flushall),
    row("flushdb", -1, "write alone whole", NO_KEYS, "keyspace write slow dangerous", server::flushdb),
    // Expiry.
    row("expire", -3, "write fast", ONE_KEY, "keyspace write fast", expiry::expire),
    row("expireat", -3, "write fast", ONE_KEY, "keyspace write fast", expiry::expireat),
    row("expiretime", 2, "readonly fast", ONE_KEY, "keyspace read fast", expiry::expiretime),
    row("persist", 2, "write fast", ONE_KEY, "keyspace write fast", expiry::persist),
    row("pexpire", -3, "write fast", ONE_KEY, "keyspace write fast", expiry::pexpire),
    row("pexpireat", -3, "write fast", ONE_KEY, "keyspace write fast", expiry::pexpireat),
    row("pexpiretime", 2, "readonly fast", ONE_KEY, "keyspace read fast", expiry::pexpiretime),
    row("pttl", 2, "readonly fast", ONE_KEY, "keyspace read fast", expiry::pttl),
    row("ttl", 2, "readonly fast", ONE_KEY, "keyspace read fast", expiry::ttl),
    // HyperLogLog.
    row("pfadd", -2, "write denyoom fast", ONE_KEY, "write hyperloglog fast", counting::pfadd),
    row("pfcount", -2, "readonly alone", ALL_KEYS, "read hyperloglog slow", counting::pfcount),
    row("pfmerge", -2, "write denyoom alone", ALL_KEYS, "write hyperloglog slow", counting::pfmerge),
    // Our own.
    row("hs.cas", 4, "write denyoom fast no_multi", ONE_KEY, "write string fast", own::cas),
    row("hs.merge", 4, "write denyoom fast", ONE_KEY, "write string fast", own::merge),
    row("hs.refresh", 1, "readonly fast", NO_KEYS, "keyspace read fast", own::refresh),
    row("hs.version", 2, "readonly fast", ONE_KEY, "keyspace read fast", own::version),
    // Records and requests, looked at.
    container("memory", -2, "", "slow"),
    row("memory|help", 2, "loading stale", NO_KEYS, "slow", server::help),
    row("memory|usage", -3, "readonly", [2, 2, 1], "read slow", inspect::usage),
    container("object", -2, "", "slow"),
    row("object|encoding", 3, "readonly", [2, 2, 1], "keyspace read slow", inspect::encoding),
    row("object|help", 2, "loading stale", NO_KEYS, "keyspace slow", server::help),
    row("object|refcount", 3, "readonly", [2, 2, 1], "keyspace read slow", inspect::refcount),
    container("slowlog", -2, "", "slow"),
    row("slowlog|get", -2, "admin loading stale", NO_KEYS, "admin slow dangerous", inspect::slowlog_get),
    row("slowlog|help", 2, "loading stale", NO_KEYS, "slow", server::help),
    row("slowlog|len", 2, "admin loading stale", NO_KEYS, "admin slow dangerous", inspect::slowlog_len),
    row("slowlog|reset", 2, "admin loading stale", NO_KEYS, "admin slow dangerous", inspect::slowlog_reset),
    // Transactions.
    row("discard", 1, "noscript loading stale fast allow_busy", NO_KEYS, "fast transaction", transactions::discard),
    row("exec", 1, "noscript loading stale skip_slowlog alone", NO_KEYS, "slow transaction", transactions::exec),
    row("multi", 1, "noscript loading stale fast allow_busy", NO_KEYS, "fast transaction", transactions::multi),
    row("unwatch", 1, "noscript loading stale fast allow_busy", NO_KEYS, "fast transaction", transactions::unwatch),
    row("watch", -2, "noscript loading stale fast allow_busy", ALL_KEYS, "fast transaction", transactions::watch),
    // Channels.
    row("psubscribe", -2, "pubsub noscript loading stale", NO_KEYS, "pubsub slow", pubsub::psubscribe),
    row("publish", 3, "pubsub loading stale fast", NO_KEYS, "pubsub fast", pubsub::publish),
    row("punsubscribe", -1, "pubsub noscript loading stale", NO_KEYS, "pubsub slow", pubsub::punsubscribe),
    row("subscribe", -2, "pubsub noscript loading stale", NO_KEYS, "pubsub slow", pubsub::subscribe),
    row("unsubscribe", -1, "pubsub noscript loading stale", NO_KEYS, "pubsub slow", pubsub::unsubscribe),
    container("pubsub", -2, "", "slow"),
    row("pubsub|channels", -2, "pubsub loading stale", NO_KEYS, "pubsub slow", pubsub::channels),
    row("pubsub|help", 2, "loading stale", NO_KEYS, "slow", server::help),
    row("pubsub|numpat", 2, "pubsub loading stale", NO_KEYS, "pubsub slow", pubsub::numpat),
    row("pubsub|numsub", -2, "pubsub loading stale", NO_KEYS, "pubsub slow", pubsub::numsub),
    // The server.
    container("command", -1, "loading stale", "slow connection"),
    row("command|count", 2, "loading stale", NO_KEYS, "slow connection", server::command_count),
    row("command|getkeys", -4, "loading stale", NO_KEYS, "slow connection", server::command_getkeys),
    row("command|help", 2, "loading stale", NO_KEYS, "slow connection", server::help),
    row("command|info", -2, "loading stale", NO_KEYS, "slow connection", server::command_info),
    row("command|list", -2, "loading stale", NO_KEYS, "slow connection", server::command_list),
    container("config", -2, "", "slow"),
    row("config|get", -3, ADMIN, NO_KEYS, "admin slow dangerous", config::get),
    row("config|help", 2, "loading stale", NO_KEYS, "slow", server::help),
    row("config|resetstat", 2, ADMIN, NO_KEYS, "admin slow dangerous", config::resetstat),
    row("config|set", -4, ADMIN, NO_KEYS, "admin slow dangerous", config::set),
    row("info", -1, "loading stale", NO_KEYS, "slow dangerous", info::info),
    row("shutdown", -1, "admin noscript loading stale no_multi allow_busy", NO_KEYS, "admin slow dangerous", server::shutdown),
    row("time", 1, "loading stale fast", NO_KEYS, "fast", server::time),
];
