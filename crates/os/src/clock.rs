//! Clocks.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Time since some fixed point, to the kernel's tick (1 to 10 ms): a few nanoseconds to read, no system call.
#[inline]
pub fn coarse() -> Duration {
    #[cfg(target_os = "linux")]
    let clock = ClockId::MonotonicCoarse;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    since(clock)
}

/// Time since a fixed point that all processes of this machine share, to the nanosecond.
pub fn precise() -> Duration {
    since(ClockId::Monotonic)
}

fn since(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec.cast_unsigned() as u32)
}
