//! Our server, redis-server of Debian, and a client of either.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hammerspace_resp::{Value, decode};
use hammerspace_server::{Address, Options, Server};
use hammerspace_space::Space;
use hammerspace_store::{Options as StoreOptions, Store};
use tempfile::TempDir;

/// How long a reply may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server of ours, on a socket of its own, over a store without a name.
pub(crate) struct Ours {
    pub(crate) store: Store,
    server: Option<Server>,
    directory: TempDir,
}

impl Ours {
    pub(crate) fn start() -> Self {
        Self::with(Vec::new(), Options::default())
    }

    pub(crate) fn with(spaces: Vec<(String, Space)>, options: Options) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::anonymous(&StoreOptions { cleaners: 1, ..StoreOptions::with_limit(256 << 20) }).unwrap();
        let listen =
            vec![Address::Unix(directory.path().join("socket"), 0o700), Address::Tcp(([127, 0, 0, 1], 0).into())];
        let server = Server::start(store.clone(), spaces, &Options { listen, loops: 2, ..options }).unwrap();
        Self { store, server: Some(server), directory }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.path().join("socket")
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.socket())
    }

    /// A client with its first commands behind it.
    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }
}

impl Drop for Ours {
    /// A test that is done has left a sound store.
    fn drop(&mut self) {
        let server = self.server.take().unwrap();
        server.stop();
        server.wait();
        if !thread::panicking() {
            assert_eq!(self.store.verify().unwrap().findings, Vec::<String>::new());
        }
    }
}

/// A redis-server of Debian, on a socket of its own.
pub(crate) struct Redis {
    child: Child,
    directory: TempDir,
}

impl Redis {
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new("redis-server");
        command.args(["--port", "0", "--save", "", "--unixsocket", "socket"]).current_dir(&directory);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let redis = Self { child: child.expect("redis-server, a package of Debian"), directory };
        let until = Instant::now() + PATIENCE;
        while UnixStream::connect(redis.socket()).is_err() {
            assert!(Instant::now() < until, "redis-server does not listen");
            thread::sleep(Duration::from_millis(5));
        }
        redis
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.path().join("socket")
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.socket())
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A connection to either.
pub(crate) struct Client {
    pub(crate) stream: UnixStream,
    input: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { stream, input: Vec::new() }
    }

    /// Sends a request, and gives the reply.
    pub(crate) fn ask<A: AsRef<[u8]>>(&mut self, args: &[A]) -> Value {
        self.send(&request(args));
        self.reply().unwrap()
    }

    /// The same of a request as a person types it.
    pub(crate) fn say(&mut self, line: &str) -> Value {
        self.send(format!("{line}\r\n").as_bytes());
        self.reply().unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next reply.
    pub(crate) fn reply(&mut self) -> io::Result<Value> {
        loop {
            if let Some((value, len)) = decode(&self.input).expect("the protocol") {
                self.input.drain(..len);
                return Ok(value);
            }
            let mut buffer = [0; 1 << 14];
            match self.stream.read(&mut buffer)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                len => self.input.extend_from_slice(&buffer[..len]),
            }
        }
    }

    /// All replies up to the end of the connection, which this client closes.
    pub(crate) fn rest(mut self) -> Vec<Value> {
        self.stream.shutdown(Shutdown::Write).ok();
        std::iter::from_fn(|| self.reply().ok()).collect()
    }
}

/// A request in the protocol.
pub(crate) fn request<A: AsRef<[u8]>>(args: &[A]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", args.len()).into_bytes();
    for arg in args.iter().map(AsRef::as_ref) {
        bytes.extend_from_slice(format!("${}\r\n", arg.len()).as_bytes());
        bytes.extend_from_slice(arg);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

pub(crate) fn bulk(text: &str) -> Value {
    Value::Bulk(text.into())
}

pub(crate) fn error(text: &str) -> Value {
    Value::Error(text.into())
}
