//! Publishing: parts first, then the manifest, which is the commit.
//!
//! A push reuses parts that a live manifest named when it began, and parts of its own day. Garbage
//! collection leaves both alone for longer than a push may take ([`TIME_MAX`]), so no commit can name a
//! part that is gone.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use chrono::Utc;
use data_encoding::HEXLOWER;
use futures_util::{StreamExt, TryStreamExt, stream};
use hammerspace_error::{Error, Kind, Result};
use hammerspace_space::Snapshot;
use hammerspace_sparkey::LogHeader;
use object_store::path::Path;
use uuid::Uuid;

use crate::layout::{PART_SIZE, PARTS, VERSIONS, day, hash, hash_in, numbered, part};
use crate::manifest::{Activation, LAYOUT, Manifest, Standing, TableManifest};
use crate::probe::ensure_probed;
use crate::remote::Fleet;

/// How long a push may take. Garbage collection relies on it.
const TIME_MAX: Duration = Duration::from_hours(12);
/// Uploads under way at once.
const LANES: usize = 8;
/// Attempts at one commit whose outcome the store does not tell.
const ATTEMPTS: u32 = 6;

/// How to push.
#[derive(Clone, Debug)]
pub struct Push {
    /// When followers make it current.
    pub activation: Activation,
    /// Bytes of a part, for the first version at a URL; later ones are cut as it was.
    pub part_size: u64,
}

impl Default for Push {
    fn default() -> Self {
        Self { activation: Activation::Immediate, part_size: PART_SIZE }
    }
}

/// What a push did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Pushed {
    /// The version's number at the URL.
    pub version: u64,
    /// Whether it is new; if not, the newest version has the same data already.
    pub is_new: bool,
    /// Parts uploaded.
    pub parts: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of the whole log.
    pub size: u64,
}

/// Publishes what a snapshot reads. Uploads only parts that the newest version lacks.
pub async fn push(fleet: &Fleet, snapshot: &Snapshot, options: &Push) -> Result<Pushed> {
    let began = Instant::now();
    ensure_probed(fleet).await?;
    let (parent, newest) = fleet.newest().await?;
    let (table, parts, bytes) = upload(fleet, snapshot, newest.as_ref(), options).await?;
    let size = table.size;
    if let Some(newest) =
        newest.as_ref().filter(|newest| newest.tables == [table.clone()] && newest.standing == Standing::Live)
    {
        return Ok(Pushed { version: newest.number, is_new: false, parts, bytes, size });
    }
    let draft = draft(parent, options.activation, vec![table]);
    let version = commit(fleet, draft, began).await?;
    Ok(Pushed { version, is_new: true, parts, bytes, size })
}

/// Publishes the data of an older version as a new one; gives its number. The older one is `to`, or the one
/// before the newest that has other data.
pub async fn rollback(fleet: &Fleet, to: Option<u64>, activation: Activation) -> Result<u64> {
    let began = Instant::now();
    let numbers = fleet.numbers().await?;
    let (parent, newest) = fleet.newest().await?;
    let mut found = None;
    for number in numbers.iter().rev().filter(|number| to.is_none_or(|to| to == **number)) {
        let Some(manifest) = fleet.manifest(*number).await? else { continue };
        if manifest.standing == Standing::Live && newest.as_ref().is_none_or(|newest| newest.tables != manifest.tables)
        {
            found = Some(manifest);
            break;
        }
    }
    let found = found.ok_or_else(|| {
        let which =
            to.map_or("no older version with other data".into(), |to| format!("no version {to} with other data"));
        Error::new(Kind::Missing, format!("{} keeps {which}", fleet.url())).remedy("see `hammerspace fleet status`")
    })?;
    let mut draft = draft(parent, activation, found.tables);
    draft.rollback_of = Some(found.number);
    commit(fleet, draft, began).await
}

fn draft(parent: u64, activation: Activation, tables: Vec<TableManifest>) -> Manifest {
    Manifest {
        layout: LAYOUT,
        number: parent + 1,
        parent,
        push: Uuid::new_v4(),
        published: Utc::now(),
        builder: concat!("hammerspace ", env!("CARGO_PKG_VERSION")).into(),
        activation,
        standing: Standing::Live,
        rollback_of: None,
        tables,
    }
}

