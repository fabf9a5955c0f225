//! What monitoring asks for, by HTTP: `/metrics` in the text format of Prometheus, `/healthz`, `/readyz`.
//!
//! A connection is answered once and closed. It has two seconds and [`HEAD_LEN_MAX`] bytes to ask.

use std::fmt::Write;
use std::io;
use std::net::{SocketAddr, TcpListener as Socket};
use std::sync::Arc;
use std::time::Duration;

use hammerspace_error::{Doing, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::server::Shared;
use crate::stats::{BUCKETS, FAMILIES};

const HEAD_LEN_MAX: usize = 8 << 10;
const PATIENCE: Duration = Duration::from_secs(2);
/// Connections at a time.
const CONNECTIONS_MAX: usize = 16;

pub(crate) fn bind(address: SocketAddr) -> Result<Socket> {
    let socket = Socket::bind(address).doing(format!("listen on {address} to be monitored"))?;
    socket.set_nonblocking(true).doing("listen to be monitored")?;
    Ok(socket)
}

/// Answers until the loop ends.
pub(crate) async fn serve(socket: Socket, shared: Arc<Shared>) {
    let listener = match TcpListener::from_std(socket) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "cannot listen to be monitored"),
    };
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    while let Ok(place) = places.clone().acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PATIENCE).await;
            continue;
        };
        let shared = shared.clone();
        tokio::spawn(async move {
            let _ = timeout(PATIENCE, answer(stream, &shared)).await;
            drop(place);
        });
    }
}

async fn answer(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let head = head(&mut stream).await?;
    let (status, text) = match path(&head) {
        Some("/metrics") => ("200 OK", metrics(shared)),
        Some("/healthz") => ("200 OK", "ok\n".into()),
        Some("/readyz") if *shared.stop.borrow() => ("503 Service Unavailable", "stopping\n".into()),
        Some("/readyz") => ("200 OK", "ready\n".into()),
        Some(_) => ("404 Not Found", "there are /metrics, /healthz and /readyz\n".into()),
        None => ("400 Bad Request", "ask by GET\n".into()),
    };
    let len = text.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {len}\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await
}

/// The head of a request, as far as it is no longer than it may be.
async fn head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while head.len() < HEAD_LEN_MAX && !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await? == 0 {
            break;
        }
    }
    Ok(head)
}

/// What is asked for.
fn path(head: &[u8]) -> Option<&str> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let path = std::str::from_utf8(line).ok()?.strip_prefix("GET ")?;
    path.split([' ', '?']).next()
}

/// A value that goes up and down, or only up.
fn one(text: &mut String, kind: &str, name: &str, help: &str, value: u64) {
    write!(text, "# HELP hammerspace_{name} {help}\n# TYPE hammerspace_{name} {kind}\nhammerspace_{name} {value}\n")
        .expect("a string takes all");
}

fn metrics(shared: &Shared) -> String {
    let (mut text, stats, usage) = (String::new(), &shared.stats, shared.databases.store().usage());
    let [served, refused] = stats.connections();
    for (name, help, value) in [
        ("clients", "Connections that are open.", shared.registry.len() as u64),
        ("memory_limit_bytes", "Memory that the store may use.", usage.limit),
        ("memory_used_bytes", "Memory of all segments in use.", usage.in_use()),
        ("memory_live_bytes", "Memory of live records.", usage.live),
        ("memory_index_bytes", "Memory of the index.", usage.index),
        ("keys", "Keys of the store, about.", shared.databases.store().keys()),
        ("uptime_seconds", "Time since the server started.", shared.since.elapsed().as_secs()),
    ] {
        one(&mut text, "gauge", name, help, value);
    }
    for (name, help, value) in [
        ("connections_total", "Connections that were served.", served),
        ("connections_refused_total", "Connections that were one too many.", refused),
        ("input_bytes_total", "Bytes received.", stats.sum(|lane| &lane.input_bytes)),
        ("output_bytes_total", "Bytes sent.", stats.sum(|lane| &lane.output_bytes)),
        ("hits_total", "Lookups that found a record.", stats.sum(|lane| &lane.hits)),
        ("misses_total", "Lookups that found none.", stats.sum(|lane| &lane.misses)),
        ("written_bytes_total", "Bytes that users wrote to the store.", usage.written),
        ("moved_bytes_total", "Bytes that cleaners moved.", usage.moved),
    ] {
        one(&mut text, "counter", name, help, value);
    }
    commands(&mut text, shared);
    latencies(&mut text, shared);
    text
}

fn commands(text: &mut String, shared: &Shared) {
    text.push_str("# HELP hammerspace_commands_total Calls of commands.\n# TYPE hammerspace_commands_total counter\n");
    for command in shared.commands.iter() {
        let made = shared.stats.command(command.at).made;
        if made > 0 {
            writeln!(text, "hammerspace_commands_total{{command=\"{}\"}} {made}", command.name)
                .expect("a string takes all");
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "seconds, of which six digits count")]
fn latencies(text: &mut String, shared: &Shared) {
    let name = "hammerspace_command_seconds";
    write!(text, "# HELP {name} How long commands took.\n# TYPE {name} histogram\n").expect("a string takes all");
    for (family, label) in FAMILIES.iter().enumerate() {
        let latencies = shared.stats.latencies(family);
        let mut count = 0;
        let mut lines = String::new();
        for (power, bucket) in latencies.buckets.iter().enumerate() {
            count += bucket;
            // The last bucket takes whatever is longer, too.
            if power == BUCKETS - 1 {
                break;
            }
            let bound = (1_u64 << power) as f64 / 1e6;
            writeln!(lines, "{name}_bucket{{family=\"{label}\",le=\"{bound}\"}} {count}").expect("a string takes all");
        }
        let sum = latencies.nanos as f64 / 1e9;
        write!(
            lines,
            "{name}_bucket{{family=\"{label}\",le=\"+Inf\"}} {count}\n{name}_sum{{family=\"{label}\"}} {sum}\n\
             {name}_count{{family=\"{label}\"}} {count}\n"
        )
        .expect("a string takes all");
        text.push_str(&lines);
    }
}
