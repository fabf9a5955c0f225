//! Processes.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Whether a process of this number lives in our process namespace, whoever it belongs to.
pub fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    test_kill_process(pid) != Err(Errno::SRCH)
}

/// Forking, for the suites: what a forking server does to its libraries.
#[cfg(feature = "testing")]
pub mod fork {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// A forked child. Dropping it kills it.
    #[derive(Debug)]
    pub struct Child {
        pid: libc::pid_t,
        waited: bool,
    }

    /// Forks. The child runs `work`, and exits with what it gives (101 if it panics) without running anything else.
    pub fn fork(work: impl FnOnce() -> i32) -> Child {
        // SAFETY: the C library's fork keeps its own locks (the allocator's among them) usable in the child, whatever other
        // threads were doing. The child runs `work` alone and leaves by `_exit`, so no destructor or exit handler that
        // belongs to the parent runs twice.
        match unsafe { libc::fork() } {
            -1 => panic!("fork: {}", std::io::Error::last_os_error()),
            0 => {
                let code = catch_unwind(AssertUnwindSafe(work)).unwrap_or(101);
                // SAFETY: ends this process at once; nothing is left to be unsound.
                unsafe { libc::_exit(code) }
            }
            pid => Child { pid, waited: false },
        }
    }

    impl Child {
        /// Kills it where it stands, as `kill -9` does, and waits until it is gone.
        pub fn kill(mut self) {
            self.end();
        }

        /// Waits for its exit code; `None` if a signal ended it.
        pub fn wait(mut self) -> Option<i32> {
            let status = self.reap();
            libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
        }

        fn end(&mut self) {
            // SAFETY: a signal to our own child, which is not reaped yet, so that the number is still its own.
            unsafe { libc::kill(self.pid, libc::SIGKILL) };
            self.reap();
        }

        fn reap(&mut self) -> i32 {
            let mut status = 0;
            // SAFETY: waits for our own child, into a number of ours.
            let reaped = unsafe { libc::waitpid(self.pid, &raw mut status, 0) };
            assert_eq!(reaped, self.pid, "our child, not reaped yet");
            self.waited = true;
            status
        }
    }

    impl Drop for Child {
        fn drop(&mut self) {
            if !self.waited {
                self.end();
            }
        }
    }
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
