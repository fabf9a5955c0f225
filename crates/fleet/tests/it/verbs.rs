//! Each verb, against a store that works.

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use hammerspace_error::Kind;
use hammerspace_fleet::{Activation, Fleet, Follow, Follower, Polled, Push, activate, gc, rollback, run, status};
use hammerspace_space::{LOG_FILE, Space};

use crate::rig::{Publisher, Rig, contents, follower, simulate, small};

#[test]
fn a_version_goes_from_a_directory_to_another_machine() {
    let publisher = Publisher::new();
    let url = format!("file://{}", publisher.path("store").display());
    let fleet = Fleet::open(&url).unwrap();
    let empty = run(publisher.push(&fleet, &Push::default())).unwrap_err();
    assert_eq!(empty.kind(), Kind::Missing);
    let target = publisher.path("target");
    let mut web = follower(&fleet, &target, 1);
    assert_eq!(run(web.poll()).unwrap(), Polled::Unchanged);
    assert_eq!(web.state().waits_for, "the first version");

    publisher.write(1, 0, 500);
    let pushed = run(publisher.push(&fleet, &small())).unwrap();
    assert!(pushed.is_new && pushed.version == 1 && pushed.bytes + 84 == pushed.size, "{pushed:?}");
    assert!(!run(publisher.push(&fleet, &small())).unwrap().is_new, "nothing is new");
    assert_eq!(run(web.poll()).unwrap(), Polled::Current(1));
    assert_eq!(run(web.poll()).unwrap(), Polled::Unchanged);
    assert_eq!(contents(&Space::open(&target).unwrap()), publisher.contents());
    assert_eq!(Follower::open(fleet.clone(), &target, Follow::default()).err().map(|e| e.kind()), Some(Kind::Busy));

    let seen = run(status(&fleet)).unwrap();
    assert_eq!((seen.newest, seen.active, seen.held, seen.current_percent), (Some(1), Some(1), None, 100));
    assert_eq!(seen.followers[0].current, Some(1));
}

#[test]
fn a_continued_log_moves_only_its_new_end() {
    let (publisher, rig) = (Publisher::new(), Rig::new(1));
    let fleet = rig.fleet();
    simulate(async {
        publisher.write(1, 0, 5000);
        publisher.push(&fleet, &small()).await.unwrap();
        let mut web = follower(&fleet, &publisher.path("web"), 1);
        web.poll().await.unwrap();
        let before = web.state().bytes;
        publisher.write(2, 5000, 10);
        let pushed = publisher.push(&fleet, &small()).await.unwrap();
        assert!(pushed.bytes <= 10 * 115 + 20 + 4096, "the new end, and the part that it is in: {pushed:?}");
        assert_eq!(web.poll().await.unwrap(), Polled::Current(2));
        let moved = web.state().bytes - before;
        assert!((1000..=10 * 115 + 20).contains(&moved), "the new end alone: {moved}");
        assert_eq!(contents(&Space::open(publisher.path("web")).unwrap()), publisher.contents());
    });
}

#[test]
fn a_rollback_is_a_new_version_that_moves_nothing() {
    let (publisher, rig) = (Publisher::new(), Rig::new(2));
    let fleet = rig.fleet();
    simulate(async {
        let mut web = follower(&fleet, &publisher.path("web"), 1);
        publisher.write(1, 0, 500);
        publisher.push(&fleet, &small()).await.unwrap();
        web.poll().await.unwrap();
        let first = publisher.contents();
        publisher.write(2, 0, 500);
        publisher.push(&fleet, &small()).await.unwrap();
        web.poll().await.unwrap();
        let before = web.state().bytes;
        assert_eq!(rollback(&fleet, Some(9), Activation::Immediate).await.unwrap_err().kind(), Kind::Missing);
        assert_eq!(rollback(&fleet, None, Activation::Immediate).await.unwrap(), 3);
        assert_eq!(web.poll().await.unwrap(), Polled::Current(3));
        assert_eq!(web.state().bytes, before, "version 1 is kept here");
        assert_eq!(contents(&Space::open(publisher.path("web")).unwrap()), first);
        assert_eq!(fleet.manifest(3).await.unwrap().unwrap().rollback_of, Some(1));
    });
}

#[test]
fn a_held_version_is_fetched_by_all_and_then_activated() {
    let (publisher, rig) = (Publisher::new(), Rig::new(3));
    let fleet = rig.fleet();
    simulate(async {
        publisher.write(1, 0, 100);
        publisher.push(&fleet, &small()).await.unwrap();
        let mut fast = follower(&fleet, &publisher.path("fast"), 1);
        let mut slow = follower(&fleet, &publisher.path("slow"), 2);
        fast.poll().await.unwrap();
        slow.poll().await.unwrap();
        publisher.write(2, 100, 100);
        let held = Push { activation: Activation::Held, ..small() };
        publisher.push(&fleet, &held).await.unwrap();
        assert_eq!(fast.poll().await.unwrap(), Polled::Ready(2));
        assert_eq!((fast.state().current, fast.state().ready), (Some(1), Some(2)));
        let refused = activate(&fleet, None, 100).await.unwrap_err();
        assert_eq!((refused.kind(), refused.finding()), (Kind::Busy, "version 2 is ready on 1 of 2 followers"));
        assert_eq!(status(&fleet).await.unwrap().ready_percent, 50);
        // A follower that is killed meanwhile keeps what it has made ready.
        drop(fast);
        let mut fast = follower(&fleet, &publisher.path("fast"), 3);
        assert_eq!(fast.poll().await.unwrap(), Polled::Ready(2));
        assert_eq!(fast.state().bytes, 0);
        assert_eq!(slow.poll().await.unwrap(), Polled::Ready(2));
        assert_eq!(slow.poll().await.unwrap(), Polled::Unchanged);
        drop(fast);
        assert_eq!(activate(&fleet, None, 66).await.unwrap(), 2);
        assert_eq!(slow.poll().await.unwrap(), Polled::Current(2));
        assert_eq!(contents(&Space::open(publisher.path("slow")).unwrap()), publisher.contents());
    });
}

