//! Tables: whatever can be looked up in, with one set of functions for all of it.

use std::borrow::Cow;
use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::slice;
use std::sync::Arc;

use hammerspace::sparkey::{self, BlockCache, Pair};
use hammerspace::{Effort, IndexHeader, LogHeader, Report, Result, Snapshot};

use crate::bytes::{Slice, Value, bytes, path};
use crate::cursor::{Cursor, Pairs};
use crate::error::{Error, fill, given};
use crate::findings::Findings;
use crate::options::{self, Paging, number_of};

/// Keys and their values, which never change: a version of a space, a Sparkey log and its index, or a directory of shards.
pub struct Table(Arc<dyn Look>);

impl Table {
    pub(crate) fn boxed(table: impl Look + 'static) -> Box<Self> {
        Box::new(Self(Arc::new(table)))
    }
}

/// Looking things up.
pub(crate) trait Look: Send + Sync {
    fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>>;
    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Option<Cow<'_, [u8]>>>>;
    fn contains(&self, key: &[u8]) -> Result<bool>;
    fn len(&self) -> u64;
    fn pairs(&self) -> Pairs<'_>;
    fn info(&self) -> TableInfo;
    fn verify(&self) -> Result<Report>;
    /// The bytes that uncompressed values are slices of.
    fn log(&self) -> Option<&[u8]>;
    /// The name of a version's directory.
    fn directory(&self) -> Option<&str> {
        None
    }
}

/// What all tables have a method of the same name for.
macro_rules! look_by_its_own_methods {
    () => {
        fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>> {
            self.get(key)
        }

        fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Option<Cow<'_, [u8]>>>> {
            self.get_many(keys)
        }

        fn contains(&self, key: &[u8]) -> Result<bool> {
            self.contains(key)
        }

        fn len(&self) -> u64 {
            self.len()
        }
    };
}

impl Look for Snapshot {
    look_by_its_own_methods!();

    fn pairs(&self) -> Pairs<'_> {
        Box::new(self.iter())
    }

    fn info(&self) -> TableInfo {
        let mut info = self.log_header().zip(self.index_header()).map_or(TableInfo::NOTHING, TableInfo::of);
        info.version = self.number().unwrap_or(0);
        info
    }

    fn verify(&self) -> Result<Report> {
        self.verify().map(Option::unwrap_or_default)
    }

    fn log(&self) -> Option<&[u8]> {
        self.log_bytes()
    }

    fn directory(&self) -> Option<&str> {
        self.uid()
    }
}

impl<L, I> Look for sparkey::Table<L, I>
where
    L: AsRef<[u8]> + Send + Sync,
    I: AsRef<[u8]> + Send + Sync,
{
    look_by_its_own_methods!();

    fn pairs(&self) -> Pairs<'_> {
        Box::new(self.iter().map(|entry| entry.map(|entry| (entry.key, entry.value))))
    }

    fn info(&self) -> TableInfo {
        TableInfo::of((self.log().header(), self.index().header()))
    }

    fn verify(&self) -> Result<Report> {
        self.verify_within(&Effort::default(), sparkey::scratch)
    }

    fn log(&self) -> Option<&[u8]> {
        Some(self.log().bytes())
    }
}

impl<L, I> Look for sparkey::Shards<L, I>
where
    L: AsRef<[u8]> + Send + Sync,
    I: AsRef<[u8]> + Send + Sync,
{
    look_by_its_own_methods!();

    fn pairs(&self) -> Pairs<'_> {
        Box::new(self.iter().map(|entry| entry.map(|entry| (entry.key, entry.value))))
    }

    fn info(&self) -> TableInfo {
        self.tables().iter().map(Look::info).reduce(TableInfo::and).unwrap_or(TableInfo::NOTHING)
    }

    fn verify(&self) -> Result<Report> {
        self.verify_within(&Effort::default(), sparkey::scratch)
    }

    fn log(&self) -> Option<&[u8]> {
        None
    }
}

