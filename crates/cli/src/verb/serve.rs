//! `hammerspace serve --store DIR`.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use clap::Args;
use hammerspace::store::Options as StoreOptions;
use hammerspace::{Space, Store};
use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_server::{Address, Options, Server};
use sd_notify::NotifyState;
use serde_json::json;

use crate::exit::Outcome;
use crate::output::Output;

/// Serve a store, and spaces, to any Redis client, until a signal or SHUTDOWN ends it
#[derive(Args)]
pub(crate) struct Serve {
    /// The directory of the store; made if it is missing
    #[arg(long, value_name = "DIRECTORY")]
    store: PathBuf,
    /// How much memory the store may take if it is made, such as 512MiB [default: half of the machine's]
    #[arg(long, value_name = "SIZE")]
    limit: Option<ByteSize>,
    /// A space, as a read-only database of this name
    #[arg(long = "space", value_name = "NAME=DIRECTORY", value_parser = named)]
    spaces: Vec<(String, PathBuf)>,
    /// An address to listen on, such as 127.0.0.1:6379 or 6379 [default: 127.0.0.1:6379, unless --unix is
    /// given]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    listen: Vec<SocketAddr>,
    /// A Unix socket to listen on
    #[arg(long, value_name = "PATH")]
    unix: Vec<PathBuf>,
    /// Who may connect to the Unix sockets, as chmod says it
    #[arg(long, value_name = "MODE", default_value = "700", value_parser = mode)]
    unix_mode: u32,
    /// A file whose first line is the password that clients must give
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// An address to be monitored at, by HTTP: /metrics for Prometheus, /healthz, /readyz
    #[arg(long, value_name = "ADDRESS")]
    monitor: Option<SocketAddr>,
    /// Connections at a time
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    max_clients: usize,
    /// Numbered databases
    #[arg(long, value_name = "COUNT", default_value_t = 16)]
    databases: usize,
    /// Threads that serve [default: one for each core]
    #[arg(long, value_name = "COUNT")]
    threads: Option<usize>,
}

const PORT: u16 = 6379;

fn named(given: &str) -> Result<(String, PathBuf), String> {
    match given.split_once('=') {
        Some((name, directory)) if !name.is_empty() && !directory.is_empty() => Ok((name.into(), directory.into())),
        _ => Err("give a name and a directory, such as words=/srv/words".into()),
    }
}

fn address(given: &str) -> Result<SocketAddr, String> {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let port = given.parse().map(|port| SocketAddr::new(loopback, port));
    let host = given.parse().map(|host| SocketAddr::new(host, PORT));
    given.parse().or(port).or(host).map_err(|_| "give an address and a port, such as 127.0.0.1:6379".into())
}

fn mode(given: &str) -> Result<u32, String> {
    let mode = u32::from_str_radix(given, 8).ok().filter(|mode| *mode <= 0o777);
    mode.ok_or_else(|| "give a mode in octal, such as 770".into())
}

impl Serve {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let options = self.options()?;
        let limit = self.limit.map_or_else(default_limit, |limit| Ok(limit.as_u64()))?;
        let store = Store::open_or_create(&self.store, &StoreOptions::with_limit(limit))?;
        let spaces = self.spaces.iter().map(|(name, path)| Ok((name.clone(), Space::open(path)?)));
        let server = Server::start(store, spaces.collect::<Result<_>>()?, &options)?;
        let stopper = server.stopper();
        ctrlc::set_handler(move || stopper.stop()).map_err(std::io::Error::other).doing("listen for signals")?;
        self.announce(&server, out)?;
        tell_systemd(NotifyState::Ready)?;
        server.wait();
        Ok(Outcome::Found)
    }

    fn options(&self) -> Result<Options> {
        let defaults = Options::default();
        Ok(Options {
            listen: self.addresses(),
            monitor: self.monitor,
            loops: self.threads.unwrap_or(defaults.loops),
            databases: self.databases,
            clients_max: self.max_clients,
            password: self.password_file.as_deref().map(password).transpose()?,
            ..defaults
        })
    }

    fn addresses(&self) -> Vec<Address> {
        let tcp = self.listen.iter().copied().map(Address::Tcp);
        let unix = self.unix.iter().map(|path| Address::Unix(path.clone(), self.unix_mode));
        let mut all: Vec<_> = tcp.chain(unix).collect();
        if all.is_empty() {
            all.push(Address::Tcp((Ipv4Addr::LOCALHOST, PORT).into()));
        }
        all
    }

    /// Says where it listens, once it does.
    fn announce(&self, server: &Server, out: &mut Output) -> Result<()> {
        let tcp = server.addresses().iter().map(ToString::to_string);
        let unix = self.unix.iter().map(|path| path.display().to_string());
        let all: Vec<_> = tcp.chain(unix).collect();
        if out.json() {
            let monitor = server.monitor().map(|address| address.to_string());
            out.object(&json!({ "store": self.store.to_string_lossy(), "listening": all, "monitor": monitor }))?;
        } else {
            out.bytes(format!("serving {} on {}\n", self.store.display(), all.join(", ")).as_bytes())?;
        }
        out.flush()
    }
}

/// Tells the service manager that started this process, if one asked to be told.
fn tell_systemd(state: NotifyState<'_>) -> Result<()> {
    sd_notify::notify(&[state]).doing("tell the service manager through NOTIFY_SOCKET")
}

/// The first line of a file.
fn password(file: &Path) -> Result<String> {
    let text = fs::read_to_string(file).doing("read the password").map_err(|error| error.file(file))?;
    match text.lines().next().filter(|line| !line.is_empty()) {
        Some(line) => Ok(line.into()),
        None => Err(Error::new(Kind::Invalid, "the password is empty").file(file).remedy("write it on the first line")),
    }
}

/// Half of the memory that the machine has, or that the process's cgroup may use.
fn default_limit() -> Result<u64> {
    let machine = fs::read_to_string("/proc/meminfo").doing("read how much memory there is")?;
    let total = machine.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let total = total.and_then(|kib| kib.trim().trim_end_matches(" kB").parse::<u64>().ok()).map(|kib| kib << 10);
    let total = total.into_iter().chain(cgroup_limit()).min();
    total.map(|total| total / 2).ok_or_else(|| {
        Error::new(Kind::Io, "/proc/meminfo does not say how much memory there is").remedy("give --limit")
    })
}

/// What the process's cgroup may use, if that is limited.
fn cgroup_limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let group = Path::new("/sys/fs/cgroup").join(group.trim_start_matches('/'));
    let limits = group.ancestors().filter_map(|group| fs::read_to_string(group.join("memory.max")).ok());
    limits.filter_map(|limit| limit.trim().parse().ok()).min()
}
