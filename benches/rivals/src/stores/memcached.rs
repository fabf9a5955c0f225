//! memcached, spoken to in its text protocol, with one thread and told to refuse rather than to evict. Its keys are printable, so the
//! 8 bytes are sent as 16 hexadecimal digits.

use std::io::{Result, Write};
use std::process::Command;

use super::Store;
use super::server::{Server, unexpected};

/// A memcached.
pub struct Memcached {
    server: Server,
    line: String,
    value: Vec<u8>,
}

/// More than any bench has: memory is taken as it is needed.
const MEMORY_MIB: &str = "1048576";

impl Memcached {
    /// Starts one.
    pub fn start() -> Result<Self> {
        let server = Server::start(|socket| {
            let mut command = Command::new("memcached");
            // Only root has to say who it wants to be; from others it is not read.
            command.args(["-M", "-t", "1", "-m", MEMORY_MIB, "-u", "root", "-s"]).arg(socket);
            command
        })?;
        Ok(Self { server, line: String::new(), value: Vec::new() })
    }

    fn send(&mut self, verb: &str, key: u64, data: &[u8]) -> Result<()> {
        let writer = self.server.writer();
        write!(writer, "{verb} {key:016x} 0 0 {}\r\n", data.len())?;
        writer.write_all(data)?;
        writer.write_all(b"\r\n")
    }

    /// Whether the next answer is yes; if not, it must be no.
    fn answer(&mut self, yes: &str, no: &str) -> Result<bool> {
        self.server.line(&mut self.line)?;
        if self.line == yes || self.line == no { Ok(self.line == yes) } else { Err(unexpected(&self.line)) }
    }

    fn is_stored(&mut self) -> Result<bool> {
        self.answer("STORED", "NOT_STORED")
    }

    /// Reads the answer to a `get` of one key; the value is in `value`.
    fn found(&mut self) -> Result<bool> {
        self.server.line(&mut self.line)?;
        if self.line == "END" {
            return Ok(false);
        }
        let len = self.line.strip_prefix("VALUE ").and_then(|rest| rest.rsplit(' ').next()?.parse().ok());
        self.server.block(len.ok_or_else(|| unexpected(&self.line))?, &mut self.value)?;
        self.server.line(&mut self.line)?;
        if self.line == "END" { Ok(true) } else { Err(unexpected(&self.line)) }
    }
}

impl Store for Memcached {
    fn put(&mut self, key: u64, value: &[u8]) -> Result<()> {
        self.put_many(&[(key, value)])
    }

    fn get(&mut self, key: u64, value: &mut Vec<u8>) -> Result<bool> {
        write!(self.server.writer(), "get {key:016x}\r\n")?;
        let found = self.found()?;
        value.clear();
        value.extend_from_slice(if found { &self.value } else { &[] });
        Ok(found)
    }

    /// `append` wants a value to be there, `add` none.
    fn append(&mut self, key: u64, bytes: &[u8]) -> Result<()> {
        for verb in ["append", "add"] {
            self.send(verb, key, bytes)?;
            if self.is_stored()? {
                return Ok(());
            }
        }
        Err(unexpected("neither append nor add was done, though nobody else is here"))
    }

    fn delete(&mut self, key: u64) -> Result<bool> {
        write!(self.server.writer(), "delete {key:016x}\r\n")?;
        self.answer("DELETED", "NOT_FOUND")
    }

    fn memory_used(&mut self) -> Result<u64> {
        self.server.memory_used()
    }

    fn put_many(&mut self, pairs: &[(u64, &[u8])]) -> Result<()> {
        pairs.iter().try_for_each(|(key, value)| self.send("set", *key, value))?;
        for _ in pairs {
            if !self.is_stored()? {
                return Err(unexpected(&self.line));
            }
        }
        Ok(())
    }

    /// Those that have no value yet are done again, one by one and in their order.
    fn append_many(&mut self, pairs: &[(u64, &[u8])]) -> Result<()> {
        pairs.iter().try_for_each(|(key, bytes)| self.send("append", *key, bytes))?;
        let mut without_value = Vec::new();
        for pair in pairs {
            if !self.is_stored()? {
                without_value.push(pair);
            }
        }
        without_value.into_iter().try_for_each(|(key, bytes)| self.append(*key, bytes))
    }

    fn get_many(&mut self, keys: &[u64], each: &mut dyn FnMut(Option<&[u8]>)) -> Result<()> {
        keys.iter().try_for_each(|key| write!(self.server.writer(), "get {key:016x}\r\n"))?;
        for _ in keys {
            let found = self.found()?;
            each(found.then_some(&self.value));
        }
        Ok(())
    }
}
