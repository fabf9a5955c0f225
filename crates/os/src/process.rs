//! Processes.

use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use hammerspace_error::{Doing, Result};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::process::{Pid, test_kill_process};

/// Whether a process of this number lives in our process namespace, whoever it belongs to.
pub fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    test_kill_process(pid) != Err(Errno::SRCH)
}

/// Ends this process as Ctrl-C ends one that does not listen for it: a shell sees that, and stops a loop.
pub fn end_by_interrupt() -> ! {
    // SAFETY: both take numbers only; what was to handle the signal no longer does.
    unsafe {
        libc::signal(libc::SIGINT, libc::SIG_DFL);
        libc::raise(libc::SIGINT);
    }
    // Only where the signal is blocked.
    std::process::exit(128 + libc::SIGINT)
}

/// Bytes of a page of this machine's memory.
pub fn page_size() -> usize {
    rustix::param::page_size()
}

/// Bytes of memory that this machine has.
pub fn memory() -> usize {
    let info = rustix::system::sysinfo();
    (info.totalram as usize).saturating_mul(info.mem_unit as usize)
}

/// Tells the process that made it from those forked from it later, at the cost of one load: `getpid` is a system call.
pub struct ForkDetector(Mapped);

struct Mapped(NonNull<AtomicU64>);

// SAFETY: one word of memory, loaded only.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl ForkDetector {
    /// This process.
    pub fn new() -> Result<Self> {
        let flags = MapFlags::PRIVATE;
        // SAFETY: a fresh mapping of one page (the kernel rounds up) at an address of the kernel's choice.
        let page =
            unsafe { mmap_anonymous(ptr::null_mut(), size_of::<u64>(), ProtFlags::READ | ProtFlags::WRITE, flags) };
        let page: *mut u64 = page.map_err(io::Error::from).doing("map a page")?.cast();
        let here = Self(Mapped(NonNull::new(page.cast()).expect("the kernel maps nothing at 0")));
        // SAFETY: our own page, which nobody else knows yet; children find zeros in it.
        unsafe {
            page.write(1);
            madvise(page.cast(), size_of::<u64>(), Advice::LinuxWipeOnFork)
                .map_err(io::Error::from)
                .doing("keep a page from forked children")?;
        }
        Ok(here)
    }

    /// Whether this is still the process that made it.
    #[inline]
    pub fn is_same_process(&self) -> bool {
        // SAFETY: a word of a live mapping of ours, unmapped by `drop` alone.
        unsafe { self.0.0.as_ref() }.load(Ordering::Relaxed) == 1
    }
}

impl Drop for ForkDetector {
    fn drop(&mut self) {
        // SAFETY: our own page, and no reference to it is left.
        let _ = unsafe { munmap(self.0.0.as_ptr().cast(), size_of::<u64>()) };
    }
}

/// Forking, for the suites: what a forking server does to its libraries.
#[cfg(feature = "testing")]
pub mod fork {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::path::Path;

    use rustix::thread::{SecureComputingMode, set_secure_computing_mode};

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

    /// Gives up being root, for good; in a child. Says whether it did.
    pub fn become_nobody() -> bool {
        const NOBODY: libc::uid_t = 65534;
        // SAFETY: these change what this process may do, and touch no memory of ours.
        unsafe { libc::setgroups(0, std::ptr::null()) == 0 && libc::setgid(NOBODY) == 0 && libc::setuid(NOBODY) == 0 }
    }

    /// Lets the kernel end this process as soon as it makes a system call other than `read` and `write`; in a child.
    pub fn read_and_write_only() {
        set_secure_computing_mode(SecureComputingMode::Strict).expect("the kernel has seccomp");
    }

    /// Mounts a file system in memory of so many bytes on a directory, which this process alone sees; in a child. Says whether it may.
    pub fn mount_memory(path: &Path, bytes: u64) -> bool {
        let path = CString::new(path.as_os_str().as_bytes()).expect("a path without a zero");
        let size = CString::new(format!("size={bytes}")).expect("digits");
        // SAFETY: a child has one thread, which alone gets namespaces of its own; the strings outlive the calls.
        unsafe {
            let is_ours =
                libc::unshare(libc::CLONE_NEWNS) == 0 || libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) == 0;
            let (none, private) = (std::ptr::null(), libc::MS_REC | libc::MS_PRIVATE);
            is_ours
                && libc::mount(none, c"/".as_ptr(), none, private, std::ptr::null()) == 0
                && libc::mount(c"none".as_ptr(), path.as_ptr(), c"tmpfs".as_ptr(), 0, size.as_ptr().cast()) == 0
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
    #[cfg(feature = "testing")]
    #[test]
    fn a_forked_child_is_elsewhere() {
        let here = super::ForkDetector::new().unwrap();
        assert_eq!(super::fork::fork(|| i32::from(here.is_same_process())).wait(), Some(0));
        assert!(here.is_same_process());
    }

    #[test]
    fn we_are_alive_and_nobody_is_not() {
        assert!(super::is_alive(std::process::id()));
        assert!(!super::is_alive(0));
        assert!(!super::is_alive(u32::MAX));
        assert!(!super::is_alive(0x3fff_ffff), "beyond the largest pid that Linux hands out");
    }
}
