//! Each change to the file system, refused in turn: a full disk, a broken one. Nothing that was published is lost.

use std::cell::Cell;
use std::io;
use std::rc::Rc;

use hammerspace_os::trace::{Op, watch};
use hammerspace_space::{Kind, Options, Result, Space};

use crate::support::{names, publish, scratch, seen};

const NO_SPACE: i32 = 28;

fn update(space: &Space) -> Result<u64> {
    let mut writer = space.writer()?;
    writer.put("new", vec![1; 100_000])?;
    writer.publish()
}

/// Refuses the change of this number; says whether there was one.
fn refusing<T>(at: usize, work: impl FnOnce() -> T) -> (T, bool) {
    let count = Rc::new(Cell::new(0));
    let seen = Rc::clone(&count);
    let outcome = watch(
        move |_: &Op| {
            seen.set(seen.get() + 1);
            if seen.get() == at + 1 { Err(io::Error::from_raw_os_error(NO_SPACE)) } else { Ok(()) }
        },
        work,
    );
    (outcome, count.get() > at)
}

#[test]
fn whatever_change_the_disk_refuses_nothing_is_lost_and_nothing_left() {
    let mut refused = 0;
    for at in 0.. {
        let scratch = scratch();
        let space = Options::new().create(scratch.path()).unwrap();
        publish(&space, &[("old", "1")]);
        let (outcome, reached) = refusing(at, || update(&space));
        let after = seen(scratch.path());
        assert_eq!(after[&b"old"[..]], b"1", "change {at}");
        match outcome {
            Ok(_) => assert!(after.contains_key(&b"new"[..]), "change {at} was refused, and publish said all is well"),
            Err(error) => {
                refused += 1;
                assert_eq!(error.kind(), Kind::Full, "change {at}: {error}");
                assert!(error.path().is_some() && error.advice().is_some(), "change {at}: {error}");
            }
        }
        publish(&space, &[("next", "2")]);
        assert_eq!(names(scratch.path()).len(), 3, "change {at}: {:?}", names(scratch.path()));
        if !reached {
            break;
        }
    }
    assert!(refused >= 10, "only {refused} changes were refused: does the watcher see them?");
}