/// Takes the next free number. The answer may get lost, so a push that finds the number taken looks whether
/// it took the number itself.
async fn commit(fleet: &Fleet, mut draft: Manifest, began: Instant) -> Result<u64> {
    let mut failures = 0;
    loop {
        if began.elapsed() > TIME_MAX {
            let finding = format!("this push took longer than {} hours", TIME_MAX.as_secs() / 3600);
            return Err(Error::new(Kind::Changed, finding).remedy("push again; what was uploaded today is reused"));
        }
        let path = numbered(VERSIONS, draft.number);
        match fleet.put_if_absent(&path, draft.to_json()).await {
            Ok(true) => return Ok(draft.number),
            Ok(false) => {}
            Err(error) if failures < ATTEMPTS && error.kind() == Kind::Io => {
                failures += 1;
                tokio::time::sleep(Duration::from_millis(50 << failures)).await;
            }
            Err(error) => return Err(error.remedy(UNKNOWN)),
        }
        match fleet.manifest(draft.number).await {
            Ok(Some(there)) if there.push == draft.push => return Ok(draft.number),
            Ok(Some(there)) => (draft.number, draft.parent) = (there.number + 1, there.number),
            Ok(None) => {}
            Err(error) if failures < ATTEMPTS && error.kind() == Kind::Io => failures += 1,
            // A manifest that nobody can read still takes its number.
            Err(error) if error.kind() == Kind::Corrupt => {
                (draft.number, draft.parent) = (draft.number + 1, draft.number);
            }
            Err(error) => return Err(error.remedy(UNKNOWN)),
        }
    }
}

const UNKNOWN: &str = "see with `hammerspace fleet status` whether the version is there, and push again if not";

async fn upload(
    fleet: &Fleet,
    snapshot: &Snapshot,
    newest: Option<&Manifest>,
    options: &Push,
) -> Result<(TableManifest, u64, u64)> {
    let (log, mut table) = describe(snapshot)?;
    let before = newest.and_then(|newest| newest.space().ok());
    table.part_size = before.map_or(options.part_size, |before| before.part_size);
    let known: HashMap<&str, &String> =
        before.into_iter().flat_map(|before| &before.parts).map(|part| (hash_in(part), part)).collect();
    let today = day(Utc::now());
    let resumed = uploaded(fleet, &today).await?;
    let count = log.len().saturating_sub(LogHeader::SIZE).div_ceil(table.part_size as usize);
    let mut missing = HashMap::new();
    for number in 0..count {
        let range = table.range(number);
        let bytes = &log[range.start as usize..range.end as usize];
        let hash = hash(bytes);
        if let Some(part) = known.get(&*hash) {
            table.parts.push((*part).clone());
            continue;
        }
        let name = format!("{today}/{hash}");
        if resumed.get(&hash) != Some(&(bytes.len() as u64)) {
            missing.insert(name.clone(), bytes);
        }
        table.parts.push(name);
    }
    let bytes = missing.values().map(|bytes| bytes.len() as u64).sum();
    let parts = missing.len() as u64;
    let puts = missing.into_iter().map(|(name, bytes)| async move { fleet.put(&part(&name), bytes.to_vec()).await });
    stream::iter(puts).buffer_unordered(LANES).try_collect::<()>().await?;
    Ok((table, parts, bytes))
}

/// The log of a snapshot, and its manifest without parts.
fn describe(snapshot: &Snapshot) -> Result<(&[u8], TableManifest)> {
    let (Some(log), Some(header), Some(index)) = (snapshot.log_bytes(), snapshot.log_header(), snapshot.index_header())
    else {
        return Err(Error::new(Kind::Missing, "the space is empty").remedy("load something, then push"));
    };
    if index.data_end != header.data_end {
        return Err(Error::new(Kind::Invalid, "the index covers a part of the log only")
            .remedy("publish the space once more here, then push"));
    }
    let log = log.get(..header.data_end as usize).ok_or_else(|| Error::new(Kind::Corrupt, "the log is cut off"))?;
    let header = HEXLOWER.encode(&log[..LogHeader::SIZE]);
    let size = log.len() as u64;
    let table =
        TableManifest { shard: 0, shards: 1, entries: snapshot.len(), header, size, part_size: 0, parts: Vec::new() };
    Ok((log, table))
}

/// Hash and size of what was uploaded today, by a push that was broken off as well.
async fn uploaded(fleet: &Fleet, today: &str) -> Result<HashMap<String, u64>> {
    let prefix = Path::from_iter([PARTS, today]);
    let listed: Result<Vec<_>, _> = fleet.store.list(Some(&prefix)).try_collect().await;
    let listed = listed.map_err(|error| fleet.explain("list", &prefix, &error))?;
    let named = listed.into_iter().filter_map(|object| Some((object.location.filename()?.to_owned(), object.size)));
    Ok(named.collect())
}
