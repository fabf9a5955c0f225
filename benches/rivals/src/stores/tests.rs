//! Each store does what the trait says: a bench that measures something else would be worth nothing.

use super::*;

fn value(store: &mut dyn Store, key: u64) -> Option<Vec<u8>> {
    let mut value = b"left over".to_vec();
    store.get(key, &mut value).unwrap().then_some(value)
}

/// What every store must do; how it differs from that, if it does.
fn fault(store: &mut dyn Store) -> Option<&'static str> {
    let all_bytes: Vec<u8> = (0..=255).collect();
    let large = vec![7; 16 * 1024];
    let check = |holds: bool, what| (!holds).then_some(what);
    store.put(1, &all_bytes).unwrap();
    store.put(2, b"").unwrap();
    store.append(3, b"in").unwrap();
    store.append(3, b"\r\n").unwrap();
    store.append_many(&[(u64::MAX, b"a"), (3, b"two"), (u64::MAX, b"b"), (u64::MAX, b"c")]).unwrap();
    store.put_many(&[(4, &large), (5, b"five")]).unwrap();
    let mut found = Vec::new();
    store.get_many(&[5, 99, u64::MAX], &mut |value| found.push(value.map(<[u8]>::to_vec))).unwrap();
    store.put_many(&[(6, b"six"), (7, b"seven")]).unwrap();
    store.delete_many(&[6, 99, 7]).unwrap();
    check(value(store, 6).is_none() && value(store, 7).is_none(), "many deleted")
        .or(check(value(store, 1).as_ref() == Some(&all_bytes), "any bytes are a value"))
        .or(check(value(store, 2) == Some(Vec::new()), "none are one too"))
        .or(check(value(store, 3) == Some(b"in\r\ntwo".to_vec()), "appended in order"))
        .or(check(value(store, 4).as_ref() == Some(&large), "16 KiB are a value"))
        .or(check(found == [Some(b"five".to_vec()), None, Some(b"abc".to_vec())], "many at once"))
        .or(check(store.delete(1).unwrap() && !store.delete(1).unwrap(), "deleted once"))
        .or(check(value(store, 1).is_none(), "and gone"))
}

/// One after the other, and all stay: what one gave back to our own process another would take without growth.
#[test]
fn each_store_does_what_the_trait_says_and_grows_with_the_data() {
    for (name, store) in &mut all(20_000).unwrap() {
        assert_eq!(fault(&mut **store), None, "{name}");
        let before = store.memory_used().unwrap();
        for key in 0..20_000 {
            store.put(key, &[3; 1000]).unwrap();
        }
        let grown = store.memory_used().unwrap().saturating_sub(before);
        assert!((15_000_000..100_000_000).contains(&grown), "{name}: {grown} bytes for 20 MB");
    }
}

/// A store that loses what is appended.
struct Forgetful(HashMap);

impl Store for Forgetful {
    fn put(&mut self, key: u64, value: &[u8]) -> Result<()> {
        self.0.put(key, value)
    }

    fn get(&mut self, key: u64, value: &mut Vec<u8>) -> Result<bool> {
        self.0.get(key, value)
    }

    fn append(&mut self, key: u64, bytes: &[u8]) -> Result<()> {
        self.0.put(key, bytes)
    }

    fn delete(&mut self, key: u64) -> Result<bool> {
        self.0.delete(key)
    }

    fn memory_used(&mut self) -> Result<u64> {
        self.0.memory_used()
    }
}

#[test]
fn canary_a_lost_append_is_noticed() {
    assert_eq!(fault(&mut Forgetful(HashMap::new().unwrap())), Some("appended in order"));
}

/// With glibc's allocator and with another: what is allocated is resident, and what is freed is used again.
#[test]
fn a_heap_grows_with_what_is_allocated() {
    for library in [None, Some("libjemalloc.so.2")] {
        let mut heap = Heap::start(10_000, library).unwrap();
        (0..10_000).try_for_each(|id| heap.allocate(id, 1_000)).unwrap();
        let grown = heap.memory_used().unwrap();
        assert!((9_900_000..15_000_000).contains(&grown), "{library:?}: {grown} bytes for 10 MB");
        (0..10_000).try_for_each(|id| heap.free(id).and_then(|()| heap.allocate(10_000 + id, 1_000))).unwrap();
        assert!(heap.memory_used().unwrap() < grown + 5_000_000, "{library:?}");
    }
    let missing = Heap::start(1, Some("libnone.so.0")).err().unwrap().to_string();
    assert!(missing.contains("libnone.so.0 is not loaded"), "{missing}");
}
