//! What a server is started with.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A TCP socket.
    Tcp(SocketAddr),
    /// A Unix socket, with the mode of its file.
    Unix(PathBuf, u32),
}

/// What a server is started with; by default as redis-server has it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it listens.
    pub listen: Vec<Address>,
    /// Where `/metrics`, `/healthz` and `/readyz` are served, by HTTP.
    pub monitor: Option<SocketAddr>,
    /// Threads that serve connections; as many as cores by default.
    pub loops: usize,
    /// Numbered databases, each of which is a table of the store. Spaces have the numbers behind them.
    pub databases: usize,
    /// Connections at a time.
    pub clients_max: usize,
    /// The password of the default user.
    pub password: Option<String>,
    /// Whether clients from other hosts are refused while there is no password.
    pub is_protected: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: Vec::new(),
            monitor: None,
            loops: std::thread::available_parallelism().map_or(1, usize::from),
            databases: 16,
            clients_max: 10_000,
            password: None,
            is_protected: true,
        }
    }
}
