//! When records end: wall-clock time, as milliseconds since 1970 in 48 bits, until the year 10889.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MILLIS_MAX: u64 = (1 << 48) - 1;

/// The instant as records hold it; what is before 1970 has long passed, and what is beyond the year 10889
/// never comes.
pub(crate) fn to_millis(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis().min(u128::from(MILLIS_MAX)) as u64)
}

pub(crate) fn to_time(millis: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis)
}

/// The instant so long from now.
pub(crate) fn after(ttl: Duration) -> SystemTime {
    SystemTime::now().checked_add(ttl).unwrap_or_else(|| to_time(MILLIS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_come_back_and_stay_within_48_bits() {
        let now = to_millis(SystemTime::now());
        assert_eq!(to_millis(to_time(now)), now);
        assert_eq!(to_millis(UNIX_EPOCH - Duration::from_secs(1)), 0);
        assert_eq!(to_millis(after(Duration::MAX)), MILLIS_MAX);
    }
}
