//! A Java program behind a pipe: one request a line, one answer a line, their words separated by tabs.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Result;

/// A running JVM. It ends with this handle.
pub(crate) struct Jvm {
    process: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Jvm {
    /// Starts a class that `cargo xtask test` built into this directory, for a short life: most of that is
    /// spent in starting, so there is no second compiler, and no parallel collector.
    pub(crate) fn start(built: &Path, class: &str) -> Result<Self> {
        Self::start_with(built, class, &["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"])
    }

    /// The same as Java starts by itself, to be measured once it is warm.
    pub(crate) fn start_to_measure(built: &Path, class: &str) -> Result<Self> {
        Self::start_with(built, class, &[])
    }

    fn start_with(built: &Path, class: &str, options: &[&str]) -> Result<Self> {
        let remedy = "build it with `cargo xtask test` or `bench`, which also install what that needs";
        if !built.join(format!("classes/{class}.class")).exists() {
            return Err(format!("the Java peer is not in {}; {remedy}", built.display()));
        }
        let class_path = format!("{0}/classes:{0}/dependency/*", built.display());
        let mut command = Command::new("java");
        command.args(options).args(["-cp", &class_path, class]);
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = spawned.map_err(|cause| format!("java cannot be started: {cause}; {remedy}"))?;
        let (requests, answers) = (process.stdin.take(), process.stdout.take().expect("it is piped"));
        Ok(Self { process, requests, answers: BufReader::new(answers) })
    }

    /// Sends one request, and gives the words of the answer behind its `ok`; `None` for `absent`.
    pub(crate) fn ask(&mut self, words: &[&str]) -> Result<Option<Vec<String>>> {
        let mut line = words.join("\t");
        line.push('\n');
        let requests = self.requests.as_mut().expect("open until dropped");
        requests.write_all(line.as_bytes()).map_err(|cause| format!("the JVM is gone: {cause}"))?;
        line.clear();
        self.answers.read_line(&mut line).map_err(|cause| format!("the JVM is gone: {cause}"))?;
        let mut answer = line.trim_end_matches('\n').split('\t').map(String::from);
        match answer.next().as_deref() {
            Some("ok") => Ok(Some(answer.collect())),
            Some("absent") => Ok(None),
            _ => Err(line.trim_end().to_string()),
        }
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        // The program ends when there is nothing more to read.
        self.requests = None;
        let _ = self.process.wait();
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes().chunks(2).map(|pair| (digit(pair[0]) << 4) | digit(pair[1])).collect()
}

fn digit(letter: u8) -> u8 {
    char::from(letter).to_digit(16).expect("the driver answers in hexadecimal") as u8
}
