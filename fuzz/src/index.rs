//! Indexes, each behind its log: the bytes are a log, and from its `data_end` on an index.

use crate::accepted;
use crate::log::{collected, plain};
use crate::reference::{self, Entries};
use hammerspace_sparkey::{BlockCache, Found, Log, Table};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) type Pair<'a> = Table<&'a [u8], &'a [u8]>;

/// Checks lookups and live iteration on `data`.
pub fn check(data: &[u8]) {
    let Some(log) = accepted(Log::open(data)) else { return };
    let Some(table) = opened(data, &data[log.header().data_end as usize..]) else { return };
    let Some(expected) = reference::entries(data, table.index().header().data_end) else { return };
    check_plausible(&table, &expected);
    if table.verify().is_clean() {
        check_sound(&table, &expected);
    }
}

pub(crate) fn opened<'a>(log: &'a [u8], index: &'a [u8]) -> Option<Pair<'a>> {
    accepted(Table::open(log, index))
}

/// Through a cache, a lookup gives what it gives without one, or is refused. More may be refused: a block that the
/// cache keeps is decoded to its end, and a lookup without a cache need not see damage behind its entry. Whether the
/// first lookup keeps the block depends on the room in the cache, so the second may be refused where the first was not.
pub(crate) fn check_cached(table: &Pair, cached: &Pair, key: &[u8]) {
    let uncached = accepted(table.get(key));
    for found in [(); 2].map(|()| accepted(cached.get(key))) {
        assert!(found.is_none() || found == uncached, "{} through a cache", key.escape_ascii());
    }
}

/// However damaged the index: every way to look up gives the same, which is bytes of the log behind the key; and live
/// entries, which are found in the log first, are puts of the log. (A slot may point into the midst of an entry, to
/// bytes that look like a put: only `verify` sees that.)
fn check_plausible(table: &Pair, expected: &Entries) {
    let cached = table.clone().with_cache(Arc::new(BlockCache::new(1 << 16)));
    for key in keys(expected) {
        check_cached(table, &cached, key);
        let found = accepted(table.find(key));
        if let Some(Some(Found::Mapped(range))) = &found {
            let data = &table.log().bytes()[..table.index().header().data_end as usize];
            assert!(data[..range.end][..range.start].ends_with(key), "{} is not before {range:?}", key.escape_ascii());
        }
        let value = accepted(table.get(key));
        assert_eq!(value.as_ref().map(Option::is_some), found.as_ref().map(Option::is_some));
        assert_eq!(
            accepted(table.get_with(key, <[u8]>::to_vec)).as_ref(),
            accepted(table.get(key)).map(|value| value.map(Cow::into_owned)).as_ref()
        );
        let contained = accepted(table.contains(key));
        let many = accepted(table.get_many(&[key]));
        if let Some(value) = value {
            assert_eq!(contained, Some(value.is_some()));
            assert_eq!(many, Some(vec![value]));
        }
    }
    let puts: BTreeSet<_> = expected.entries.iter().filter(|entry| entry.is_put).collect();
    for entry in collected(table.iter()).0 {
        assert!(puts.contains(&plain(&entry)), "no such put: {entry:?}");
    }
}

/// A sound index gives what a map gives, by any way.
pub(crate) fn check_sound(table: &Pair, expected: &Entries) {
    let live = reference::live(&expected.entries);
    assert_eq!(table.len(), live.len() as u64);
    for key in keys(expected) {
        let value = live.get(key).map(|at| Cow::Borrowed(&expected.entries[*at].value[..]));
        assert_eq!(table.get(key).expect("a sound index"), value, "get {}", key.escape_ascii());
        assert_eq!(table.contains(key).expect("a sound index"), value.is_some());
    }
    let (entries, complete) = collected(table.iter());
    let mut in_log_order: Vec<usize> = live.into_values().collect();
    in_log_order.sort_unstable();
    assert!(complete);
    assert!(entries.iter().map(plain).eq(in_log_order.into_iter().map(|at| expected.entries[at].clone())));
    if let Some(entry) = entries.last() {
        let (tail, _) = collected(table.iter_from(entry.address).expect("the address of an entry"));
        assert_eq!(tail, entries[entries.len() - 1..]);
    }
}

/// Keys of the log, and some that it will not have.
fn keys(expected: &Entries) -> BTreeSet<&[u8]> {
    let absent: [&[u8]; 3] = [b"", b"absent", &[0xff; 20]];
    expected.entries.iter().map(|entry| &entry.key[..]).chain(absent).collect()
}
