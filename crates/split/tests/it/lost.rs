//! A run dies at every change that it makes, and is tried again: every record is there once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hammerspace_os::trace::{Op, watch};

use crate::support::{expected, options, records, run, visible};

/// Refuses all changes but the first so many, and says how many there were.
fn dying(after: usize, work: impl FnOnce()) -> usize {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let watcher = move |_: &Op| {
        let is_dead = counter.fetch_add(1, Ordering::Relaxed) >= after;
        if is_dead { Err(io::Error::from_raw_os_error(5)) } else { Ok(()) }
    };
    watch(watcher, work);
    count.load(Ordering::Relaxed)
}

#[test]
fn a_run_that_dies_anywhere_can_be_tried_again() {
    let (first, second) = (records(1, 12), records(2, 12));
    let all = expected(first.iter().chain(&second));
    let mut after = 0;
    loop {
        let dir = tempfile::tempdir().unwrap();
        run(dir.path(), &first, options(Some(1))).unwrap();
        let changes = dying(after, || drop(run(dir.path(), &second, options(Some(2)))));
        visible(dir.path()).unwrap();
        run(dir.path(), &second, options(Some(2))).unwrap();
        assert_eq!(visible(dir.path()).unwrap(), all, "dead after {after} changes");
        if changes <= after {
            break;
        }
        after += 1;
    }
    assert!(after > 20, "{after} changes");
}
