//! A directory of shards: opened as one table, written on all processors. Format page: `docs/format/sparkey-shards.md`.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::ops::Range;
use std::path::Path;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Dir, File, Map, Paging};
use hammerspace_sparkey::{Effort, IndexOptions, Log, LogOptions, LogWriter, ShardKeys, Shards, Table, write_index};

use crate::fresh::Fresh;
use crate::{open, parallel};

/// Logs that one thread has open at a time. More shards than this, times the threads, are written in several walks; of which a
/// test should see some, without a thousand files to sync.
const OPEN_MAX: usize = if cfg!(test) { 3 } else { 64 };

/// How to divide a table into shards.
#[derive(Clone, Copy, Debug)]
pub struct Sharding {
    /// How many shards there will be, from 1 to [`ShardKeys::COUNT_MAX`].
    pub count: usize,
    /// What the keys are hashed as.
    pub keys: ShardKeys,
    /// How the logs are packed.
    pub log: LogOptions,
}

/// Opens all shards in a directory as one table. Time linear in the number of shards.
pub fn open_shards(path: &Path) -> Result<Shards<Map, Map>> {
    let dir = Dir::open(path)?;
    let count = count_in(&dir)?;
    let tables = (0..count).map(|number| {
        let index = part(&dir, number, count, INDEX)?;
        open(&part(&dir, number, count, LOG)?, &index, Paging::OnDemand)
    });
    Shards::join(tables.collect::<Result<_>>()?).map_err(|error| error.file(path))
}

const LOG: &str = ".spl";
const INDEX: &str = ".spi";

fn name(number: usize, count: usize, suffix: &str) -> String {
    format!("part-{number:05}-of-{count:05}{suffix}")
}

/// The shard and the number of shards that a name stands for.
fn parse(name: &str) -> Option<(usize, usize)> {
    let stem = name.strip_suffix(LOG).or_else(|| name.strip_suffix(INDEX))?;
    let (number, count) = stem.strip_prefix("part-")?.split_once("-of-")?;
    let plain = |digits: &str| digits.parse().ok().filter(|_| digits.len() == 5 && !digits.starts_with('+'));
    Some((plain(number)?, plain(count)?))
}

/// How many shards the names in the directory speak of, which must be of one mind.
fn count_in(dir: &Dir) -> Result<usize> {
    let parts: BTreeSet<(usize, usize)> = dir.entries()?.iter().filter_map(|entry| parse(&entry.name)).collect();
    let mut counts = parts.iter().map(|(_, count)| *count);
    let Some(count) = counts.next() else {
        return Err(Error::new(Kind::Missing, format!("there are no shards here, such as {}", name(0, 8, INDEX)))
            .file(dir.path())
            .remedy("correct the path"));
    };
    if let Some(other) = counts.find(|other| *other != count) {
        return Err(refused(dir, format!("some shards are of {count}, and some of {other}")));
    }
    match parts.last() {
        Some((number, _)) if *number >= count => Err(refused(dir, format!("a shard {number} is none of {count}"))),
        _ => Ok(count),
    }
}

fn refused(dir: &Dir, finding: String) -> Error {
    Error::new(Kind::Corrupt, finding).file(dir.path()).remedy("move the files away that do not belong here")
}

fn part(dir: &Dir, number: usize, count: usize, suffix: &str) -> Result<File> {
    let name = name(number, count, suffix);
    dir.open_file(&name)?.ok_or_else(|| {
        Error::new(Kind::Missing, format!("shard {number} of {count} lacks a file"))
            .file(dir.path().join(name))
            .remedy("restore it; if the shard was left out because it is empty, write all shards anew")
    })
}

