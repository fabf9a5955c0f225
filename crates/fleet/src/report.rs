//! What followers report, and what the fleet is told: status and activation.

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::{StreamExt, TryStreamExt, stream};
use hammerspace_error::{Error, Kind, Result};
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::follow::State;
use crate::layout::{ACTIVATIONS, FOLLOWERS, follower, numbered};
use crate::manifest::{Activation, LAYOUT, Standing};
use crate::remote::Fleet;

/// Reports that are read at once.
const LANES: usize = 16;

/// What a follower says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The layout of this report: 1.
    pub layout: u32,
    /// The follower's name.
    pub name: String,
    /// When, by its clock.
    pub at: DateTime<Utc>,
    /// The version that is current there.
    pub current: Option<u64>,
    /// The held version that is ready there.
    pub ready: Option<u64>,
    /// The newest version that it saw.
    pub newest: u64,
    /// The version that it is pinned to.
    pub pin: Option<u64>,
    /// Seconds since the newest version was published, if another one is current.
    pub lag: i64,
    /// Bytes fetched since it started.
    pub bytes: u64,
    /// Polls that failed since it started.
    pub failures: u64,
    /// In words.
    pub waits_for: String,
}

impl Report {
    pub(crate) fn new(name: &str, state: &State, pin: Option<u64>) -> Self {
        let at = Utc::now();
        let lag = state.newest_published.filter(|_| state.current != Some(state.newest));
        Self {
            layout: LAYOUT,
            name: name.into(),
            at,
            current: state.current,
            ready: state.ready,
            newest: state.newest,
            pin,
            lag: lag.map_or(0, |published| (at - published).num_seconds().max(0)),
            bytes: state.bytes,
            failures: state.failures,
            waits_for: state.waits_for.clone(),
        }
    }

    pub(crate) async fn write(&self, fleet: &Fleet) -> Result<()> {
        let json = serde_json::to_vec_pretty(self).expect("a report is plain data");
        fleet.put(&follower(&self.name), json).await
    }

    /// Whether this follower has the version, current or ready.
    fn has(&self, version: u64) -> bool {
        self.current == Some(version) || self.ready == Some(version)
    }
}

/// A follower's name is a part of an object's name.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if (1..=100).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_plain) {
        return Ok(());
    }
    Err(Error::new(Kind::Invalid, format!("{name:?} is no name for a follower"))
        .remedy("give up to 100 letters, digits, dots, dashes and underscores"))
}

/// What is known of a fleet.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The newest version.
    pub newest: Option<u64>,
    /// The version that followers should be at.
    pub active: Option<u64>,
    /// The newest version, if it is held and not activated.
    pub held: Option<u64>,
    /// Followers that reported within the hour, by name; those that are pinned too.
    pub followers: Vec<Report>,
    /// Of the followers that are not pinned, how many percent are at the active version.
    pub current_percent: u64,
    /// The same for the held version: ready or current.
    pub ready_percent: u64,
}

/// How many of the followers that are not pinned have a version.
struct Share {
    ready: u64,
    all: u64,
}

impl Share {
    fn of(followers: &[Report], version: u64) -> Self {
        let free = followers.iter().filter(|report| report.pin.is_none());
        let ready = free.clone().filter(|report| report.has(version)).count() as u64;
        Self { ready, all: free.count() as u64 }
    }

    fn percent(&self) -> u64 {
        (100 * self.ready).checked_div(self.all).unwrap_or(0)
    }
}

/// Reads versions, activations and the reports of the last hour.
pub async fn status(fleet: &Fleet) -> Result<Status> {
    let numbers = fleet.numbers().await?;
    let active = fleet.newest_active(&numbers).await?.map(|manifest| manifest.number);
    let newest = numbers.last().copied();
    let held = newest.filter(|newest| Some(*newest) != active);
    let followers = reports(fleet).await?;
    let percent = |version: Option<u64>| version.map_or(0, |version| Share::of(&followers, version).percent());
    let (current_percent, ready_percent) = (percent(active), percent(held));
    Ok(Status { newest, active, held, followers, current_percent, ready_percent })
}

async fn reports(fleet: &Fleet) -> Result<Vec<Report>> {
    let prefix = Path::from(FOLLOWERS);
    let listed: Result<Vec<_>, _> = fleet.store.list(Some(&prefix)).try_collect().await;
    let listed = listed.map_err(|error| fleet.explain("list", &prefix, &error))?;
    let hour_ago = Utc::now() - TimeDelta::hours(1);
    let recent = listed.into_iter().filter(|object| object.last_modified >= hour_ago);
    let read = recent.map(|object| async move { fleet.get(&object.location, 0).await });
    let read: Vec<_> = stream::iter(read).buffer_unordered(LANES).try_collect().await?;
    // What is no report of ours is nobody's.
    let mut reports: Vec<Report> =
        read.iter().flatten().filter_map(|bytes| serde_json::from_slice(bytes).ok()).collect();
    reports.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(reports)
}

/// Activates a held version, the newest one where none is named; gives its number. Refuses while fewer than
/// `ready` percent of the followers that reported within the hour have it.
pub async fn activate(fleet: &Fleet, version: Option<u64>, ready: u64) -> Result<u64> {
    let status = status(fleet).await?;
    let missing = |finding: String| Error::new(Kind::Missing, finding).remedy("see `hammerspace fleet status`");
    let version = version.or(status.held).ok_or_else(|| missing(format!("{} holds no version", fleet.url())))?;
    let manifest = fleet.manifest(version).await?.filter(|manifest| manifest.standing == Standing::Live);
    let manifest = manifest.ok_or_else(|| missing(format!("{} has no version {version}", fleet.url())))?;
    if manifest.activation == Activation::Immediate {
        return Ok(version);
    }
    let share = Share::of(&status.followers, version);
    if share.percent() < ready {
        let finding = format!("version {version} is ready on {} of {} followers", share.ready, share.all);
        return Err(
            Error::new(Kind::Busy, finding).remedy("wait for the others, or activate with a smaller percentage")
        );
    }
    let note = json!({ "layout": LAYOUT, "version": version, "at": Utc::now() });
    fleet.put_if_absent(&numbered(ACTIVATIONS, version), format!("{note:#}\n").into_bytes()).await?;
    Ok(version)
}
