//! Fetching a version into `fleet.next`: parts, header, index, verification, in this order.
//!
//! A part's bytes come from the nearest place that has them: what is staged already, a version on this
//! disk, the store. All of them are checked by the same hash. The last part of a version that was continued
//! here needs only its new end.

use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Dir, File, Map};
use hammerspace_space::{INDEX_FILE, LOG_FILE};
use hammerspace_sparkey::{Effort, Index, IndexOptions, Log, LogHeader, Table, update_index, write_index};
use tokio::time::Instant;

use crate::layout::{hash, hash_in, part};
use crate::local::{Local, Source};
use crate::manifest::{Manifest, TableManifest};
use crate::remote::Fleet;

/// Downloads under way at once.
const LANES: usize = 8;
/// Bytes of index for each key, at most: slots of 16 bytes, three quarters full.
const INDEX_BYTES_PER_KEY: u64 = 22;

/// What was moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) bytes: u64,
    pub(crate) requests: u64,
}

/// Makes `fleet.next` the version of this manifest, whole and verified. What it moved is counted also when
/// it fails.
pub(crate) async fn fetch(
    fleet: &Fleet,
    local: &Local,
    manifest: &Manifest,
    rate: Option<u64>,
    moved: &mut Moved,
) -> Result<()> {
    let table = manifest.space()?;
    let sources = local.sources()?;
    let dir = local.stage()?;
    let log = match dir.open_file_to_write(LOG_FILE)? {
        Some(log) => log,
        None => dir.create_file(LOG_FILE)?,
    };
    check_room(table, &log)?;
    let staged = log.len()?;
    log.truncate(table.size)?;
    let missing = place_local(&log, staged, table, &sources)?;
    download(fleet, &log, table, &sources, missing, rate, moved).await?;
    log.write_at(&table.header_bytes()?, 0)?;
    log.sync()?;
    index(&dir, &log, manifest, table, &sources).inspect_err(|_| drop(local.discard()))?;
    local.finish(&dir, manifest)
}

/// Refuses to begin what the disk has no room for: the current version and this one, side by side.
fn check_room(table: &TableManifest, log: &File) -> Result<()> {
    let here = std::fs::metadata(log.path()).map_or(0, |log| log.blocks() * 512);
    let needed = table.size.saturating_sub(here).saturating_add(table.entries.saturating_mul(INDEX_BYTES_PER_KEY));
    let free = log.capacity()?.left;
    if free < needed {
        let finding = format!("the next version takes {needed} more bytes beside the current one, and {free} are free");
        return Err(Error::new(Kind::Full, finding).file(log.path()).remedy("free some space, or keep fewer versions"));
    }
    Ok(())
}

/// Places the parts that are on this disk; gives the numbers of the others.
fn place_local(log: &File, staged: u64, table: &TableManifest, sources: &[Source]) -> Result<Vec<usize>> {
    let mut missing = Vec::new();
    let mut buffer = Vec::new();
    for (number, name) in table.parts.iter().enumerate() {
        let (range, wanted) = (table.range(number), hash_in(name));
        if range.end <= staged {
            buffer.resize((range.end - range.start) as usize, 0);
            let read = log.read_at(&mut buffer, range.start)?;
            if hash(&buffer[..read]) == wanted {
                continue;
            }
        }
        let found = sources.iter().find_map(|source| source.part(table, number).filter(|bytes| hash(bytes) == wanted));
        match found {
            Some(bytes) => log.write_at(bytes, range.start)?,
            None => missing.push(number),
        }
    }
    Ok(missing)
}

impl Source {
    fn bytes(&self) -> &[u8] {
        let log = self.table.log();
        let bytes = log.bytes();
        &bytes[..bytes.len().min(log.header().data_end as usize)]
    }

    /// The same part of this version, if its manifest names the same hash.
    fn part(&self, table: &TableManifest, number: usize) -> Option<&[u8]> {
        let ours = self.manifest.space().ok().filter(|ours| ours.part_size == table.part_size)?;
        let is_same = hash_in(ours.parts.get(number)?) == hash_in(&table.parts[number]);
        let range = table.range(number);
        is_same.then(|| self.bytes().get(range.start as usize..range.end as usize)).flatten()
    }

    /// The beginning of a part, where this version's log ended within it.
    fn beginning(&self, table: &TableManifest, number: usize) -> Option<&[u8]> {
        let ours = self.manifest.space().ok().filter(|ours| ours.part_size == table.part_size)?;
        let range = table.range(number);
        let is_last = ours.parts.len() == number + 1 && ours.size < range.end;
        is_last.then(|| self.bytes().get(range.start as usize..)).flatten()
    }
}

