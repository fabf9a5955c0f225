//! Updates queue, and none loses what another wrote.

use std::path::Path;
use std::time::{Duration, Instant};

use hammerspace_os::process::fork::{Child, fork};
use hammerspace_space::{Kind, Space};

use crate::support::{publish, quick, scratch, seen, version_dirs};

const UPDATES: u32 = 20;

/// Adds one to a number.
fn count(space: &Space) {
    let updated = space.update(|writer| {
        let before = writer.get("count")?.map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().unwrap()));
        writer.put("count", (before + 1).to_le_bytes())
    });
    assert!(updated.unwrap().is_published);
}

fn counted(path: &Path) -> u32 {
    u32::from_le_bytes(seen(path)[&b"count"[..]].clone().try_into().unwrap())
}

#[test]
fn no_update_of_any_thread_is_lost() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..UPDATES).for_each(|_| count(&space)));
        }
    });
    assert_eq!(counted(scratch.path()), 4 * UPDATES);
}

#[test]
fn no_update_of_any_process_is_lost() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let count_all = || {
        (0..UPDATES).for_each(|_| count(&space));
        0
    };
    let children: Vec<_> = (0..4).map(|_| fork(count_all)).collect();
    assert!(children.into_iter().all(|child| child.wait() == Some(0)));
    assert_eq!(counted(scratch.path()), 4 * UPDATES);
}

/// The oracle of the two above.
#[test]
fn canary_writers_that_do_not_queue_lose_updates() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let (mut one, mut other) = (space.writer().unwrap(), space.writer().unwrap());
    one.put("one", "1").unwrap();
    other.put("other", "2").unwrap();
    one.publish().unwrap();
    other.publish().unwrap();
    assert_eq!(seen(scratch.path()).len(), 1);
}

#[test]
fn an_update_runs_again_on_what_others_published_meanwhile() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    publish(&space, &[("color", "red")]);
    let mut found = Vec::new();
    let updated = space.update(|writer| {
        found.push(writer.get("color")?);
        if found.len() == 1 {
            publish(&space, &[("color", "blue")]);
        }
        writer.put("shape", "round")
    });
    assert_eq!(updated.unwrap().version, Some(3));
    assert_eq!(found, [Some(b"red".to_vec()), Some(b"blue".to_vec())]);
    let pairs: Vec<_> = seen(scratch.path()).into_values().collect();
    assert_eq!(pairs, [b"blue".to_vec(), b"round".to_vec()]);
}

/// Whatever changes `current`: a publication, one of the same keys, a rollback, a clear.
#[test]
fn a_writer_in_turn_publishes_nothing_once_current_has_changed() {
    let scratch = scratch();
    let space = quick().keep(3).create(scratch.path()).unwrap();
    publish(&space, &[("color", "red")]);
    publish(&space, &[("color", "blue")]);
    let meddlers: [&dyn Fn() -> u64; 4] = [
        &|| publish(&space, &[("color", "green")]),
        &|| space.writer().unwrap().publish().unwrap(),
        &|| space.rollback(None).unwrap(),
        &|| {
            space.clear().unwrap();
            0
        },
    ];
    for (at, meddle) in meddlers.iter().enumerate() {
        let mut writer = space.updater().unwrap();
        writer.put("shape", "round").unwrap();
        meddle();
        let before = seen(scratch.path());
        let failed = writer.try_publish().unwrap_err();
        assert_eq!(failed.error.kind(), Kind::Changed, "{at}");
        let failed = failed.writer.expect("it is pending").try_publish().unwrap_err();
        assert_eq!(failed.error.kind(), Kind::Changed, "{at}: it stays so");
        assert_eq!(seen(scratch.path()), before, "{at}");
        let mut writer = failed.writer.expect("it is pending still");
        writer.restart().unwrap();
        writer.put(at.to_string(), "restarted").unwrap();
        writer.publish().unwrap();
        assert_eq!(seen(scratch.path()).len(), before.len() + 1, "{at}");
    }
}

#[test]
fn an_update_that_writes_nothing_or_fails_publishes_nothing() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    assert_eq!(space.update(|_| Ok(7)).unwrap().version, None);
    publish(&space, &[("color", "red")]);
    let updated = space.update(|writer| writer.get("color")).unwrap();
    assert_eq!((updated.version, updated.is_published), (Some(1), false));
    assert_eq!(updated.result.as_deref(), Some(&b"red"[..]));
    let failed = space.update(|writer| {
        writer.put("color", "blue")?;
        Err::<(), _>(hammerspace_space::Error::new(Kind::Invalid, "no"))
    });
    assert_eq!(failed.unwrap_err().kind(), Kind::Invalid);
    assert_eq!(seen(scratch.path())[&b"color"[..]], b"red");
    assert_eq!(version_dirs(scratch.path()).len(), 1);
}

