//! Names of objects below the URL, and of files beside the space.

use chrono::{DateTime, Utc};
use data_encoding::HEXLOWER;
use object_store::path::Path;
use sha2::{Digest, Sha256};

/// Where parts lie: `parts/<day>/<sha256>`.
pub(crate) const PARTS: &str = "parts";
/// Where manifests lie: `versions/<number, 20 digits>.json`.
pub(crate) const VERSIONS: &str = "versions";
/// Where activations of held versions lie, named as the manifests are.
pub(crate) const ACTIVATIONS: &str = "activations";
/// Where followers report: `followers/<name>.json`.
pub(crate) const FOLLOWERS: &str = "followers";
/// Where the self-test races.
pub(crate) const PROBES: &str = "probes";
/// Says that the store passed the self-test.
pub(crate) const PASSED: &str = "fleet.json";

/// In the space's directory: locked by the follower.
pub(crate) const LOCK: &str = "fleet.lock";
/// In the space's directory: the next version in the making.
pub(crate) const NEXT: &str = "fleet.next";
/// In a version's directory: its manifest.
pub(crate) const MANIFEST: &str = "fleet.json";

/// Bytes of the log between two cuts, unless the parent of a version was cut otherwise.
pub(crate) const PART_SIZE: u64 = 4 << 20;

pub(crate) fn numbered(directory: &str, number: u64) -> Path {
    Path::from_iter([directory, &format!("{number:020}.json")])
}

/// The number in such a name.
pub(crate) fn number_of(path: &Path) -> Option<u64> {
    let digits = path.filename()?.strip_suffix(".json")?;
    digits.parse().ok().filter(|_| digits.len() == 20 && !digits.starts_with('+'))
}

/// The object of the part that a manifest names `<day>/<sha256>`.
pub(crate) fn part(name: &str) -> Path {
    std::iter::once(PARTS).chain(name.split('/')).collect()
}

pub(crate) fn follower(name: &str) -> Path {
    Path::from_iter([FOLLOWERS, &format!("{name}.json")])
}

pub(crate) fn day(time: DateTime<Utc>) -> String {
    time.format("%Y-%m-%d").to_string()
}

pub(crate) fn hash(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// The hash in a part's name.
pub(crate) fn hash_in(part: &str) -> &str {
    part.split_once('/').map_or(part, |(_, hash)| hash)
}

/// Whether a manifest may name a part so: nothing but a day and a hash.
pub(crate) fn is_part(name: &str) -> bool {
    let Some((day, hash)) = name.split_once('/') else { return false };
    let is_day = day.len() == 10 && day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    is_day && hash.len() == 64 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
