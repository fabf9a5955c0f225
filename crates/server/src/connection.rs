//! A connection: bytes in, requests executed in their order, replies out.
//!
//! ```text
//! loop { wait for bytes, mail or the end ──► burst: execute what is complete ──► write all replies }
//! ```
//!
//! - Nothing is read while replies are unwritten. So a client that does not read is not served, and costs
//!   what one burst and one reply cost.
//! - A burst ends early when replies come to `OUTPUT_PAUSE`, and goes on when they are written.
//! - Adjacent GETs of a burst are looked up as one batch.
//! - A connection that waits holds next to no buffers: it reads into one that its loop's connections share.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;
use std::time::Duration;

use hammerspace_resp::{Encoder, Limits, Parser};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::command::{Burst, Gathered, OUTPUT_PAUSE};
use crate::server::Shared;
use crate::session::Session;

/// Bytes that are read at a time.
const READ_LEN: usize = 64 << 10;
/// Buffers that are larger are given back when a connection waits.
const KEPT_LEN: usize = 4 << 10;
/// What a client may send before it has authenticated, as in Redis.
const BEFORE_LOGIN: Limits = Limits { args_max: 10, bulk_len_max: 16 << 10, line_len_max: 64 << 10 };

thread_local! {
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_LEN].into());
}

pub(crate) struct Connection<S> {
    stream: S,
    session: Session,
    parser: Parser,
    input: Vec<u8>,
    output: Vec<u8>,
    gets: Vec<Gathered>,
    shared: Arc<Shared>,
    lane: usize,
    has_all_limits: bool,
}

/// What a connection waited for.
enum Event {
    Bytes(usize),
    Mail,
    End,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(crate) fn new(stream: S, session: Session, shared: Arc<Shared>, lane: usize) -> Self {
        Self {
            stream,
            session,
            parser: Parser::new(BEFORE_LOGIN),
            input: Vec::new(),
            output: Vec::new(),
            gets: Vec::new(),
            shared,
            lane,
            has_all_limits: false,
        }
    }

    /// Serves the client until it leaves, or breaks the protocol, or the server stops.
    pub(crate) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        // An error of the socket ends the connection, and nobody is left to tell.
        let _ = self.serve(&mut stop).await;
        self.session.unsubscribe_all(&self.shared.broker);
    }

    async fn serve(&mut self, stop: &mut watch::Receiver<bool>) -> io::Result<()> {
        loop {
            loop {
                let is_paused = self.burst();
                self.session.client.collect(&mut self.output);
                self.flush().await?;
                if self.session.is_closing || self.session.client.is_killed() {
                    return self.stream.shutdown().await;
                }
                if !is_paused {
                    break;
                }
            }
            self.give_back_buffers();
            match self.wait(stop).await? {
                Event::Bytes(0) | Event::End => return Ok(()),
                Event::Bytes(len) => self.count_input(len),
                Event::Mail => {}
            }
        }
    }

    /// Waits for bytes, for what others send, or for the end: of the server, or of the time that a client may
    /// be idle.
    async fn wait(&mut self, stop: &mut watch::Receiver<bool>) -> io::Result<Event> {
        let idle = self.shared.config.patience(self.session.is_authenticated);
        let (stream, input) = (&mut self.stream, &mut self.input);
        tokio::select! {
            biased;
            _ = stop.wait_for(|is_stopping| *is_stopping) => Ok(Event::End),
            len = read(stream, input) => Ok(Event::Bytes(len?)),
            () = self.session.client.wake.notified() => Ok(Event::Mail),
            () = after(idle) => Ok(Event::End),
        }
    }

    fn count_input(&self, len: usize) {
        let client = &self.session.client;
        client.active.store(client.since.elapsed().as_millis() as u64, Relaxed);
        client.input_len.store(self.input.len(), Relaxed);
        self.shared.stats.lane(self.lane).input_bytes.fetch_add(len as u64, Relaxed);
    }

    /// Writes all replies. Gives up when the connection is killed.
    async fn flush(&mut self) -> io::Result<()> {
        let mut written = 0;
        while written < self.output.len() {
            let client = &self.session.client;
            tokio::select! {
                biased;
                len = self.stream.write(&self.output[written..]) => match len? {
                    0 => return Err(io::ErrorKind::WriteZero.into()),
                    len => written += len,
                },
                () = client.wake.notified() => {
                    if client.is_killed() {
                        return Err(io::ErrorKind::ConnectionAborted.into());
                    }
                    // What was sent meanwhile is collected when these replies are written.
                }
            }
        }
        self.shared.stats.lane(self.lane).output_bytes.fetch_add(written as u64, Relaxed);
        self.output.clear();
        Ok(())
    }

    fn give_back_buffers(&mut self) {
        for buffer in [&mut self.input, &mut self.output] {
            if buffer.is_empty() && buffer.capacity() > KEPT_LEN {
                *buffer = Vec::new();
            }
        }
    }

    /// Executes the requests that are complete. Says whether it paused before the last.
    fn burst(&mut self) -> bool {
        if self.session.is_authenticated && !self.has_all_limits {
            self.parser.set_limits(self.shared.config.limits());
            self.has_all_limits = true;
        }
        let Self { session, parser, input, output, gets, shared, lane, .. } = self;
        let mut burst = Burst::new(shared, session, *lane, output);
        let mut at = 0;
        let is_paused = loop {
            if burst.session.is_closing {
                break false;
            }
            if burst.output.len() >= OUTPUT_PAUSE {
                break true;
            }
            let request = match parser.next(&input[at..]) {
                Ok(Some(request)) => request,
                found => {
                    if let Some(end) = burst.get_many(input, gets) {
                        at = end;
                        break true;
                    }
                    found.map_or_else(|error| burst.refuse_protocol(error), drop);
                    break false;
                }
            };
            let end = at + request.len();
            if let Some(key) = request.range(1).filter(|_| burst.is_plain_get(&request)) {
                gets.push(Gathered { key: at + key.start..at + key.end, end });
            } else if let Some(end) = burst.get_many(input, gets) {
                at = end;
                break true;
            } else {
                burst.execute(request);
            }
            at = end;
        };
        self.input.drain(..at);
        self.check_input();
        is_paused
    }

    /// Ends a connection whose request is longer than one may be.
    fn check_input(&mut self) {
        if self.input.len() > self.shared.config.query_len_max() {
            let mut encoder = Encoder::new(&mut self.output, self.session.version);
            encoder.error("ERR Protocol error: the request is longer than client-query-buffer-limit");
            self.session.is_closing = true;
        }
    }
}

/// Appends what has arrived to `input`. The buffer that it is read into belongs to the thread.
async fn read(stream: &mut (impl AsyncRead + Unpin), input: &mut Vec<u8>) -> io::Result<usize> {
    poll_fn(|context| {
        SCRATCH.with_borrow_mut(|scratch| {
            let mut buffer = ReadBuf::new(scratch);
            match Pin::new(&mut *stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) => {
                    input.extend_from_slice(buffer.filled());
                    Poll::Ready(Ok(buffer.filled().len()))
                }
                Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                Poll::Pending => Poll::Pending,
            }
        })
    })
    .await
}

async fn after(time: Option<Duration>) {
    match time {
        Some(time) => sleep(time).await,
        None => pending().await,
    }
}
