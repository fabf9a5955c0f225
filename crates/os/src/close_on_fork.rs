//! Descriptors that a forked child does not share: a lock ends when its last copy does, and a child's may last for days.
//!
//! ```text
//! newest slot → … → first slot      each: a descriptor, or NONE      slots are reused, and never freed
//! ```
//!
//! The child lets go of them as it comes into being, before `fork` returns in it: each is replaced by an empty file in memory under the
//! same number, so that whoever has that number in the child still has a file of its own, and closes no other. A process that is made
//! around the C library (`clone` as a bare system call) keeps its copies.
//!
//! What always holds:
//! 1. A descriptor is in a slot before it is locked, and until after it is unlocked, whatever instant a fork comes at. It is in none
//!    when it is closed: its number may be another file's by the next fork.
//! 2. Nobody waits here. Slots are changed by single atomic steps, so a child that is forked in the midst of one goes on.
//! 3. What runs in the child neither allocates nor locks.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr};

use rustix::fs::{MemfdFlags, memfd_create};

const NONE: RawFd = -1;

/// A descriptor that forked children let go of, until this is dropped: before it is closed.
#[derive(Debug)]
pub(crate) struct CloseOnFork {
    slot: &'static Slot,
    descriptor: RawFd,
}

#[derive(Debug)]
struct Slot {
    descriptor: AtomicI32,
    older: Option<&'static Self>,
}

static NEWEST: AtomicPtr<Slot> = AtomicPtr::new(ptr::null_mut());

impl CloseOnFork {
    pub(crate) fn new(descriptor: BorrowedFd<'_>) -> io::Result<Self> {
        see_to_children()?;
        let descriptor = descriptor.as_raw_fd();
        let take = |slot: &&Slot| slot.descriptor.compare_exchange(NONE, descriptor, AcqRel, Relaxed).is_ok();
        Ok(Self { slot: slots().find(take).unwrap_or_else(|| Slot::add(descriptor)), descriptor })
    }
}

impl Drop for CloseOnFork {
    /// In a child the slot is free already, or may be another descriptor's by now.
    fn drop(&mut self) {
        self.slot.descriptor.compare_exchange(self.descriptor, NONE, AcqRel, Relaxed).ok();
    }
}

impl Slot {
    /// One more than there ever were at a time.
    fn add(descriptor: RawFd) -> &'static Self {
        let slot = Box::leak(Box::new(Self { descriptor: descriptor.into(), older: None }));
        let mut newest = NEWEST.load(Acquire);
        loop {
            slot.older = Self::at(newest);
            match NEWEST.compare_exchange_weak(newest, slot, AcqRel, Acquire) {
                Ok(_) => return slot,
                Err(other) => newest = other,
            }
        }
    }

    fn at(slot: *mut Self) -> Option<&'static Self> {
        // SAFETY: what is in `NEWEST` is null, or a slot that was leaked, which is changed through its atomic alone from then on.
        unsafe { slot.as_ref() }
    }
}

fn slots() -> impl Iterator<Item = &'static Slot> {
    std::iter::successors(Slot::at(NEWEST.load(Acquire)), |slot| slot.older)
}

/// Has every child that is forked from now on let go of what is in the slots, and children of children.
///
/// Threads that come here at the same time may each ask for it, which does no harm. To wait for one another could be for ever: in a
/// child whose parent was at it.
fn see_to_children() -> io::Result<()> {
    static IS_SEEN_TO: AtomicBool = AtomicBool::new(false);
    if !IS_SEEN_TO.load(Acquire) {
        // SAFETY: `let_go` may run in a forked child: it does nothing but load and store atomics and make system calls.
        let failed = unsafe { libc::pthread_atfork(None, None, Some(let_go)) };
        if failed != 0 {
            return Err(io::Error::from_raw_os_error(failed));
        }
        IS_SEEN_TO.store(true, Release);
    }
    Ok(())
}

/// What a forked child does first.
///
/// Where there is no descriptor left to make the empty file with, it keeps its copies: to close them would leave numbers to other
/// files that somebody here believes to be his.
extern "C" fn let_go() {
    let mut empty = None;
    for slot in slots() {
        let descriptor = slot.descriptor.swap(NONE, AcqRel);
        if descriptor == NONE {
            continue;
        }
        empty = empty.or_else(|| memfd_create(c"not the parent's lock", MemfdFlags::CLOEXEC).ok());
        if let Some(empty) = &empty {
            // SAFETY: the number is the child's copy of a file that is still open, whose owner in this process, if it has any, goes on to
            // have a file there. Both numbers are open, so this fails for no reason that leaves either closed.
            unsafe { libc::dup3(empty.as_raw_fd(), descriptor, libc::O_CLOEXEC) };
        }
    }
}