/// What a table is made of; of shards, all of them together.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TableInfo {
    /// Keys.
    pub entries: u64,
    /// Puts in the log, those of keys that were overwritten or deleted since included.
    pub puts: u64,
    /// Deletes in the log.
    pub deletes: u64,
    /// Bytes of the log.
    pub log_bytes: u64,
    /// Bytes of the index.
    pub index_bytes: u64,
    /// Bytes of dead entries in the log, before compression.
    pub garbage_bytes: u64,
    /// The longest key, in bytes; keys of deletes count.
    pub max_key_len: u64,
    /// The longest value that was ever put, in bytes.
    pub max_value_len: u64,
    /// The number of the version; 0 if this is no version of a space, or one without a number.
    pub version: u64,
    /// A hammerspace_compression; 0 for an empty space, and for shards that differ.
    pub compression: u32,
    /// Bytes per block before compression, the largest of all shards; without meaning where there is none.
    pub block_size: u32,
}

impl TableInfo {
    const NOTHING: Self = Self {
        entries: 0,
        puts: 0,
        deletes: 0,
        log_bytes: 0,
        index_bytes: 0,
        garbage_bytes: 0,
        max_key_len: 0,
        max_value_len: 0,
        version: 0,
        compression: 0,
        block_size: 0,
    };

    fn and(self, other: Self) -> Self {
        Self {
            entries: self.entries.saturating_add(other.entries),
            puts: self.puts.saturating_add(other.puts),
            deletes: self.deletes.saturating_add(other.deletes),
            log_bytes: self.log_bytes.saturating_add(other.log_bytes),
            index_bytes: self.index_bytes.saturating_add(other.index_bytes),
            garbage_bytes: self.garbage_bytes.saturating_add(other.garbage_bytes),
            max_key_len: self.max_key_len.max(other.max_key_len),
            max_value_len: self.max_value_len.max(other.max_value_len),
            version: 0,
            compression: if self.compression == other.compression { self.compression } else { 0 },
            block_size: self.block_size.max(other.block_size),
        }
    }

    fn of((log, index): (&LogHeader, &IndexHeader)) -> Self {
        Self {
            entries: index.num_entries,
            puts: log.num_puts,
            deletes: log.num_deletes,
            log_bytes: log.data_end,
            index_bytes: index.file_len(),
            garbage_bytes: index.garbage_size,
            max_key_len: log.max_key_len,
            max_value_len: log.max_value_len,
            version: 0,
            compression: number_of(log.compression),
            block_size: log.block_size,
        }
    }
}

const TABLE: &str = "the table";

fn open(table: Option<&Table>) -> Result<&dyn Look> {
    Ok(&*given(table, TABLE)?.0)
}

/// Opens a Sparkey log and its index. Takes microseconds, whatever their size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_table_open(
    log: *const c_char,
    index: *const c_char,
    table: Option<&mut MaybeUninit<Option<Box<Table>>>>,
) -> Option<Box<Error>> {
    // SAFETY: the caller's promise about `log`, `index` and `table` is the same.
    unsafe { hammerspace_table_open_with(log, index, Paging::OnDemand as u32, 0, table) }
}

/// The same with a hammerspace_paging, and with so many bytes of memory for decoded blocks, which the threads of this process
/// share; 0 are none. Some ways of paging take their time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_table_open_with(
    log: *const c_char,
    index: *const c_char,
    paging: u32,
    cache_bytes: u64,
    table: Option<&mut MaybeUninit<Option<Box<Table>>>>,
) -> Option<Box<Error>> {
    fill(table, None, || {
        // SAFETY: text that ends with a NUL, by the rules of the header.
        let (log, index) = unsafe { (path(log)?, path(index)?) };
        let pair = Pair { log: log.into(), index: index.into() };
        let mut table = pair.open_with(options::paging(paging)?)?;
        if cache_bytes != 0 {
            table = table.with_cache(Arc::new(BlockCache::new(cache_bytes as usize)));
        }
        Ok(Some(Table::boxed(table)))
    })
}

/// Opens a directory of shards, as Scio or `hammerspace sparkey shard` wrote it, as one table. What the keys were hashed as
/// is told by the keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_table_open_shards(
    directory: *const c_char,
    table: Option<&mut MaybeUninit<Option<Box<Table>>>>,
) -> Option<Box<Error>> {
    fill(table, None, || {
        // SAFETY: text that ends with a NUL, by the rules of the header.
        let directory = unsafe { path(directory) }?;
        Ok(Some(Table::boxed(sparkey::open_shards(directory)?)))
    })
}

