//! sparkey-java, in a JVM of its own behind a pipe; `java/src/main/java/Driver.java` says what goes through it.

use std::path::Path;
use std::time::Duration;

use hammerspace_sparkey::{Compression, HashSize, ShardKeys};

use crate::contents::at;
use crate::jvm::{Jvm, bytes, hex};
use crate::{Change, Contents, Format, Pair, Peer, Result};

/// A running sparkey-java.
pub struct Java(Jvm);

impl Java {
    /// Starts the driver that `cargo xtask test` built into this directory.
    pub fn start(built: &Path) -> Result<Self> {
        Jvm::start(built, "Driver").map(Self)
    }

    /// The same as Java starts by itself, to be measured once it is warm.
    pub fn start_to_measure(built: &Path) -> Result<Self> {
        Jvm::start_to_measure(built, "Driver").map(Self)
    }

    /// Which of `count` shards Scio would put a key in: Scala's hash, and Java's floorMod.
    pub fn shard(&mut self, keys: ShardKeys, key: &[u8], count: usize) -> Result<usize> {
        let shard = self.0.ask(&["shard", keys.name(), &hex(key), &count.to_string()])?.unwrap_or_default();
        shard.concat().parse().map_err(|_| format!("{shard:?} is no shard"))
    }

    /// Gets all keys from an index, one after the other, and looks at each value: its length, its first and its last byte. Gives
    /// how long that took, and the sum of what was seen. The keys have one length, and stand in a file back to back.
    pub fn time(&mut self, index: &Path, keys: &Path, key_len: usize) -> Result<(Duration, u64)> {
        let [index, keys] = [index, keys].map(|path| path.to_str().expect("a temporary directory has a plain name"));
        let answer = self.0.ask(&["time", index, keys, &key_len.to_string()])?.unwrap_or_default();
        let number = |at: usize| -> Option<u64> { answer.get(at)?.parse().ok() };
        let numbers = number(0).zip(number(1)).ok_or_else(|| format!("{answer:?} are no time and sum"))?;
        Ok((Duration::from_nanos(numbers.0), numbers.1))
    }

    fn write(&mut self, changes: &[Change]) -> Result {
        for change in changes {
            match change {
                Change::Put(key, value) => self.0.ask(&["put", &hex(key), &hex(value)])?,
                Change::Delete(key) => self.0.ask(&["delete", &hex(key)])?,
            };
        }
        self.0.ask(&["close"]).map(drop)
    }

    fn read_open(&mut self, probes: &[Vec<u8>]) -> Result<Contents> {
        let mut contents = Contents::default();
        let entries = self.0.ask(&["entries"])?.unwrap_or_default();
        contents.live = entries.chunks(2).map(|pair| (bytes(&pair[0]), bytes(&pair[1]))).collect();
        for probe in probes {
            let value = self.0.ask(&["get", &hex(probe)])?;
            contents.found.push(value.map(|words| bytes(&words.concat())));
        }
        for field in self.0.ask(&["header"])?.unwrap_or_default() {
            let (name, number) = field.split_once('=').ok_or("a header field without '='")?;
            contents.header.insert(name.into(), number.parse().map_err(|_| format!("{field} is no number"))?);
        }
        Ok(contents)
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
        let created = self.0.ask(&["create", name(pair), compression, &format.block_size.to_string()]);
        created.and_then(|_| self.write(changes)).map_err(|why| at(pair, "create", why))
    }

    fn append(&mut self, pair: &Pair, changes: &[Change]) -> Result {
        let opened = self.0.ask(&["append", name(pair)]);
        opened.and_then(|_| self.write(changes)).map_err(|why| at(pair, "append to", why))
    }

    fn index(&mut self, pair: &Pair, hash_size: HashSize) -> Result {
        let hash_size = hash_size.bytes().to_string();
        self.0.ask(&["index", name(pair), &hash_size]).map(drop).map_err(|why| at(pair, "index", why))
    }

    fn read(&mut self, pair: &Pair, probes: &[Vec<u8>]) -> Result<Contents> {
        self.0.ask(&["open", name(pair)]).map_err(|why| at(pair, "open", why))?;
        let contents = self.read_open(probes).map_err(|why| at(pair, "read", why));
        self.0.ask(&["shut"])?;
        contents
    }
}

fn name(pair: &Pair) -> &str {
    pair.index.to_str().expect("a temporary directory has a plain name")
}