async fn download(
    fleet: &Fleet,
    log: &File,
    table: &TableManifest,
    sources: &[Source],
    missing: Vec<usize>,
    rate: Option<u64>,
    moved: &mut Moved,
) -> Result<()> {
    let began = Instant::now();
    let lanes = if rate.is_some() { 1 } else { LANES };
    let mut bytes = 0;
    let gets = missing.into_iter().map(|number| async move {
        let beginning = sources.iter().find_map(|source| source.beginning(table, number)).unwrap_or_default();
        get(fleet, table, number, beginning).await.map(|(got, moved)| (number, got, moved))
    });
    let mut gets = std::pin::pin!(stream::iter(gets).buffer_unordered(lanes));
    while let Some((number, got, more)) = gets.try_next().await? {
        moved.bytes += more.bytes;
        moved.requests += more.requests;
        log.write_at(&got, table.range(number).start)?;
        bytes += more.bytes;
        if let Some(rate) = rate {
            tokio::time::sleep_until(began + Duration::from_micros(bytes.saturating_mul(1_000_000) / rate.max(1)))
                .await;
        }
    }
    Ok(())
}

/// A part, of which the beginning may be here.
async fn get(fleet: &Fleet, table: &TableManifest, number: usize, beginning: &[u8]) -> Result<(Vec<u8>, Moved)> {
    let (name, mut moved) = (&table.parts[number], Moved::default());
    let wanted = hash_in(name);
    if !beginning.is_empty() {
        let rest = ask(fleet, name, beginning.len() as u64, &mut moved).await?;
        let whole = [beginning, &rest].concat();
        if hash(&whole) == wanted {
            return Ok((whole, moved));
        }
    }
    let whole = ask(fleet, name, 0, &mut moved).await?;
    if hash(&whole) == wanted {
        return Ok((whole, moved));
    }
    let finding = format!("{}/{} does not match the hash in its name", fleet.url(), part(name));
    Err(Error::new(Kind::Corrupt, finding).remedy("remove that object and push the space again"))
}

async fn ask(fleet: &Fleet, name: &str, from: u64, moved: &mut Moved) -> Result<Vec<u8>> {
    moved.requests += 1;
    let got = fleet.get(&part(name), from).await?;
    let got = got.ok_or_else(|| {
        let finding = format!("{}/{} is gone", fleet.url(), part(name));
        Error::new(Kind::Missing, finding).remedy("a newer version may have replaced this one; else push again")
    })?;
    moved.bytes += got.len() as u64;
    Ok(got)
}

/// Builds the index, from that of a version which the log continues if there is one, and verifies both files.
fn index(dir: &Dir, log: &File, manifest: &Manifest, table: &TableManifest, sources: &[Source]) -> Result<()> {
    let opened = Log::open(Map::new(log)?).map_err(|error| error.file(log.path()))?.named(log.path());
    let mut file = dir.create_file(INDEX_FILE)?;
    let (options, effort) = (IndexOptions::default(), Effort::default());
    let base = sources.iter().find(|source| continues(opened.bytes(), source));
    if let Some(Ok(index)) = base.map(|base| update_index(&opened, base.table.index(), &options)) {
        file.write_at(&index, 0)?;
    } else {
        let written = write_index(&opened, &options, &effort, &mut file, || dir.scratch());
        written.map_err(|error| error.file(file.path()))?;
    }
    file.sync()?;
    let index = Index::open(Map::new(&file)?).map_err(|error| error.file(file.path()))?.named(file.path());
    let joined = Table::join(opened, index)?;
    let report = joined.verify_within(&effort, || dir.scratch())?;
    if let Some(finding) = report.findings.into_iter().next() {
        return Err(finding);
    }
    if joined.len() != table.entries {
        let finding =
            format!("version {} has {} keys, and its manifest says {}", manifest.number, joined.len(), table.entries);
        return Err(Error::new(Kind::Corrupt, finding).remedy("push the space again"));
    }
    Ok(())
}

/// Whether a log begins with all entries of this version's.
fn continues(log: &[u8], source: &Source) -> bool {
    let before = source.bytes();
    let same_file = |log: &[u8]| LogHeader::parse(log).map(|header| header.file_identifier);
    matches!((same_file(log), same_file(before)), (Ok(a), Ok(b)) if a == b)
        && source.table.index().header().data_end == before.len() as u64
        && log.get(LogHeader::SIZE..before.len()) == before.get(LogHeader::SIZE..)
}