/// Divides the live entries of a table among new shards, in a directory that is new or empty. All of them are durable before
/// the directory has its name.
///
/// Each thread walks through the source and writes the shards of its share, at most 64 logs at a time with up to 2 MiB pending for
/// each, then builds their indexes. For those they divide the memory that building one index may take ([`Effort::MEMORY`]).
pub fn write_shards<L, I>(source: &Table<L, I>, path: &Path, sharding: &Sharding) -> Result<()>
where
    L: AsRef<[u8]> + Sync,
    I: AsRef<[u8]> + Sync,
{
    if !(1..=ShardKeys::COUNT_MAX).contains(&sharding.count) {
        let finding = format!("{} shards are not 1 to {}", sharding.count, ShardKeys::COUNT_MAX);
        return Err(Error::new(Kind::Invalid, finding));
    }
    check_empty(path)?;
    let (dir, fresh) = Fresh::dir_beside(path)?;
    let share = sharding.count.div_ceil(parallel::threads()).clamp(1, OPEN_MAX);
    let written = parallel::each(sharding.count.div_ceil(share), |number| {
        let first = number * share;
        write_some(source, &dir, first..sharding.count.min(first + share), sharding)
    });
    written.and_then(|()| dir.sync()).map_err(|error| fresh.named(error))?;
    fresh.take_name()
}

