//! A server: its loops, from the first connection to the last.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_space::Space;
use hammerspace_store::Store;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::broker::Broker;
use crate::command::Table;
use crate::config::Config;
use crate::connection::Connection;
use crate::database::Databases;
use crate::events::Events;
use crate::gate::Gate;
use crate::listener::{Accepted, Listener, Stream};
use crate::monitor;
use crate::options::Options;
use crate::registry::Registry;
use crate::session::Session;
use crate::slowlog::SlowLog;
use crate::stats::Stats;

/// The version of Redis whose commands, semantics and error texts these are.
pub(crate) const REDIS_VERSION: &str = "7.0.15";
/// How long connections have to come to an end when the server stops.
const DRAIN: Duration = Duration::from_secs(10);

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) commands: Table,
    pub(crate) databases: Databases,
    pub(crate) config: Config,
    pub(crate) registry: Registry,
    pub(crate) gate: Gate,
    pub(crate) broker: Broker,
    pub(crate) events: Events,
    pub(crate) slow_log: SlowLog,
    pub(crate) stats: Stats,
    pub(crate) since: Instant,
    /// Forty hexadecimal digits that no other run of a server has.
    pub(crate) run_id: String,
    pub(crate) stop: watch::Sender<bool>,
}

/// A server that runs, until it is told to stop: by [`stop`](Self::stop), or by the command `SHUTDOWN`.
///
/// It is the store's owner for as long as it runs; any process reads the store meanwhile.
///
/// ```
/// use hammerspace_server::{Address, Options, Server};
/// use hammerspace_store::{Options as StoreOptions, Store};
///
/// let store = Store::anonymous(&StoreOptions::with_limit(64 << 20))?;
/// let loopback = Address::Tcp(([127, 0, 0, 1], 0).into());
/// let options = Options { listen: vec![loopback], ..Options::default() };
/// let server = Server::start(store.clone(), Vec::new(), &options)?;
/// println!("redis-cli -p {}", server.addresses()[0].port());
/// server.stop();
/// server.wait();
/// # Ok::<(), hammerspace_store::Error>(())
/// ```
pub struct Server {
    shared: Arc<Shared>,
    loops: Vec<JoinHandle<()>>,
    addresses: Vec<SocketAddr>,
    monitor: Option<SocketAddr>,
}

impl Server {
    /// Serves a store, which this process owns, and spaces by their names. Listens when it returns.
    pub fn start(store: Store, spaces: Vec<(String, Space)>, options: &Options) -> Result<Self> {
        let listeners = options.listen.iter().map(Listener::bind).collect::<Result<Vec<_>>>()?;
        let monitor = options.monitor.map(monitor::bind).transpose()?;
        let monitored = monitor.as_ref().and_then(|socket| socket.local_addr().ok());
        let addresses = listeners.iter().filter_map(Listener::address).collect();
        let loops = options.loops.max(1);
        let commands = Table::new();
        let shared = Arc::new(Shared {
            stats: Stats::new(loops, commands.len()),
            commands,
            databases: Databases::new(store, options.databases, spaces)?,
            config: Config::new(options),
            registry: Registry::default(),
            gate: Gate::new(loops),
            broker: Broker::default(),
            events: Events::default(),
            slow_log: SlowLog::default(),
            since: Instant::now(),
            run_id: (0..40).map(|_| fastrand::char('a'..='f')).collect(),
            stop: watch::channel(false).0,
        });
        let mut server = Self { shared, loops: Vec::new(), addresses, monitor: monitored };
        server.run(First { listeners, monitor }, loops)?;
        Ok(server)
    }

