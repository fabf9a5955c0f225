//! Where clients come in.

use std::fs;
use std::io::{self, Write};
use std::net::{self, IpAddr, SocketAddr};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net as unix;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hammerspace_error::{Doing, Error, Kind, Result};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use crate::client::Client;
use crate::options::Address;
use crate::server::Shared;

/// What a client from another host is told while there is no password, in the words of Redis.
const PROTECTED: &str = "-DENIED The server is running in protected mode because protected mode is enabled and no \
    password is set for the default user. In this mode connections are only accepted from the loopback interface. \
    Set a password with --password-file or CONFIG SET requirepass, or switch protected mode off.\r\n";
const CROWDED: &str = "-ERR max number of clients reached\r\n";

/// A socket that is bound.
pub(crate) struct Listener {
    socket: Socket,
    /// The file of a Unix socket, which goes with it.
    file: Option<SocketFile>,
}

enum Socket {
    Tcp(net::TcpListener),
    Unix(unix::UnixListener),
}

impl Listener {
    pub(crate) fn bind(address: &Address) -> Result<Self> {
        match address {
            Address::Tcp(address) => {
                let socket = net::TcpListener::bind(address).doing(format!("listen on {address}"))?;
                Ok(Self { socket: Socket::Tcp(socket), file: None })
            }
            Address::Unix(path, mode) => {
                let (socket, file) = bind_unix(path, *mode)?;
                Ok(Self { socket: Socket::Unix(socket), file: Some(file) })
            }
        }
    }

    /// The TCP address it is bound to.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        match &self.socket {
            Socket::Tcp(socket) => socket.local_addr().ok(),
            Socket::Unix(_) => None,
        }
    }

    /// Registers the socket with the loop that calls this.
    pub(crate) fn listen(self) -> io::Result<Listening> {
        let socket = match self.socket {
            Socket::Tcp(socket) => {
                socket.set_nonblocking(true)?;
                Acceptor::Tcp(TcpListener::from_std(socket)?)
            }
            Socket::Unix(socket) => {
                socket.set_nonblocking(true)?;
                Acceptor::Unix(UnixListener::from_std(socket)?)
            }
        };
        Ok(Listening { socket, file: self.file })
    }
}

/// Binds a Unix socket. A file that a server left behind is removed; anything else that is there stays.
fn bind_unix(path: &Path, mode: u32) -> Result<(unix::UnixListener, SocketFile)> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if is_socket {
        if unix::UnixStream::connect(path).is_ok() {
            let error = Error::new(Kind::Busy, "another process listens on this socket").file(path);
            return Err(error.remedy("stop that one, or choose another path"));
        }
        fs::remove_file(path).doing(format!("remove the socket {}, which nobody listens on", path.display()))?;
    }
    let socket = unix::UnixListener::bind(path).doing(format!("listen on {}", path.display()))?;
    let file = SocketFile(path.to_path_buf());
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).doing("set the mode of the socket")?;
    Ok((socket, file))
}

/// The file of a socket, removed when nobody listens any more.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A socket that a loop accepts from.
pub(crate) struct Listening {
    socket: Acceptor,
    file: Option<SocketFile>,
}

enum Acceptor {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listening {
    /// The next connection.
    pub(crate) async fn accept(&self) -> io::Result<Arrived> {
        match &self.socket {
            Acceptor::Tcp(socket) => {
                let (stream, peer) = socket.accept().await?;
                let local = stream.local_addr()?.to_string();
                Ok(Arrived { stream: Stream::Tcp(stream), peer: Some(peer), addr: peer.to_string(), local })
            }
            Acceptor::Unix(socket) => {
                let (stream, _) = socket.accept().await?;
                let path = self.file.as_ref().map(|file| file.0.display().to_string()).unwrap_or_default();
                let addr = format!("{path}:0");
                Ok(Arrived { stream: Stream::Unix(stream), peer: None, addr: addr.clone(), local: addr })
            }
        }
    }
}

/// A connection that nobody has looked at.
pub(crate) struct Arrived {
    stream: Stream<TcpStream, UnixStream>,
    peer: Option<SocketAddr>,
    addr: String,
    local: String,
}

/// The two kinds of connections.
pub(crate) enum Stream<T, U> {
    Tcp(T),
    Unix(U),
}

/// A connection that is to be served, on its way to a loop.
pub(crate) struct Accepted {
    pub(crate) stream: Stream<net::TcpStream, unix::UnixStream>,
    pub(crate) client: Arc<Client>,
}

impl Arrived {
    /// Lets the client in, or tells it why not.
    pub(crate) fn admit(self, shared: &Shared) -> io::Result<Option<Accepted>> {
        let is_near = self.peer.is_none_or(|peer| is_loopback(peer.ip()));
        let keepalive = shared.config.keepalive();
        let mut stream = self.stream.into_std(keepalive)?;
        if !is_near && shared.config.is_protected() && !shared.config.has_password() {
            stream.refuse(PROTECTED);
            return Ok(None);
        }
        let Some(client) = shared.registry.enter(self.addr, self.local, shared.config.clients_max()) else {
            shared.stats.count_refused();
            stream.refuse(CROWDED);
            return Ok(None);
        };
        shared.stats.count_connection();
        Ok(Some(Accepted { stream, client }))
    }
}

fn is_loopback(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V6(ip) => ip.to_ipv4_mapped().map_or(ip.is_loopback(), |ip| ip.is_loopback()),
        IpAddr::V4(ip) => ip.is_loopback(),
    }
}

impl Stream<TcpStream, UnixStream> {
    /// Takes it away from this loop. The other end of a TCP connection is asked now and then whether it is
    /// still there.
    fn into_std(self, keepalive: Option<Duration>) -> io::Result<Stream<net::TcpStream, unix::UnixStream>> {
        Ok(match self {
            Self::Tcp(stream) => {
                stream.set_nodelay(true)?;
                if let Some(time) = keepalive {
                    let probes = TcpKeepalive::new().with_time(time).with_interval(time / 3).with_retries(3);
                    let socket = SockRef::from(&stream);
                    socket.set_tcp_keepalive(&probes)?;
                    // Replies that a half-open connection never acknowledges end it as soon.
                    socket.set_tcp_user_timeout(Some(2 * time))?;
                }
                Stream::Tcp(stream.into_std()?)
            }
            Self::Unix(stream) => Stream::Unix(stream.into_std()?),
        })
    }
}

impl Stream<net::TcpStream, unix::UnixStream> {
    /// Registers it with the loop that calls this.
    pub(crate) fn into_tokio(self) -> io::Result<Stream<TcpStream, UnixStream>> {
        Ok(match self {
            Self::Tcp(stream) => Stream::Tcp(TcpStream::from_std(stream)?),
            Self::Unix(stream) => Stream::Unix(UnixStream::from_std(stream)?),
        })
    }

    /// Says why, as far as the socket takes it at once.
    fn refuse(&mut self, why: &str) {
        let _ = match self {
            Self::Tcp(stream) => stream.write(why.as_bytes()),
            Self::Unix(stream) => stream.write(why.as_bytes()),
        };
    }
}
