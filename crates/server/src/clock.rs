//! Instants: what commands measure by, and what expiries are compared with.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub(crate) fn now_millis() -> i64 {
    millis(SystemTime::now())
}

/// An instant as milliseconds since 1970; what is before that is 0.
pub(crate) fn millis(at: SystemTime) -> i64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// The instant so many milliseconds after 1970, and 1970 for less than none.
pub(crate) fn at_millis(millis: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}
