//! The self-test: whether the store's put-if-absent is atomic.
//!
//! Eight racers put one object, twenty times. A store that checks and then writes lets several win in some
//! round: one that does so in 4 of 10 rounds is caught but for 1 in 27,000 times.

use chrono::Utc;
use futures_util::future::join_all;
use hammerspace_error::{Error, Kind, Result};
use object_store::path::Path;
use serde_json::json;
use uuid::Uuid;

use crate::layout::{PASSED, PROBES};
use crate::manifest::LAYOUT;
use crate::remote::Fleet;

const ROUNDS: usize = 20;
const RACERS: usize = 8;

/// Refuses a store that lets two racers win; notes there that it passed.
pub async fn probe(fleet: &Fleet) -> Result<()> {
    for round in 0..ROUNDS {
        let path = Path::from_iter([PROBES, &Uuid::new_v4().to_string()]);
        let racers = (0..RACERS).map(|racer| fleet.put_if_absent(&path, format!("racer {racer}\n").into_bytes()));
        let outcomes = join_all(racers).await;
        fleet.delete(&path).await?;
        let won = outcomes.into_iter().collect::<Result<Vec<_>>>()?.into_iter().filter(|won| *won).count();
        if won != 1 {
            let finding = format!(
                "{} is not safe to publish to: of {RACERS} racers that put one object if absent, {won} won (round {round})",
                fleet.url()
            );
            return Err(Error::new(Kind::Unsupported, finding)
                .remedy("use a store whose conditional put is atomic; two pushes here could lose a version"));
        }
    }
    let note = json!({ "layout": LAYOUT, "probed": Utc::now(), "rounds": ROUNDS, "racers": RACERS });
    fleet.put(&Path::from(PASSED), format!("{note:#}\n").into_bytes()).await
}

/// Probes a store that has not passed yet.
pub(crate) async fn ensure_probed(fleet: &Fleet) -> Result<()> {
    match fleet.get(&Path::from(PASSED), 0).await? {
        Some(_) => Ok(()),
        None => probe(fleet).await,
    }
}
