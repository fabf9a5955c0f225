//! redis-server, spoken to in RESP 2, without snapshots and log. Commands of a batch are sent before the first answer is read.

use std::io::{Result, Write};
use std::process::Command;

use super::Store;
use super::server::{Server, unexpected};

/// A redis-server.
pub struct Redis {
    server: Server,
    line: String,
    value: Vec<u8>,
}

/// What a command gives.
enum Reply {
    Status,
    Number(i64),
    /// The bytes are in `value`.
    Bytes,
    Nothing,
}

impl Redis {
    /// Starts one.
    pub fn start() -> Result<Self> {
        let server = Server::start(|socket| {
            let mut command = Command::new("redis-server");
            command.args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"]).arg(socket);
            command
        })?;
        Ok(Self { server, line: String::new(), value: Vec::new() })
    }

    fn send(&mut self, words: &[&[u8]]) -> Result<()> {
        let writer = self.server.writer();
        write!(writer, "*{}\r\n", words.len())?;
        for word in words {
            write!(writer, "${}\r\n", word.len())?;
            writer.write_all(word)?;
            writer.write_all(b"\r\n")?;
        }
        Ok(())
    }

    fn reply(&mut self) -> Result<Reply> {
        self.server.line(&mut self.line)?;
        let (kind, rest) = self.line.split_at_checked(1).ok_or_else(|| unexpected("an empty line"))?;
        let number = rest.parse::<i64>().ok();
        match (kind, number) {
            ("+", _) => Ok(Reply::Status),
            (":", Some(number)) => Ok(Reply::Number(number)),
            ("$", Some(-1)) => Ok(Reply::Nothing),
            ("$", Some(len)) => {
                let len = usize::try_from(len).map_err(|_| unexpected(&self.line))?;
                self.server.block(len, &mut self.value)?;
                Ok(Reply::Bytes)
            }
            _ => Err(unexpected(&self.line)),
        }
    }

    /// The replies of a batch, of which nothing is wanted but that they are no errors.
    fn acknowledge(&mut self, commands: usize) -> Result<()> {
        (0..commands).try_for_each(|_| self.reply().map(drop))
    }

    fn found(&mut self) -> Result<bool> {
        match self.reply()? {
            Reply::Bytes => Ok(true),
            Reply::Nothing => Ok(false),
            _ => Err(unexpected(&self.line)),
        }
    }
}

impl Store for Redis {
    fn put(&mut self, key: u64, value: &[u8]) -> Result<()> {
        self.put_many(&[(key, value)])
    }

    fn get(&mut self, key: u64, value: &mut Vec<u8>) -> Result<bool> {
        self.send(&[b"GET", &key.to_le_bytes()])?;
        let found = self.found()?;
        value.clear();
        value.extend_from_slice(if found { &self.value } else { &[] });
        Ok(found)
    }

    fn append(&mut self, key: u64, bytes: &[u8]) -> Result<()> {
        self.append_many(&[(key, bytes)])
    }

    fn delete(&mut self, key: u64) -> Result<bool> {
        self.send(&[b"DEL", &key.to_le_bytes()])?;
        match self.reply()? {
            Reply::Number(deleted) => Ok(deleted == 1),
            _ => Err(unexpected(&self.line)),
        }
    }

    fn memory_used(&mut self) -> Result<u64> {
        self.server.memory_used()
    }

    fn put_many(&mut self, pairs: &[(u64, &[u8])]) -> Result<()> {
        pairs.iter().try_for_each(|(key, value)| self.send(&[b"SET", &key.to_le_bytes(), value]))?;
        self.acknowledge(pairs.len())
    }

    fn append_many(&mut self, pairs: &[(u64, &[u8])]) -> Result<()> {
        pairs.iter().try_for_each(|(key, bytes)| self.send(&[b"APPEND", &key.to_le_bytes(), bytes]))?;
        self.acknowledge(pairs.len())
    }

    fn delete_many(&mut self, keys: &[u64]) -> Result<()> {
        keys.iter().try_for_each(|key| self.send(&[b"DEL", &key.to_le_bytes()]))?;
        self.acknowledge(keys.len())
    }

    fn get_many(&mut self, keys: &[u64], each: &mut dyn FnMut(Option<&[u8]>)) -> Result<()> {
        keys.iter().try_for_each(|key| self.send(&[b"GET", &key.to_le_bytes()]))?;
        for _ in keys {
            let found = self.found()?;
            each(found.then_some(&self.value));
        }
        Ok(())
    }
}