/// Refuses to write where something is.
fn check_empty(path: &Path) -> Result<()> {
    match Dir::open(path).and_then(|dir| dir.entries()) {
        Ok(entries) if entries.is_empty() => Ok(()),
        Ok(_) => Err(Error::new(Kind::Invalid, "the directory is not empty")
            .file(path)
            .remedy("name a directory that is not there, or remove what is in it")),
        Err(error) if error.kind() == Kind::Missing => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes these shards.
fn write_some<L, I>(source: &Table<L, I>, dir: &Dir, shards: Range<usize>, sharding: &Sharding) -> Result<()>
where
    L: AsRef<[u8]>,
    I: AsRef<[u8]>,
{
    let path = |number, suffix| dir.path().join(name(number, sharding.count, suffix));
    let create = |number| {
        let log = dir.create_file(&name(number, sharding.count, LOG))?;
        LogWriter::create(log, &sharding.log).map_err(|error| error.file(path(number, LOG)))
    };
    let mut logs = shards.clone().map(create).collect::<Result<Vec<_>>>()?;
    for entry in source {
        let entry = entry?;
        let number = sharding.keys.shard_of(&entry.key, sharding.count).ok_or_else(|| no_string(&entry.key))?;
        if shards.contains(&number) {
            let log = &mut logs[number - shards.start];
            log.put(&entry.key, &entry.value).map_err(|error| error.file(path(number, LOG)))?;
        }
    }
    let finished = |(number, log): (usize, LogWriter<File>)| {
        let (log, _) = log.finish().map_err(|error| error.file(path(number, LOG)))?;
        log.sync().map(|()| log)
    };
    let logs = shards.clone().zip(logs).map(finished).collect::<Result<Vec<_>>>()?;
    // One of several threads, each of which has its share of the memory.
    let memory = Effort::MEMORY / parallel::threads() as u64;
    let effort = Effort { memory, threads: Some(NonZero::<usize>::MIN) };
    for (number, log) in shards.zip(logs) {
        let mut index = dir.create_file(&name(number, sharding.count, INDEX))?;
        let log = Log::open(Map::new(&log)?)?.named(log.path());
        let written = write_index(&log, &IndexOptions::default(), &effort, &mut index, || dir.scratch());
        written.map_err(|error| error.file(index.path()))?;
        index.sync()?;
    }
    Ok(())
}

fn no_string(key: &[u8]) -> Error {
    let start = &key[..key.len().min(40)];
    Error::new(Kind::Invalid, format!("the key `{}` is not UTF-8, so no string has it", start.escape_ascii()))
        .remedy("divide the keys as bytes")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use hammerspace_os::trace::{self, Op};

    use super::*;
    use crate::{LogFile, Pair};

    /// 300 entries of which 200 are live, in a pair.
    fn source(dir: &Path) -> Table<Map, Map> {
        let pair = Pair::of_log(&dir.join("source.spl")).unwrap();
        let mut log = LogFile::create(&pair.log, &LogOptions::default()).unwrap();
        for at in 0..250 {
            log.put(format!("key {}", at % 225).as_bytes(), format!("{at}").as_bytes()).unwrap();
        }
        for at in 200..250 {
            log.delete(format!("key {at}").as_bytes()).unwrap();
        }
        log.finish().unwrap();
        pair.build_index().unwrap();
        pair.open().unwrap()
    }

    fn sharding(count: usize, keys: ShardKeys) -> Sharding {
        Sharding { count, keys, log: LogOptions::default() }
    }

    #[test]
    fn what_is_divided_reads_as_before() {
        let scratch = tempfile::tempdir().unwrap();
        let (source, path) = (source(scratch.path()), scratch.path().join("shards"));
        for (count, keys) in [(1, ShardKeys::Bytes), (3, ShardKeys::Strings), (20, ShardKeys::Bytes)] {
            write_shards(&source, &path, &sharding(count, keys)).unwrap();
            assert_eq!(fs::read_dir(&path).unwrap().count(), 2 * count, "empty shards are there too");
            let shards = open_shards(&path).unwrap();
            assert_eq!((shards.len(), shards.keys()), (200, keys));
            assert!(shards.verify().is_clean());
            for entry in &source {
                let entry = entry.unwrap();
                assert_eq!(shards.get(&entry.key).unwrap(), Some(entry.value));
            }
            fs::remove_dir_all(&path).unwrap();
        }
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 2, "nothing else is left");
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let (source, path) = (source(scratch.path()), scratch.path().join("shards"));
        let changes: [(&str, &str, Kind, &str); 6] = [
            ("part-00002-of-00004.spi", "away", Kind::Missing, "shard 2 of 4 lacks a file"),
            ("part-00003-of-00004.spl", "away", Kind::Missing, "shard 3 of 4 lacks a file"),
            ("part-00001-of-00004.spi", "part-00001-of-00008.spi", Kind::Corrupt, "of 4, and some of 8"),
            ("part-00003-of-00004.spl", "part-00009-of-00004.spl", Kind::Corrupt, "a shard 9 is none of 4"),
            ("part-00000-of-00004.spi", "part-00002-of-00004.spi", Kind::Missing, "shard 0 of 4"),
            ("part-00001-of-00004.spl", "part-00000-of-00004.spl", Kind::Corrupt, "belongs to"),
        ];
        for (from, to, kind, finding) in changes {
            write_shards(&source, &path, &sharding(4, ShardKeys::Bytes)).unwrap();
            fs::rename(path.join(from), path.join(to)).unwrap();
            let error = open_shards(&path).unwrap_err();
            assert_eq!(error.kind(), kind, "{from}: {error}");
            assert!(error.to_string().contains(finding), "{from}: {error}");
            fs::remove_dir_all(&path).unwrap();
        }
        assert_eq!(open_shards(scratch.path()).unwrap_err().kind(), Kind::Missing);
        assert_eq!(open_shards(&path).unwrap_err().kind(), Kind::Missing);
    }

    #[test]
    fn a_write_that_fails_leaves_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let (source, path) = (source(scratch.path()), scratch.path().join("shards"));
        let refuse = |op: &Op| match op {
            Op::SyncDir(_) => Err(std::io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        };
        let write = |count| write_shards(&source, &path, &sharding(count, ShardKeys::Bytes));
        assert_eq!(trace::watch(refuse, || write(2)).unwrap_err().kind(), Kind::Full);
        for count in [0, 40_000] {
            assert_eq!(write(count).unwrap_err().kind(), Kind::Invalid);
        }
        fs::create_dir(&path).unwrap();
        fs::write(path.join("precious"), "").unwrap();
        assert_eq!(write(2).unwrap_err().kind(), Kind::Invalid);
        fs::remove_file(path.join("precious")).unwrap();
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 3);
        write(2).unwrap();
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_key_that_is_no_string_is_named() {
        let scratch = tempfile::tempdir().unwrap();
        let pair = Pair::of_log(&scratch.path().join("source.spl")).unwrap();
        let mut log = LogFile::create(&pair.log, &LogOptions::default()).unwrap();
        log.put(b"k\xff", b"").unwrap();
        log.finish().unwrap();
        let table = pair.open_or_index().unwrap();
        let write = |keys| write_shards(&table, &scratch.path().join("shards"), &sharding(2, keys));
        let error = write(ShardKeys::Strings).unwrap_err();
        assert!(error.kind() == Kind::Invalid && error.finding().contains("`k\\xff`"), "{error}");
        write(ShardKeys::Bytes).unwrap();
    }

    #[test]
    fn names_have_five_digits() {
        assert_eq!(name(3, 64, LOG), "part-00003-of-00064.spl");
        assert_eq!(parse("part-00003-of-00064.spi"), Some((3, 64)));
        for other in ["part-3-of-64.spi", "part--0003-of-00064.spi", "part-+0003-of-00064.spi", "part-00003-of-00064"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
