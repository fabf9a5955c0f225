//! Each change to the file system, refused in turn: a full disk, a broken one. Nothing that was published is lost.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hammerspace_os::trace::{Op, watch};
use hammerspace_space::{Kind, Options, Result, Space};

use crate::support::{Twin, names, publish, quick, scratch, seen};

const NO_SPACE: i32 = 28;

/// One of the things that change a space, and what of it a fresh reader then sees.
struct Act {
    name: &'static str,
    work: fn(&Space) -> Result<()>,
    done: fn(&Twin) -> bool,
    changes_at_least: usize,
}

const ACTS: [Act; 4] = [
    Act {
        name: "update",
        work: update,
        done: |now| now.len() == 2 && now.contains_key(&b"new"[..]),
        changes_at_least: 10,
    },
    Act {
        name: "replace",
        work: replace,
        done: |now| now.len() == 1 && now.contains_key(&b"new"[..]),
        changes_at_least: 10,
    },
    Act {
        name: "rollback",
        work: |space| space.rollback(None).map(drop),
        done: |now| now[&b"key"[..]] == b"1",
        changes_at_least: 4,
    },
    Act { name: "clear", work: Space::clear, done: Twin::is_empty, changes_at_least: 2 },
];

fn update(space: &Space) -> Result<()> {
    let mut writer = space.writer()?;
    writer.put("new", vec![1; 100_000])?;
    writer.publish().map(drop)
}

fn replace(space: &Space) -> Result<()> {
    let mut writer = space.replace()?;
    writer.put("new", "2")?;
    writer.publish().map(drop)
}

/// Refuses the change of this number; says whether there was one.
fn refusing<T>(at: usize, work: impl FnOnce() -> T) -> (T, bool) {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let refuse = move |_: &Op| match seen.fetch_add(1, Ordering::Relaxed) {
        number if number == at => Err(io::Error::from_raw_os_error(NO_SPACE)),
        _ => Ok(()),
    };
    let outcome = watch(refuse, work);
    (outcome, count.load(Ordering::Relaxed) > at)
}

#[test]
fn whatever_change_the_disk_refuses_nothing_is_lost_and_nothing_left() {
    for Act { name, work, done, changes_at_least } in ACTS {
        let mut refused = 0;
        for at in 0.. {
            let context = format!("{name}, change {at}");
            let scratch = scratch();
            let space = Options::new().keep(2).create(scratch.path()).unwrap();
            publish(&space, &[("key", "1")]);
            publish(&space, &[("key", "2")]);
            let (outcome, reached) = refusing(at, || work(&space));
            let after = seen(scratch.path());
            assert!(done(&after) || after.get(&b"key"[..]).is_some_and(|value| value == b"2"), "{context}: {after:?}");
            match outcome {
                Ok(()) => assert!(done(&after), "{context} was refused, and all is said to be well"),
                Err(error) => {
                    refused += 1;
                    assert_eq!(error.kind(), Kind::Full, "{context}: {error}");
                    assert!(error.path().is_some() && error.advice().is_some(), "{context}: {error}");
                }
            }
            publish(&quick().open(scratch.path()).unwrap(), &[("next", "3")]);
            assert_eq!(names(scratch.path()).len(), 3, "{context}: {:?}", names(scratch.path()));
            if !reached {
                break;
            }
        }
        assert!(refused >= changes_at_least, "{name}: only {refused} were refused: does the watcher see them?");
    }
}

/// The disk has room again when it is tried again. What could not be synced is not trusted, and never said to be published.
#[test]
fn whatever_change_the_disk_refuses_publishing_can_be_tried_again() {
    let (mut again, mut lost) = (0, 0);
    for at in 0.. {
        let scratch = scratch();
        let space = Space::create(scratch.path()).unwrap();
        publish(&space, &[("key", "1")]);
        let mut writer = space.writer().unwrap();
        writer.put("new", vec![1; 100_000]).unwrap();
        let (outcome, reached) = refusing(at, || writer.try_publish());
        if !reached {
            break;
        }
        let Err(failed) = outcome else { continue };
        let Some(mut writer) = failed.writer else {
            assert_eq!(seen(scratch.path()).len(), 2, "change {at}: neither published nor pending");
            continue;
        };
        assert_eq!(seen(scratch.path()).len(), 1, "change {at}: published and pending");
        writer.put("later", "2").unwrap();
        assert_eq!(writer.count().unwrap(), 3);
        if failed.error.finding().starts_with("sync") {
            let failed = writer.try_publish().unwrap_err();
            assert!(failed.error.finding().contains("could not be synced"), "change {at}: {}", failed.error);
            assert!(failed.writer.is_some_and(|writer| writer.publish().is_err()), "change {at}");
            lost += 1;
        } else {
            writer.publish().unwrap();
            assert_eq!(seen(scratch.path())[&b"new"[..]], vec![1; 100_000], "change {at}");
            assert_eq!(seen(scratch.path()).len(), 3, "change {at}");
            again += 1;
        }
        assert_eq!(names(scratch.path()).len(), 3, "change {at}: {:?}", names(scratch.path()));
    }
    assert!(again >= 5 && lost >= 4, "tried again {again} times, and lost {lost} times");
}

/// With so many keys, several threads write the index, and in several pieces.
#[test]
fn whichever_write_of_a_large_index_is_refused_nothing_is_lost_and_nothing_left() {
    for at in 1..=3 {
        let scratch = scratch();
        let space = quick().create(scratch.path()).unwrap();
        publish(&space, &[("key", "1")]);
        let mut count = 0;
        let refuse = move |op: &Op| {
            let is_write = matches!(op, Op::Write(path, ..) if path.ends_with("hammerspace.spi"));
            count += usize::from(is_write);
            if is_write && count == at { Err(io::Error::from_raw_os_error(NO_SPACE)) } else { Ok(()) }
        };
        let outcome = watch(refuse, || {
            let mut writer = space.replace()?;
            (0..300_000_u32).try_for_each(|key| writer.put(key.to_le_bytes(), ""))?;
            writer.publish()
        });
        assert_eq!(outcome.unwrap_err().kind(), Kind::Full, "write {at}");
        assert_eq!(seen(scratch.path()).len(), 1);
        assert_eq!(names(scratch.path()).len(), 3, "write {at}: {:?}", names(scratch.path()));
    }
}
