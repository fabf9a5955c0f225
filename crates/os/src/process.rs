//! Processes.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Whether a process of this number lives in our process namespace, whoever it belongs to.
pub fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    test_kill_process(pid) != Err(Errno::SRCH)
}

#[cfg(test)]
mod tests {
    #[test]
    fn we_are_alive_and_nobody_is_not() {
        assert!(super::is_alive(std::process::id()));
        assert!(!super::is_alive(0));
        assert!(!super::is_alive(u32::MAX));
        assert!(!super::is_alive(0x3fff_ffff), "beyond the largest pid that Linux hands out");
    }
}
