//! `hammerspace store import STORE --redis URL`.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use bytesize::ByteSize;
use clap::Args;
use hammerspace::Store;
use hammerspace::store::{DEFAULT_TABLE, Options, Put, TableOptions};
use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_resp::{Value, decode};
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;

/// Copy the strings of a Redis server that runs, with their times to live
#[derive(Args)]
pub(crate) struct Import {
    /// The directory of the store; made if it is missing
    store: PathBuf,
    /// The server and its database, as redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]
    #[arg(long, value_name = "URL", value_parser = Source::parse)]
    redis: Source,
    /// The table; made if it is missing
    #[arg(long, value_name = "NAME", default_value = DEFAULT_TABLE)]
    table: String,
    /// How much memory the store may take if it is made
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    limit: ByteSize,
}

/// A database of a server.
#[derive(Clone, Debug)]
struct Source {
    address: String,
    user: String,
    password: Option<String>,
    database: u32,
}

impl Source {
    fn parse(url: &str) -> Result<Self, String> {
        let bad = || "give redis://HOST, redis://HOST:PORT/DATABASE or redis://:PASSWORD@HOST".to_owned();
        let rest = url.strip_prefix("redis://").ok_or_else(bad)?;
        let (login, rest) = match rest.rsplit_once('@') {
            Some((login, rest)) => (Some(login.split_once(':').ok_or_else(bad)?), rest),
            None => (None, rest),
        };
        let (host, database) = rest.split_once('/').unwrap_or((rest, ""));
        let database = if database.is_empty() { Ok(0) } else { database.parse() };
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        if host.is_empty() {
            return Err(bad());
        }
        Ok(Self {
            address: if has_port { host.into() } else { format!("{host}:6379") },
            user: login.map_or("", |(user, _)| user).into(),
            password: login.map(|(_, password)| password.into()),
            database: database.map_err(|_| bad())?,
        })
    }
}

/// What was copied.
#[derive(Default, Serialize)]
struct Tally {
    copied: u64,
    /// Keys of other types.
    skipped: u64,
    /// Keys that ended while they were copied.
    expired: u64,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { copied, skipped, expired } = self;
        writeln!(f, "{copied} strings copied, {skipped} keys of other types skipped, {expired} expired meanwhile")
    }
}

/// Keys that are asked for at a time.
const PAGE: &str = "500";

impl Import {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let mut redis = Redis::connect(&self.redis)?;
        let store = Store::open_or_create(&self.store, &Options::with_limit(self.limit.as_u64()))?;
        let table = match store.table(&self.table) {
            Err(error) if error.kind() == Kind::Missing => store.create_table(&self.table, TableOptions::default())?,
            table => table?,
        };
        let (mut cursor, mut copied) = (b"0".to_vec(), Tally::default());
        loop {
            let keys = redis.page(&mut cursor)?;
            for (key, found) in redis.read(&keys)? {
                match found {
                    Found::String(value, expiry) => {
                        let put = Put { expiry, ..Put::default() };
                        let _ = table.put_with(key, value, &put)?;
                        copied.copied += 1;
                    }
                    Found::Other => copied.skipped += 1,
                    Found::Nothing => copied.expired += 1,
                }
            }
            if cursor == b"0" {
                break;
            }
        }
        out.done(&copied)?;
        Ok(if copied.skipped == 0 { Outcome::Found } else { Outcome::NotFound })
    }
}

/// What a key has.
enum Found {
    String(Vec<u8>, Option<SystemTime>),
    Other,
    Nothing,
}

/// A connection to a server.
struct Redis {
    stream: TcpStream,
    input: Vec<u8>,
    at: usize,
    name: String,
}