    fn run(&mut self, first: First, loops: usize) -> Result<()> {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..loops).map(|_| mpsc::unbounded_channel()).unzip();
        let mut first = Some((first, senders));
        for (lane, receiver) in receivers.into_iter().enumerate() {
            let runtime = Builder::new_current_thread().enable_all().build().doing("start a loop")?;
            let (shared, first) = (self.shared.clone(), first.take());
            let work = move || run_loop(&runtime, &shared, lane, receiver, first);
            let thread = thread::Builder::new().name(format!("loop {lane}")).spawn(work).doing("start a loop")?;
            self.loops.push(thread);
        }
        Ok(())
    }

    /// The TCP addresses that it listens on.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The address that it is monitored at.
    pub fn monitor(&self) -> Option<SocketAddr> {
        self.monitor
    }

    /// Tells it to stop: it accepts nobody any more, answers what it has received, and closes all
    /// connections.
    pub fn stop(&self) {
        self.shared.stop.send_replace(true);
    }

    /// Gives what a thread that waits for signals stops it by.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.shared.clone())
    }

    /// Waits until it has stopped.
    pub fn wait(self) {
        for thread in self.loops {
            // A loop that panicked has said so.
            let _ = thread.join();
        }
    }
}

/// Stops a server from another thread.
#[derive(Clone)]
pub struct Stopper(Arc<Shared>);

impl Stopper {
    /// As [`Server::stop`].
    pub fn stop(&self) {
        self.0.stop.send_replace(true);
    }
}

/// What the first loop does for all of them.
#[derive(Default)]
struct First {
    listeners: Vec<Listener>,
    monitor: Option<TcpListener>,
}

type Receiver = mpsc::UnboundedReceiver<Accepted>;
type Senders = Vec<mpsc::UnboundedSender<Accepted>>;

/// Serves the connections that come to a loop. The first loop accepts for all of them.
fn run_loop(
    runtime: &Runtime,
    shared: &Arc<Shared>,
    lane: usize,
    mut receiver: Receiver,
    first: Option<(First, Senders)>,
) {
    runtime.block_on(async {
        let mut acceptors = JoinSet::new();
        let (first, senders) = first.unwrap_or_default();
        if let Some(socket) = first.monitor {
            acceptors.spawn(monitor::serve(socket, shared.clone()));
        }
        for listener in first.listeners {
            acceptors.spawn(accept(listener, senders.clone(), shared.clone()));
        }
        let mut connections = JoinSet::new();
        let mut stop = shared.stop.subscribe();
        loop {
            tokio::select! {
                _ = stop.wait_for(|is_stopping| *is_stopping) => break,
                accepted = receiver.recv() => match accepted {
                    Some(accepted) => { connections.spawn(serve(accepted, shared.clone(), lane)); }
                    None => break,
                },
                Some(_) = connections.join_next() => {}
            }
        }
        acceptors.abort_all();
        let _ = timeout(DRAIN, async { while connections.join_next().await.is_some() {} }).await;
    });
}

/// Accepts connections, and hands them to the loops in turn.
async fn accept(listener: Listener, loops: Senders, shared: Arc<Shared>) {
    let listener = match listener.listen() {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "cannot listen"),
    };
    for lane in (0..loops.len()).cycle() {
        match listener.accept().await.and_then(|arrived| arrived.admit(&shared)) {
            Ok(Some(accepted)) => {
                // A loop that has ended serves nobody; the connection is closed.
                let _ = loops[lane].send(accepted);
            }
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                // Too many open files pass. A client that has gone already keeps nobody waiting.
                if Error::io("accept", error).kind() == Kind::Full {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

/// Serves a connection to its end.
async fn serve(accepted: Accepted, shared: Arc<Shared>, lane: usize) {
    let client = accepted.client;
    let id = client.id;
    let session = Session::new(client, !shared.config.has_password());
    let stop = shared.stop.subscribe();
    match accepted.stream.into_tokio() {
        Ok(Stream::Tcp(stream)) => Connection::new(stream, session, shared.clone(), lane).run(stop).await,
        Ok(Stream::Unix(stream)) => Connection::new(stream, session, shared.clone(), lane).run(stop).await,
        Err(error) => tracing::warn!(%error, "cannot serve a connection"),
    }
    shared.registry.leave(id);
}
