//! sparkey-java, in a JVM of its own behind a pipe; `java/src/main/java/Driver.java` says what goes through it.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use hammerspace_sparkey::{Compression, HashSize, ShardKeys};

use crate::contents::at;
use crate::{Change, Contents, Format, Pair, Peer, Result};

/// A running JVM. It ends with this handle.
pub struct Java {
    jvm: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Java {
    /// Starts the driver that `cargo xtask test` built into this directory, for a short life: most of that is spent in
    /// starting, so there is no second compiler, and no parallel collector.
    pub fn start(built: &Path) -> Result<Self> {
        Self::start_with(built, &["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"])
    }

    /// The same as Java starts by itself, to be measured once it is warm.
    pub fn start_to_measure(built: &Path) -> Result<Self> {
        Self::start_with(built, &[])
    }

    fn start_with(built: &Path, options: &[&str]) -> Result<Self> {
        let remedy = "build it with `cargo xtask test` or `bench`, which also install what that needs";
        if !built.join("classes/Driver.class").exists() {
            return Err(format!("the Java peer is not in {}; {remedy}", built.display()));
        }
        let class_path = format!("{0}/classes:{0}/dependency/*", built.display());
        let mut command = Command::new("java");
        command.args(options).args(["-cp", &class_path, "Driver"]);
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut jvm = spawned.map_err(|cause| format!("java cannot be started: {cause}; {remedy}"))?;
        let (requests, answers) = (jvm.stdin.take(), jvm.stdout.take().expect("it is piped"));
        Ok(Self { jvm, requests, answers: BufReader::new(answers) })
    }

    /// Sends one request, and gives the words of the answer behind its `ok`; `None` for `absent`.
    fn ask(&mut self, words: &[&str]) -> Result<Option<Vec<String>>> {
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

    /// Which of `count` shards Scio would put a key in: Scala's hash, and Java's floorMod.
    pub fn shard(&mut self, keys: ShardKeys, key: &[u8], count: usize) -> Result<usize> {
        let shard = self.ask(&["shard", keys.name(), &hex(key), &count.to_string()])?.unwrap_or_default();
        shard.concat().parse().map_err(|_| format!("{shard:?} is no shard"))
    }

    /// Gets all keys from an index, one after the other, and looks at each value: its length, its first and its last byte. Gives
    /// how long that took, and the sum of what was seen. The keys have one length, and stand in a file back to back.
    pub fn time(&mut self, index: &Path, keys: &Path, key_len: usize) -> Result<(Duration, u64)> {
        let [index, keys] = [index, keys].map(|path| path.to_str().expect("a temporary directory has a plain name"));
        let answer = self.ask(&["time", index, keys, &key_len.to_string()])?.unwrap_or_default();
        let number = |at: usize| -> Option<u64> { answer.get(at)?.parse().ok() };
        let numbers = number(0).zip(number(1)).ok_or_else(|| format!("{answer:?} are no time and sum"))?;
        Ok((Duration::from_nanos(numbers.0), numbers.1))
    }

    fn write(&mut self, changes: &[Change]) -> Result {
        for change in changes {
            match change {
                Change::Put(key, value) => self.ask(&["put", &hex(key), &hex(value)])?,
                Change::Delete(key) => self.ask(&["delete", &hex(key)])?,
            };
        }
        self.ask(&["close"]).map(drop)
    }

    fn read_open(&mut self, probes: &[Vec<u8>]) -> Result<Contents> {
        let mut contents = Contents::default();
        let entries = self.ask(&["entries"])?.unwrap_or_default();
        contents.live = entries.chunks(2).map(|pair| (bytes(&pair[0]), bytes(&pair[1]))).collect();
        for probe in probes {
            let value = self.ask(&["get", &hex(probe)])?;
            contents.found.push(value.map(|words| bytes(&words.concat())));
        }
        for field in self.ask(&["header"])?.unwrap_or_default() {
            let (name, number) = field.split_once('=').ok_or("a header field without '='")?;
            contents.header.insert(name.into(), number.parse().map_err(|_| format!("{field} is no number"))?);
        }
        Ok(contents)
    }
}

impl Drop for Java {
    fn drop(&mut self) {
        // The driver ends when there is nothing more to read.
        self.requests = None;
        let _ = self.jvm.wait();
    }
}

impl Peer for Java {
    fn name(&self) -> &'static str {
        "sparkey-java"
    }

    fn knows(&self, _: Compression) -> bool {
        true
    }

    fn create(&mut self, pair: &Pair, format: Format, changes: &[Change]) -> Result {
        let compression = match format.compression {
            Compression::None => "none",
            Compression::Snappy => "snappy",
            Compression::Zstd => "zstd",
        };
        let created = self.ask(&["create", name(pair), compression, &format.block_size.to_string()]);
        created.and_then(|_| self.write(changes)).map_err(|why| at(pair, "create", why))
    }

    fn append(&mut self, pair: &Pair, changes: &[Change]) -> Result {
        let opened = self.ask(&["append", name(pair)]);
        opened.and_then(|_| self.write(changes)).map_err(|why| at(pair, "append to", why))
    }

    fn index(&mut self, pair: &Pair, hash_size: HashSize) -> Result {
        let hash_size = hash_size.bytes().to_string();
        self.ask(&["index", name(pair), &hash_size]).map(drop).map_err(|why| at(pair, "index", why))
    }

    fn read(&mut self, pair: &Pair, probes: &[Vec<u8>]) -> Result<Contents> {
        self.ask(&["open", name(pair)]).map_err(|why| at(pair, "open", why))?;
        let contents = self.read_open(probes).map_err(|why| at(pair, "read", why));
        self.ask(&["shut"])?;
        contents
    }
}

fn name(pair: &Pair) -> &str {
    pair.index.to_str().expect("a temporary directory has a plain name")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes().chunks(2).map(|pair| (digit(pair[0]) << 4) | digit(pair[1])).collect()
}

fn digit(letter: u8) -> u8 {
    char::from(letter).to_digit(16).expect("the driver answers in hexadecimal") as u8
}