impl Redis {
    fn connect(source: &Source) -> Result<Self> {
        let stream = TcpStream::connect(&source.address).doing(format!("connect to {}", source.address))?;
        stream.set_read_timeout(Some(Duration::from_mins(1))).doing("connect")?;
        let mut redis = Self { stream, input: Vec::new(), at: 0, name: source.address.clone() };
        let database = source.database.to_string();
        let auth: Option<Vec<&str>> = source.password.as_deref().map(|password| match source.user.as_str() {
            "" => vec!["AUTH", password],
            user => vec!["AUTH", user, password],
        });
        for request in auth.into_iter().chain([vec!["SELECT", &database]]) {
            redis.send(&request.iter().map(|arg| arg.as_bytes()).collect::<Vec<_>>())?;
            redis.reply()?;
        }
        Ok(redis)
    }

    /// The next keys, and where to go on.
    fn page(&mut self, cursor: &mut Vec<u8>) -> Result<Vec<Vec<u8>>> {
        self.send(&[b"SCAN", cursor, b"COUNT", PAGE.as_bytes()])?;
        let Value::Array(page) = self.reply()? else { return Err(self.strange()) };
        let [Value::Bulk(next), Value::Array(keys)] = &page[..] else { return Err(self.strange()) };
        next.clone_into(cursor);
        let keys =
            keys.iter().map(|key| if let Value::Bulk(key) = key { Ok(key.clone()) } else { Err(self.strange()) });
        keys.collect()
    }

    /// What these keys have.
    fn read<'k>(&mut self, keys: &'k [Vec<u8>]) -> Result<Vec<(&'k [u8], Found)>> {
        for key in keys {
            for verb in [&b"TYPE"[..], b"PTTL"] {
                self.send(&[verb, key])?;
            }
        }
        let mut strings = Vec::new();
        for key in keys {
            let (Value::Simple(kind), Value::Integer(left)) = (self.reply()?, self.reply()?) else {
                return Err(self.strange());
            };
            let expiry = u64::try_from(left).ok().map(|left| SystemTime::now() + Duration::from_millis(left));
            strings.push((key, kind, expiry));
        }
        for (key, ..) in strings.iter().filter(|(_, kind, _)| kind == b"string") {
            self.send(&[b"GET", key])?;
        }
        let found = strings.into_iter().map(|(key, kind, expiry)| {
            let found = match &kind[..] {
                b"string" => match self.reply()? {
                    Value::Bulk(value) => Found::String(value, expiry),
                    _ => Found::Nothing,
                },
                b"none" => Found::Nothing,
                _ => Found::Other,
            };
            Ok((&key[..], found))
        });
        found.collect()
    }

    fn send(&mut self, args: &[&[u8]]) -> Result<()> {
        let mut bytes = format!("*{}\r\n", args.len()).into_bytes();
        for arg in args {
            bytes.extend_from_slice(format!("${}\r\n", arg.len()).as_bytes());
            bytes.extend_from_slice(arg);
            bytes.extend_from_slice(b"\r\n");
        }
        self.stream.write_all(&bytes).doing(format!("ask {}", self.name))
    }

    /// The next reply; one that is an error is one here.
    fn reply(&mut self) -> Result<Value> {
        loop {
            let found = decode(&self.input[self.at..]).map_err(|_| self.strange())?;
            if let Some((value, len)) = found {
                self.at += len;
                return match value {
                    Value::Error(text) => {
                        let text = String::from_utf8_lossy(&text).into_owned();
                        Err(Error::new(Kind::Invalid, format!("{} says: {text}", self.name)))
                    }
                    value => Ok(value),
                };
            }
            self.input.drain(..std::mem::take(&mut self.at));
            let mut buffer = [0; 1 << 14];
            let len = self.stream.read(&mut buffer).doing(format!("read from {}", self.name))?;
            if len == 0 {
                let cause = io::ErrorKind::UnexpectedEof.into();
                return Err(Error::io(format!("read from {}", self.name), cause));
            }
            self.input.extend_from_slice(&buffer[..len]);
        }
    }

    fn strange(&self) -> Error {
        let error = Error::new(Kind::Invalid, format!("{} gives an answer that is none of Redis", self.name));
        error.remedy("check the address")
    }
}
