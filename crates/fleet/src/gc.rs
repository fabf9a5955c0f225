//! Garbage collection: old versions, and parts that no version names.
//!
//! ```text
//! live ──beyond `keep`, older than the grace──▶ retired ──a grace later──▶ removed; its parts go
//! ```
//! A push or a rollback may name any part that a live version named when it began, and parts of the day on
//! which it began; it takes 12 hours at most. So what a version named is left alone for a grace of at least
//! 24 hours after the version was retired, and the parts of a day for the grace after the day has ended.
//! A number is never given back: a removed version keeps a manifest without parts, so a push that slept
//! cannot take its place.

use std::collections::HashSet;
use std::time::Duration;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use futures_util::TryStreamExt;
use hammerspace_error::{Error, Kind, Result};
use object_store::path::Path;
use serde::Serialize;

use crate::layout::{PARTS, VERSIONS, number_of, numbered};
use crate::manifest::{Manifest, Standing};
use crate::remote::Fleet;

/// The shortest grace period.
pub const GRACE_MIN: Duration = Duration::from_hours(24);

/// What a collection did, or would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Collected {
    /// Versions that can no longer be rolled back to.
    pub retired: u64,
    /// Versions whose manifests no longer name parts.
    pub removed: u64,
    /// Parts deleted.
    pub parts: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Collects what the newest `keep` versions, the active one and recent ones do not need; with `dry_run`,
/// only says so. `now` is the current time.
pub async fn gc(fleet: &Fleet, keep: usize, grace: Duration, now: DateTime<Utc>, dry_run: bool) -> Result<Collected> {
    check(keep, grace)?;
    let before = now - TimeDelta::from_std(grace).unwrap_or(TimeDelta::MAX);
    let mut collected = Collected::default();
    let numbers = fleet.numbers().await?;
    let active = fleet.newest_active(&numbers).await?.map(|manifest| manifest.number);
    let recent: HashSet<u64> = numbers.iter().rev().take(keep).copied().chain(active).collect();
    let mut named = HashSet::new();
    for (number, changed) in dated(fleet).await? {
        // One that cannot be read may name anything.
        let Some(mut manifest) = fleet.manifest(number).await? else { continue };
        let is_old = changed < before;
        match manifest.standing {
            Standing::Live if is_old && !recent.contains(&number) => {
                collected.retired += 1;
                named.extend(parts(&manifest));
                manifest.standing = Standing::Retired;
                rewrite(fleet, &manifest, dry_run).await?;
            }
            Standing::Retired if is_old => {
                collected.removed += 1;
                manifest.standing = Standing::Removed;
                manifest.tables.clear();
                rewrite(fleet, &manifest, dry_run).await?;
            }
            _ => named.extend(parts(&manifest)),
        }
    }
    sweep(fleet, &named, before, dry_run, &mut collected).await?;
    Ok(collected)
}

fn check(keep: usize, grace: Duration) -> Result<()> {
    if keep == 0 || grace < GRACE_MIN {
        let finding = "a collection keeps at least 1 version, and what was named within 24 hours";
        return Err(Error::new(Kind::Invalid, finding).remedy("keep more"));
    }
    Ok(())
}

/// All versions, and when their manifests were last written by the store's clock.
async fn dated(fleet: &Fleet) -> Result<Vec<(u64, DateTime<Utc>)>> {
    let prefix = Path::from(VERSIONS);
    let listed: Result<Vec<_>, _> = fleet.store.list(Some(&prefix)).try_collect().await;
    let listed = listed.map_err(|error| fleet.explain("list", &prefix, &error))?;
    Ok(listed.iter().filter_map(|object| Some((number_of(&object.location)?, object.last_modified))).collect())
}

fn parts(manifest: &Manifest) -> impl Iterator<Item = String> + '_ {
    manifest.tables.iter().flat_map(|table| &table.parts).cloned()
}

async fn rewrite(fleet: &Fleet, manifest: &Manifest, dry_run: bool) -> Result<()> {
    if dry_run { Ok(()) } else { fleet.put(&numbered(VERSIONS, manifest.number), manifest.to_json()).await }
}

/// Deletes parts that no manifest names, of days that ended before the grace began.
async fn sweep(
    fleet: &Fleet,
    named: &HashSet<String>,
    before: DateTime<Utc>,
    dry_run: bool,
    collected: &mut Collected,
) -> Result<()> {
    let prefix = Path::from(PARTS);
    let listed: Result<Vec<_>, _> = fleet.store.list(Some(&prefix)).try_collect().await;
    for object in listed.map_err(|error| fleet.explain("list", &prefix, &error))? {
        let Some(name) = object.location.as_ref().strip_prefix("parts/") else { continue };
        if named.contains(name) || !ended(name, before) {
            continue;
        }
        collected.parts += 1;
        collected.bytes += object.size;
        if !dry_run {
            fleet.delete(&object.location).await?;
        }
    }
    Ok(())
}

/// Whether the day in a part's name ended before this time. Other names are not ours.
fn ended(name: &str, before: DateTime<Utc>) -> bool {
    let day = name.split_once('/').and_then(|(day, _)| day.parse::<NaiveDate>().ok());
    day.and_then(|day| day.succ_opt()).is_some_and(|end| end.and_time(chrono::NaiveTime::MIN).and_utc() <= before)
}