/// The value of a key; its data is NULL if the key is not there, which is no error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_table_get(
    table: Option<&Table>,
    key: *const c_void,
    key_len: usize,
    value: Option<&mut MaybeUninit<Value>>,
) -> Option<Box<Error>> {
    fill(value, Value::NOTHING, || {
        // SAFETY: so many bytes, by the rules of the header.
        let key = unsafe { bytes(key, key_len) }?;
        Ok(Value::of(open(table)?.get(key)?))
    })
}

/// The values of `count` keys, in their order, into an array of as many values. If it fails, all of them are nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_table_get_many(
    table: Option<&Table>,
    keys: *const Slice,
    count: usize,
    values: *mut Value,
) -> Option<Box<Error>> {
    crate::error::answer(|| {
        if count == 0 {
            return Ok(());
        }
        given((!values.is_null()).then_some(()), "the place for the values")?;
        // SAFETY: room for so many values, by the rules of the header; it may be uninitialised.
        let values = unsafe { slice::from_raw_parts_mut(values.cast::<MaybeUninit<Value>>(), count) };
        values.fill_with(|| MaybeUninit::new(Value::NOTHING));
        given((!keys.is_null()).then_some(()), "the array of keys")?;
        // SAFETY: so many keys, by the rules of the header.
        let keys = unsafe { slice::from_raw_parts(keys, count) };
        // SAFETY: so many bytes each, likewise.
        let keys = keys.iter().map(|key| unsafe { bytes(key.data.cast(), key.len) }).collect::<Result<Vec<_>>>()?;
        for (value, found) in values.iter_mut().zip(open(table)?.get_many(&keys)?) {
            value.write(Value::of(found));
        }
        Ok(())
    })
}

/// Whether a key is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_table_contains(
    table: Option<&Table>,
    key: *const c_void,
    key_len: usize,
    found: Option<&mut MaybeUninit<bool>>,
) -> Option<Box<Error>> {
    fill(found, false, || {
        // SAFETY: so many bytes, by the rules of the header.
        let key = unsafe { bytes(key, key_len) }?;
        open(table)?.contains(key)
    })
}

/// How many keys there are; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_table_len(table: Option<&Table>) -> u64 {
    table.map_or(0, |table| table.0.len())
}

/// What the table is made of.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_table_info(
    table: Option<&Table>,
    info: Option<&mut MaybeUninit<TableInfo>>,
) -> Option<Box<Error>> {
    fill(info, TableInfo::NOTHING, || Ok(open(table)?.info()))
}

/// Reads everything, and says all that is wrong with it. Takes time linear in the log, and 256 MiB of memory; what they do not
/// hold goes to a file without a name where `TMPDIR` says, or in /tmp. That something is wrong is a finding, and no error.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_table_verify(
    table: Option<&Table>,
    findings: Option<&mut MaybeUninit<Option<Box<Findings>>>>,
) -> Option<Box<Error>> {
    fill(findings, None, || open(table)?.verify().map(Findings::boxed))
}

/// All bytes of the table's log, as they are mapped: the values of a table that is not compressed are slices of them. The data
/// is NULL for an empty space and for shards. Lives as long as the table.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_table_log(
    table: Option<&Table>,
    log: Option<&mut MaybeUninit<Slice>>,
) -> Option<Box<Error>> {
    fill(log, Slice::NOTHING, || Ok(open(table)?.log().map_or(Slice::NOTHING, Slice::of)))
}

/// The name of the directory that a version of a space lies in: text that is not ended by a NUL. The data is NULL for an empty
/// space, and for what is no version. Lives as long as the table.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_table_directory(
    table: Option<&Table>,
    directory: Option<&mut MaybeUninit<Slice>>,
) -> Option<Box<Error>> {
    fill(directory, Slice::NOTHING, || {
        Ok(open(table)?.directory().map_or(Slice::NOTHING, |name| Slice::of(name.as_bytes())))
    })
}

/// A cursor over all keys and values, in the order in which each key was last written; of shards, one after the other. It
/// holds the table by itself.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_table_cursor(
    table: Option<&Table>,
    cursor: Option<&mut MaybeUninit<Option<Box<Cursor>>>>,
) -> Option<Box<Error>> {
    fill(cursor, None, || Ok(Some(Cursor::boxed(Arc::clone(&given(table, TABLE)?.0)))))
}

/// Closes a table. Its cursors live on; its values do not. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_table_free(table: Option<Box<Table>>) {
    drop(table);
}