#[test]
fn a_pinned_follower_stays_and_a_rate_is_kept() {
    let (publisher, rig) = (Publisher::new(), Rig::new(4));
    let fleet = rig.fleet();
    simulate(async {
        for version in 1..=3 {
            publisher.write(version, 0, 1000);
            publisher.push(&fleet, &small()).await.unwrap();
        }
        let open = |path: &str, options| Follower::open(fleet.clone(), &publisher.path(path), options);
        let mut pinned = open("pinned", Follow { pin: Some(2), ..Follow::default() }).unwrap();
        assert_eq!(pinned.poll().await.unwrap(), Polled::Current(2));
        assert_eq!(pinned.poll().await.unwrap(), Polled::Unchanged);
        let mut nowhere = open("nowhere", Follow { pin: Some(7), ..Follow::default() }).unwrap();
        assert_eq!(nowhere.poll().await.unwrap_err().kind(), Kind::Missing);
        let mut slow = open("slow", Follow { rate: Some(10_000), ..Follow::default() }).unwrap();
        let began = tokio::time::Instant::now();
        slow.poll().await.unwrap();
        let (bytes, seconds) = (slow.state().bytes, began.elapsed().as_secs());
        assert!(bytes / 10_000 <= seconds + 1 && seconds < 2 * bytes / 10_000, "{bytes} bytes in {seconds} s");
        assert!(open("none", Follow { rate: Some(0), ..Follow::default() }).is_err());
        assert!(open("none", Follow { name: Some("a/b".into()), ..Follow::default() }).is_err());
    });
}

#[test]
fn garbage_goes_after_two_graces_and_nothing_that_a_push_may_name() {
    let (publisher, rig) = (Publisher::new(), Rig::new(5));
    let fleet = rig.fleet();
    let day = Duration::from_hours(24);
    simulate(async {
        for version in 1..=4 {
            publisher.write(version, 0, 300);
            publisher.push(&fleet, &small()).await.unwrap();
        }
        let later = |days| Utc::now() + TimeDelta::days(days) + TimeDelta::hours(1);
        assert_eq!(gc(&fleet, 0, day, later(9), false).await.unwrap_err().kind(), Kind::Invalid);
        assert_eq!(gc(&fleet, 1, day / 2, later(9), false).await.unwrap_err().kind(), Kind::Invalid);
        let young = gc(&fleet, 2, day, later(0), false).await.unwrap();
        assert_eq!((young.retired, young.parts), (0, 0), "within the grace");
        for dry in [true, true, false] {
            let collected = gc(&fleet, 2, day, later(2), dry).await.unwrap();
            assert_eq!((collected.retired, collected.parts), (2, 0), "retired, and their parts stay");
        }
        assert_eq!(rollback(&fleet, Some(1), Activation::Immediate).await.unwrap_err().kind(), Kind::Missing);
        for dry in [true, false] {
            let collected = gc(&fleet, 2, day, later(4), dry).await.unwrap();
            assert!(collected.removed == 2 && collected.parts > 0, "{collected:?}");
        }
        assert_eq!(fleet.numbers().await.unwrap(), [1, 2, 3, 4], "numbers stay taken");
        let mut web = follower(&fleet, &publisher.path("web"), 1);
        assert_eq!(web.poll().await.unwrap(), Polled::Current(4));
        assert_eq!(rollback(&fleet, Some(3), Activation::Immediate).await.unwrap(), 5);
        assert_eq!(web.poll().await.unwrap(), Polled::Current(5));
    });
}

#[test]
fn what_was_made_here_is_replaced_and_damage_here_is_fetched_again() {
    let (publisher, rig) = (Publisher::new(), Rig::new(6));
    let fleet = rig.fleet();
    simulate(async {
        publisher.write(1, 0, 500);
        publisher.push(&fleet, &small()).await.unwrap();
        let path = publisher.path("web");
        let mut web = follower(&fleet, &path, 1);
        web.poll().await.unwrap();
        let space = Space::open(&path).unwrap();
        let mut writer = space.writer().unwrap();
        writer.put("mine", "here").unwrap();
        writer.publish().unwrap();
        assert_eq!(web.poll().await.unwrap(), Polled::Current(1));
        assert_eq!(contents(&space), publisher.contents());

        // A flipped bit in the current version's log is not carried into the next.
        let log = path.join(space.snapshot().uid().unwrap()).join(LOG_FILE);
        let mut bytes = std::fs::read(&log).unwrap();
        bytes[5000] ^= 1;
        std::fs::write(&log, bytes).unwrap();
        publisher.write(2, 500, 5);
        publisher.push(&fleet, &small()).await.unwrap();
        assert_eq!(web.poll().await.unwrap(), Polled::Current(2));
        assert_eq!(contents(&space), publisher.contents());
    });
}
