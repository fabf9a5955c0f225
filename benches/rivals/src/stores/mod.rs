//! What else keeps keys and values in memory, behind one trait: [`HashMap`] in our own process, [`KyotoCabinet`],
//! [`BerkeleyDb`] and [`RocksDb`] as libraries, [`Redis`] and [`Memcached`] as servers behind a Unix socket.
//!
//! [`Heap`] is an allocator alone.
//!
//! Keys are 8 bytes. All are set up as their manuals advise for data that lives in memory alone, with nothing written to disk, and one
//! thread uses each. A server is a child process, which ends with its handle.

mod berkeley_db;
mod hash_map;
mod heap;
mod kyoto_cabinet;
mod memcached;
mod redis;
mod rocksdb;
mod server;

pub use berkeley_db::BerkeleyDb;
pub use hash_map::HashMap;
pub use heap::Heap;
pub use kyoto_cabinet::KyotoCabinet;
pub use memcached::Memcached;
pub use redis::Redis;
pub use rocksdb::RocksDb;

use std::io::{self, ErrorKind, Result};

/// A store to be measured beside.
pub trait Store {
    /// Gives a key a value, in place of the one it has.
    fn put(&mut self, key: u64, value: &[u8]) -> Result<()>;

    /// Copies the value of a key into a buffer, in place of what is in it. Whether the key has one.
    fn get(&mut self, key: u64, value: &mut Vec<u8>) -> Result<bool>;

    /// Adds bytes to the end of a key's value; a key without one gets them as its value.
    fn append(&mut self, key: u64, bytes: &[u8]) -> Result<()>;

    /// Takes a key's value away. Whether it had one.
    fn delete(&mut self, key: u64) -> Result<bool>;

    /// Resident bytes of the process that holds the data, beyond those when the store was made. Where that is our own process, it
    /// is for the caller to see that nothing else grows or shrinks.
    fn memory_used(&mut self) -> Result<u64>;

    /// Puts many; servers are asked in one go.
    fn put_many(&mut self, pairs: &[(u64, &[u8])]) -> Result<()> {
        pairs.iter().try_for_each(|(key, value)| self.put(*key, value))
    }

    /// Appends many; servers are asked in one go.
    fn append_many(&mut self, pairs: &[(u64, &[u8])]) -> Result<()> {
        pairs.iter().try_for_each(|(key, bytes)| self.append(*key, bytes))
    }

    /// Takes the values of many keys away.
    fn delete_many(&mut self, keys: &[u64]) -> Result<()> {
        keys.iter().try_for_each(|key| self.delete(*key).map(drop))
    }

    /// Gets many; servers are asked in one go. `each` is shown the values in the order of the keys.
    fn get_many(&mut self, keys: &[u64], each: &mut dyn FnMut(Option<&[u8]>)) -> Result<()> {
        let mut value = Vec::new();
        for key in keys {
            let found = self.get(*key, &mut value)?;
            each(found.then_some(&value));
        }
        Ok(())
    }
}

/// All of them, empty, by name. Those whose tables do not grow by themselves are told how many keys to expect.
pub fn all(expected: u64) -> Result<Vec<(&'static str, Box<dyn Store>)>> {
    Ok(vec![
        ("hashbrown", Box::new(HashMap::new()?)),
        ("Redis", Box::new(Redis::start()?)),
        ("memcached", Box::new(Memcached::start()?)),
        ("Kyoto Cabinet", Box::new(KyotoCabinet::new(expected)?)),
        ("Berkeley DB", Box::new(BerkeleyDb::new(expected)?)),
        ("RocksDB", Box::new(RocksDb::new()?)),
    ])
}

/// Resident bytes of a process, or of this one.
fn resident(process: Option<u32>) -> Result<u64> {
    let name = process.map_or("self".into(), |id| id.to_string());
    let status = std::fs::read_to_string(format!("/proc/{name}/status"))?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    let kib = kib.and_then(|kib| kib.parse::<u64>().ok());
    kib.map(|kib| kib << 10).ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "/proc shows no VmRSS"))
}

/// Our own resident bytes, beyond those at a time before.
struct Growth(u64);

impl Growth {
    fn begin() -> Result<Self> {
        resident(None).map(Self)
    }

    fn bytes(&self) -> Result<u64> {
        Ok(resident(None)?.saturating_sub(self.0))
    }
}

#[cfg(test)]
mod tests;
