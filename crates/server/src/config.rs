//! Settings by the names that people know: `CONFIG GET` and `CONFIG SET`.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI64};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use hammerspace_resp::Limits;

use crate::options::{Address, Options};
use crate::server::Shared;

/// The settings of a server that runs.
#[derive(Debug)]
pub(crate) struct Config {
    numbers: [AtomicI64; NUMBERS.len()],
    is_protected: AtomicBool,
    password: RwLock<String>,
    listen: Vec<Address>,
}

/// A setting that is a number, by its place in [`NUMBERS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
enum Number {
    ClientsMax,
    Timeout,
    LoginTimeout,
    Keepalive,
    BulkLenMax,
    QueryLenMax,
    OutputLenMax,
    PushLenMax,
    SlowMicros,
    SlowLenMax,
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Plain,
    /// Bytes, which may be given with a unit such as `mb`.
    Bytes,
}

/// A setting that is a number: its name, its unit, the least and the greatest that it can be, and the
/// default.
struct Ranged(&'static str, Unit, i64, i64, i64);

const NUMBERS: [Ranged; 10] = [
    Ranged("maxclients", Unit::Plain, 1, u32::MAX as i64, 10_000),
    Ranged("timeout", Unit::Plain, 0, i32::MAX as i64, 0),
    Ranged("hs-login-timeout", Unit::Plain, 0, i32::MAX as i64, 60),
    Ranged("tcp-keepalive", Unit::Plain, 0, i32::MAX as i64, 300),
    Ranged("proto-max-bulk-len", Unit::Bytes, 1 << 20, 1 << 30, 512 << 20),
    Ranged("client-query-buffer-limit", Unit::Bytes, 1 << 20, i64::MAX, 1 << 30),
    Ranged("hs-output-limit", Unit::Bytes, 1 << 20, i64::MAX, 1 << 30),
    Ranged("hs-push-limit", Unit::Bytes, 1 << 10, i64::MAX, 32 << 20),
    Ranged("slowlog-log-slower-than", Unit::Plain, -1, i64::MAX, 10_000),
    Ranged("slowlog-max-len", Unit::Plain, 0, 1 << 20, 128),
];

/// What `CONFIG SET` says of a value that cannot be.
pub(crate) enum Refused {
    Unknown,
    Immutable,
    Value(String),
}

impl Config {
    pub(crate) fn new(options: &Options) -> Self {
        let config = Self {
            numbers: NUMBERS.map(|Ranged(.., default)| AtomicI64::new(default)),
            is_protected: AtomicBool::new(options.is_protected),
            password: RwLock::new(options.password.clone().unwrap_or_default()),
            listen: options.listen.clone(),
        };
        config.numbers[Number::ClientsMax as usize].store(options.clients_max as i64, Relaxed);
        config
    }

    fn number(&self, which: Number) -> i64 {
        self.numbers[which as usize].load(Relaxed)
    }

    fn seconds(&self, which: Number) -> Option<Duration> {
        u64::try_from(self.number(which)).ok().filter(|seconds| *seconds > 0).map(Duration::from_secs)
    }

    pub(crate) fn clients_max(&self) -> usize {
        self.number(Number::ClientsMax) as usize
    }

    /// How long a client may say nothing.
    pub(crate) fn patience(&self, is_authenticated: bool) -> Option<Duration> {
        self.seconds(if is_authenticated { Number::Timeout } else { Number::LoginTimeout })
    }

    pub(crate) fn keepalive(&self) -> Option<Duration> {
        self.seconds(Number::Keepalive)
    }

    pub(crate) fn bulk_len_max(&self) -> usize {
        self.number(Number::BulkLenMax) as usize
    }

    /// Limits of a client that has authenticated.
    pub(crate) fn limits(&self) -> Limits {
        Limits { args_max: 1 << 20, bulk_len_max: self.bulk_len_max(), ..Limits::default() }
    }

    pub(crate) fn query_len_max(&self) -> usize {
        self.number(Number::QueryLenMax) as usize
    }

    /// Bytes that the replies to a request may have.
    pub(crate) fn output_len_max(&self) -> usize {
        self.number(Number::OutputLenMax) as usize
    }

    /// Bytes of messages that a client may leave unread.
    pub(crate) fn push_len_max(&self) -> usize {
        self.number(Number::PushLenMax) as usize
    }

    /// From how long on a request is kept in the slow log, if any is.
    pub(crate) fn slow(&self) -> Option<Duration> {
        u64::try_from(self.number(Number::SlowMicros)).ok().map(Duration::from_micros)
    }

    /// Requests that the slow log keeps.
    pub(crate) fn slow_len_max(&self) -> usize {
        self.number(Number::SlowLenMax) as usize
    }

    pub(crate) fn is_protected(&self) -> bool {
        self.is_protected.load(Relaxed)
    }

    pub(crate) fn has_password(&self) -> bool {
        !self.password().is_empty()
    }

    /// Whether this is the password, in a time that does not depend on how much of it is right.
    pub(crate) fn is_password(&self, given: &[u8]) -> bool {
        let password = self.password();
        let password = password.as_bytes();
        let difference = (0..given.len()).fold(given.len() ^ password.len(), |difference, at| {
            difference | usize::from(given[at] ^ password.get(at).copied().unwrap_or(0))
        });
        difference == 0
    }

    fn password(&self) -> RwLockReadGuard<'_, String> {
        self.password.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn address(&self, text: impl Fn(&Address) -> Option<String>) -> String {
        self.listen.iter().filter_map(text).collect::<Vec<_>>().join(" ")
    }
}

/// All settings, by name.
pub(crate) fn all(shared: &Shared) -> Vec<(&'static str, String)> {
    let config = &shared.config;
    let mut all: Vec<_> = NUMBERS
        .iter()
        .zip(&config.numbers)
        .map(|(Ranged(name, ..), number)| (*name, number.load(Relaxed).to_string()))
        .collect();
    all.extend([
        ("appendonly", "no".into()),
        (
            "bind",
            config.address(|address| match address {
                Address::Tcp(address) => Some(address.ip().to_string()),
                Address::Unix(..) => None,
            }),
        ),
        ("databases", shared.databases.tables().to_string()),
        ("maxmemory", shared.databases.store().usage().limit.to_string()),
        ("maxmemory-policy", "noeviction".into()),
        ("notify-keyspace-events", shared.events.letters()),
        (
            "port",
            config.address(|address| match address {
                Address::Tcp(address) => Some(address.port().to_string()),
                Address::Unix(..) => None,
            }),
        ),
        ("protected-mode", yes_or_no(config.is_protected())),
        ("requirepass", config.password().clone()),
        ("save", String::new()),
        (
            "unixsocket",
            config.address(|address| match address {
                Address::Tcp(_) => None,
                Address::Unix(path, _) => Some(path.display().to_string()),
            }),
        ),
    ]);
    all
}

fn yes_or_no(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.into()
}

/// Changes a setting.
pub(crate) fn set(shared: &Shared, name: &str, value: &[u8]) -> Result<(), Refused> {
    let config = &shared.config;
    if let Some(at) = NUMBERS.iter().position(|Ranged(known, ..)| *known == name) {
        config.numbers[at].store(NUMBERS[at].parse(value)?, Relaxed);
        return Ok(());
    }
    match name {
        "requirepass" => {
            let text = std::str::from_utf8(value).map_err(|_| Refused::Value("argument must be UTF-8".into()))?;
            *config.password.write().unwrap_or_else(PoisonError::into_inner) = text.into();
            Ok(())
        }
        "protected-mode" => {
            config.is_protected.store(truth(value)?, Relaxed);
            Ok(())
        }
        "maxmemory" => {
            let limit = bytes(value).and_then(|limit| u64::try_from(limit).ok());
            let limit = limit.ok_or_else(|| Refused::Value("argument must be a memory value".into()))?;
            shared.databases.store().set_limit(limit).map_err(|error| Refused::Value(error.to_string()))
        }
        "notify-keyspace-events" if shared.events.set(value) => Ok(()),
        "notify-keyspace-events" => Err(Refused::Value("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.".into())),
        // Clients switch persistence off before they measure. There is none to be switched.
        "save" if value.is_empty() => Ok(()),
        "appendonly" if value == b"no" => Ok(()),
        name if all(shared).iter().any(|(known, _)| *known == name) => Err(Refused::Immutable),
        _ => Err(Refused::Unknown),
    }
}

impl Ranged {
    fn parse(&self, value: &[u8]) -> Result<i64, Refused> {
        let Self(_, unit, least, most, _) = *self;
        let (number, wanted) = match unit {
            Unit::Plain => (hammerspace_resp::number(value), "argument couldn't be parsed into an integer"),
            Unit::Bytes => (bytes(value), "argument must be a memory value"),
        };
        let number = number.ok_or_else(|| Refused::Value(wanted.into()))?;
        if (least..=most).contains(&number) {
            return Ok(number);
        }
        Err(Refused::Value(format!("argument must be between {least} and {most} inclusive")))
    }
}

fn truth(value: &[u8]) -> Result<bool, Refused> {
    match value.to_ascii_lowercase().as_slice() {
        b"yes" => Ok(true),
        b"no" => Ok(false),
        _ => Err(Refused::Value("argument must be 'yes' or 'no'".into())),
    }
}

/// Bytes, as `100`, `100kb` or `1gb`: kb, mb and gb are powers of 1024, and k, m and g of 1000, as in Redis.
fn bytes(value: &[u8]) -> Option<i64> {
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, unit) = value.split_at(digits);
    let unit: i64 = match unit.to_ascii_lowercase().as_slice() {
        b"" | b"b" => 1,
        b"k" => 1000,
        b"kb" => 1 << 10,
        b"m" => 1_000_000,
        b"mb" => 1 << 20,
        b"g" => 1_000_000_000,
        b"gb" => 1 << 30,
        _ => return None,
    };
    hammerspace_resp::number(number)?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_its_place_and_its_default_is_allowed() {
        assert_eq!(NUMBERS[Number::SlowLenMax as usize].0, "slowlog-max-len");
        assert_eq!(NUMBERS[Number::Timeout as usize].0, "timeout");
        for Ranged(name, _, least, most, default) in NUMBERS {
            assert!((least..=most).contains(&default), "{name}");
        }
    }

    #[test]
    fn bytes_have_units() {
        for (text, wanted) in [("17", Some(17)), ("1k", Some(1000)), ("1KB", Some(1024)), ("2gb", Some(2 << 30))] {
            assert_eq!(bytes(text.as_bytes()), wanted);
        }
        assert_eq!([bytes(b"x"), bytes(b"1tb"), bytes(b"9223372036854775807gb"), bytes(b"")], [None; 4]);
    }
}