#[test]
fn a_cleared_writer_starts_from_nothing_and_keeps_its_turn() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    publish(&space, &[("color", "red")]);
    let mut writer = space.updater().unwrap();
    writer.put("shape", "round").unwrap();
    writer.clear().unwrap();
    assert_eq!(space.updater_within(Duration::ZERO).unwrap_err().kind(), Kind::Busy);
    assert_eq!(writer.count().unwrap(), 0);
    writer.publish().unwrap();
    assert!(seen(scratch.path()).is_empty());

    let mut writer = space.updater().unwrap();
    writer.clear().unwrap();
    publish(&space, &[("color", "blue")]);
    assert_eq!(writer.publish().unwrap_err().kind(), Kind::Changed);
}

/// A child that takes its turn, touches `sign`, and keeps the turn.
fn hold(space: &Space, sign: &Path) -> Child {
    let child = fork(|| {
        let _writer = space.updater().unwrap();
        std::fs::write(sign, "").unwrap();
        std::thread::sleep(Duration::from_mins(10));
        0
    });
    while !sign.exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

#[test]
fn a_turn_that_does_not_come_in_time_is_an_error_that_names_the_holder() {
    let scratch = scratch();
    let limit = Duration::from_millis(20);
    let space = quick().update_timeout(limit).create(scratch.path()).unwrap();
    let _child = hold(&space, &scratch.path().join("sign"));
    let started = Instant::now();
    let error = space.update(|_| Ok(())).unwrap_err();
    assert!(started.elapsed() >= limit);
    let holder = std::fs::read_to_string(scratch.path().join("hammerspace.update")).unwrap();
    assert_ne!(holder.trim(), std::process::id().to_string());
    assert!(error.kind() == Kind::Busy && error.finding().contains(&format!("process {} ", holder.trim())), "{error}");
    // Readers and other writers do not queue.
    publish(&space, &[("color", "red")]);
    assert_eq!(seen(scratch.path()).len(), 1);
}

#[test]
fn the_turn_of_a_killed_process_ends_with_it() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let child = hold(&space, &scratch.path().join("sign"));
    assert_eq!(space.updater_within(Duration::ZERO).unwrap_err().kind(), Kind::Busy);
    child.kill();
    space.updater_within(Duration::ZERO).unwrap();
}

#[test]
fn a_turn_is_not_shared_with_forked_children() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let mut writer = Some(space.updater().unwrap());
    let child = fork(|| {
        // What the parent has it keeps.
        drop(writer.take());
        i32::from(space.updater_within(Duration::ZERO).is_ok())
    });
    assert_eq!(child.wait(), Some(0));
    let sleeping = fork(|| {
        std::thread::sleep(Duration::from_mins(10));
        0
    });
    drop(writer);
    space.updater_within(Duration::ZERO).unwrap();
    sleeping.kill();
}

#[test]
fn an_update_within_an_update_is_told_that_it_waits_for_itself() {
    let scratch = scratch();
    let space = quick().update_timeout(Duration::ZERO).create(scratch.path()).unwrap();
    let error = space.update(|_| space.update(|_| Ok(()))).unwrap_err();
    assert!(error.kind() == Kind::Busy && error.finding().contains("this process itself"), "{error}");
}

/// One that comes back at once does not overtake one that waits.
#[test]
fn whoever_waits_is_next() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let first = space.updater().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| space.updater().unwrap());
        let is_waiting = || {
            let next = std::fs::File::open(scratch.path().join("hammerspace.next")).unwrap();
            next.try_lock().is_err()
        };
        while !is_waiting() {
            std::thread::yield_now();
        }
        drop(first);
        // The turn is free for up to 32 ms now, and the place next in line is not.
        assert!(space.updater_within(Duration::ZERO).is_err());
        drop(waiting.join().unwrap());
    });
    space.updater_within(Duration::ZERO).unwrap();
}

/// Should somebody remove the lock files, two have their turn at once; what one of them publishes is not lost all the same.
#[test]
fn without_the_queue_nothing_is_lost_either() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let mut runs = 0;
    space
        .update(|writer| {
            runs += 1;
            if runs == 1 {
                std::fs::remove_file(scratch.path().join("hammerspace.update")).unwrap();
                space.update(|writer| writer.put("inner", "1"))?;
            }
            writer.put("outer", "2")
        })
        .unwrap();
    assert_eq!((runs, seen(scratch.path()).len()), (2, 2));
}
