//! A server as a child process, and the connection to it.

use std::io::{BufRead, BufReader, BufWriter, Error, ErrorKind, Read, Result, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::resident;

/// How long a server may take until it listens.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) struct Server {
    child: Child,
    resident_at_start: u64,
    reader: BufReader<UnixStream>,
    writer: BufWriter<UnixStream>,
    /// Its socket lies here.
    _directory: TempDir,
}

impl Server {
    /// Starts a program, which is told where to make its socket, and connects.
    pub(super) fn start(command: impl FnOnce(&Path) -> Command) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let socket = directory.path().join("socket");
        let mut command = command(&socket);
        let mut child =
            command.current_dir(&directory).stdin(Stdio::null()).stdout(Stdio::null()).spawn().map_err(|error| {
                let program = command.get_program().display();
                Error::new(error.kind(), format!("{program} does not start, is its Debian package installed? {error}"))
            })?;
        let stream = connect(&socket, &mut child).inspect_err(|_| end(&mut child))?;
        let (reader, writer) = (BufReader::new(stream.try_clone()?), BufWriter::new(stream));
        let resident_at_start = resident(Some(child.id()))?;
        Ok(Self { child, resident_at_start, reader, writer, _directory: directory })
    }

    /// What is written here is sent by the next `line` or `block`, or when the buffer is full.
    pub(super) fn writer(&mut self) -> &mut impl Write {
        &mut self.writer
    }

    /// The next line of the answer, without its end.
    pub(super) fn line(&mut self, line: &mut String) -> Result<()> {
        self.writer.flush()?;
        line.clear();
        self.reader.read_line(line)?;
        if line.pop() != Some('\n') || line.pop() != Some('\r') {
            return Err(Error::new(ErrorKind::UnexpectedEof, "the server ends in the middle of a line"));
        }
        Ok(())
    }

    /// So many bytes of the answer, and the end of a line behind them.
    pub(super) fn block(&mut self, len: usize, block: &mut Vec<u8>) -> Result<()> {
        block.clear();
        block.resize(len + 2, 0);
        self.reader.read_exact(block)?;
        if !block.ends_with(b"\r\n") {
            return Err(unexpected("a block without an end"));
        }
        block.truncate(len);
        Ok(())
    }

    pub(super) fn memory_used(&self) -> Result<u64> {
        Ok(resident(Some(self.child.id()))?.saturating_sub(self.resident_at_start))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn connect(socket: &Path, child: &mut Child) -> Result<UnixStream> {
    let started = Instant::now();
    loop {
        match UnixStream::connect(socket) {
            Ok(stream) => return Ok(stream),
            Err(error) if started.elapsed() > PATIENCE => return Err(error),
            Err(_) => {}
        }
        if let Some(status) = child.try_wait()? {
            return Err(Error::other(format!("the server ended before it listened: {status}")));
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Nothing that a child of ours holds is wanted any more; that it is gone already is no fault.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// The server said something else than its protocol has.
pub(super) fn unexpected(answer: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("unexpected answer: {answer}"))
}
