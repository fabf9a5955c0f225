//! A hash table in our own process, each value a `Vec` of its own: what a program uses that has no store.

use std::io::Result;

use super::{Growth, Store};

/// hashbrown's table, with its own hasher.
pub struct HashMap {
    map: hashbrown::HashMap<u64, Vec<u8>>,
    growth: Growth,
}

impl HashMap {
    /// An empty one.
    pub fn new() -> Result<Self> {
        Ok(Self { map: hashbrown::HashMap::new(), growth: Growth::begin()? })
    }
}

impl Store for HashMap {
    fn put(&mut self, key: u64, value: &[u8]) -> Result<()> {
        self.map.insert(key, value.to_vec());
        Ok(())
    }

    fn get(&mut self, key: u64, value: &mut Vec<u8>) -> Result<bool> {
        let found = self.map.get(&key);
        value.clear();
        value.extend_from_slice(found.map_or(&[], Vec::as_slice));
        Ok(found.is_some())
    }

    fn append(&mut self, key: u64, bytes: &[u8]) -> Result<()> {
        self.map.entry(key).or_default().extend_from_slice(bytes);
        Ok(())
    }

    fn delete(&mut self, key: u64) -> Result<bool> {
        Ok(self.map.remove(&key).is_some())
    }

    fn memory_used(&mut self) -> Result<u64> {
        self.growth.bytes()
    }
}
