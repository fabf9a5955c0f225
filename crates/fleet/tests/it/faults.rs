//! Stores that fail, pushes that race, and processes that die.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::future::join_all;
use hammerspace_error::Kind;
use hammerspace_fleet::{Polled, probe, push};
use hammerspace_space::{INDEX_FILE, LOG_FILE, Space};
use object_store::ObjectStoreExt;

use crate::rig::{Contents, Faults, Publisher, Rig, check_whole, contents, follower, simulate, small};

const FAULTS: Faults =
    Faults { refused: 60, unanswered: 40, flipped: 30, cut: 30, racy: false, latency: Duration::from_millis(20) };

/// Each takes seconds, most of them in syncs.
const SEEDS: u64 = 4;

#[test]
fn sixteen_racing_pushes_make_a_linear_history_that_lacks_none() {
    for seed in 0..10 {
        let rig = Rig::new(seed);
        let fleet = rig.fleet();
        simulate(async {
            let publishers: Vec<_> = (0..16).map(|_| Publisher::new()).collect();
            for (version, publisher) in (0..).zip(&publishers) {
                publisher.write(1000 + version, 0, 20);
            }
            probe(&fleet).await.unwrap();
            let options = small();
            rig.set(Faults { flipped: 0, cut: 0, ..FAULTS });
            let outcomes = join_all(publishers.iter().map(|publisher| publisher.push(&fleet, &options))).await;
            rig.set(Faults::default());
            assert!(outcomes.iter().flatten().count() >= 8, "seed {seed}: {outcomes:?}");
            let won: HashSet<u64> = outcomes.iter().flatten().map(|pushed| pushed.version).collect();
            assert_eq!(won.len(), outcomes.iter().flatten().count(), "seed {seed}: no number twice");
            let numbers = fleet.numbers().await.unwrap();
            assert!(won.iter().all(|number| numbers.contains(number)), "seed {seed}: none is lost");
            let mut pushes = HashSet::new();
            for (expected, number) in (1..).zip(numbers) {
                let manifest = fleet.manifest(number).await.unwrap().unwrap();
                assert_eq!((number, manifest.parent), (expected, expected - 1), "seed {seed}");
                assert!(pushes.insert(manifest.push), "seed {seed}: one push took two numbers");
            }
        });
    }
}

#[test]
fn whatever_fails_a_follower_reads_whole_versions_and_arrives() {
    let (mut failures, mut arrivals) = (0, 0);
    for seed in 0..SEEDS {
        let (publisher, rig) = (Publisher::new(), Rig::new(seed));
        let (fleet, path) = (rig.fleet(), publisher.path("web"));
        let mut expected: Vec<Contents> = Vec::new();
        simulate(async {
            probe(&fleet).await.unwrap();
            let mut web = follower(&fleet, &path, seed);
            for version in 1..=6 {
                publisher.write(version, version % 3 * 200, 300);
                expected.push(publisher.contents());
                rig.set(FAULTS);
                // A push may fail; what it may not do is to publish a part of what it pushed.
                while publisher.push(&fleet, &small()).await.is_err() {}
                for _ in 0..3 {
                    failures += u64::from(web.poll().await.is_err());
                    check_whole(&path, &expected).unwrap_or_else(|finding| panic!("seed {seed}: {finding}"));
                }
                rig.set(Faults::default());
                if seed % 2 == 0 {
                    // As after kill -9: all that is left is what is on the disk.
                    drop(web);
                    web = follower(&fleet, &path, seed + version);
                }
            }
            web.poll().await.unwrap();
            assert_eq!(contents(&Space::open(&path).unwrap()), *expected.last().unwrap(), "seed {seed}");
            arrivals += 1;
        });
    }
    assert!(failures > SEEDS && arrivals == SEEDS, "{failures} polls failed");
}

#[test]
fn a_broken_fetch_goes_on_where_it_ended() {
    let (publisher, rig) = (Publisher::new(), Rig::new(7));
    let (fleet, path) = (rig.fleet(), publisher.path("web"));
    simulate(async {
        publisher.write(1, 0, 3000);
        let size = publisher.push(&fleet, &small()).await.unwrap().size;
        rig.set(Faults { refused: 40, ..Faults::default() });
        let mut broken = 0;
        loop {
            // Each attempt is another process.
            match follower(&fleet, &path, broken).poll().await {
                Ok(Polled::Current(1)) => break,
                Ok(other) => panic!("{other:?}"),
                Err(_) => broken += 1,
            }
        }
        assert!(broken >= 2, "{broken}");
        // What is lost each time is what was under way.
        assert!(rig.bytes_out() < size + (broken + 1) * 8 * 4096 + 100_000, "{} of {size}", rig.bytes_out());
    });
}

#[test]
fn while_the_store_is_away_the_space_stays_and_the_follower_says_so() {
    let (publisher, rig) = (Publisher::new(), Rig::new(8));
    let (fleet, path) = (rig.fleet(), publisher.path("web"));
    simulate(async {
        publisher.write(1, 0, 10);
        publisher.push(&fleet, &small()).await.unwrap();
        let mut web = follower(&fleet, &path, 1);
        web.poll().await.unwrap();
        rig.set(Faults { refused: 1000, ..Faults::default() });
        for _ in 0..5 {
            assert_eq!(web.poll().await.unwrap_err().kind(), Kind::Io);
        }
        assert!(web.state().waits_for.contains("rig://store"), "{}", web.state().waits_for);
        assert_eq!((web.state().current, web.state().failures), (Some(1), 5));
        rig.set(Faults::default());
        publisher.write(2, 0, 10);
        publisher.push(&fleet, &small()).await.unwrap();
        assert_eq!(web.poll().await.unwrap(), Polled::Current(2));
    });
}

#[test]
fn a_damaged_manifest_is_named_and_the_next_push_replaces_it() {
    let (publisher, rig) = (Publisher::new(), Rig::new(10));
    let (fleet, path) = (rig.fleet(), publisher.path("web"));
    simulate(async {
        publisher.write(1, 0, 10);
        publisher.push(&fleet, &small()).await.unwrap();
        let mut web = follower(&fleet, &path, 1);
        web.poll().await.unwrap();
        let name = "versions/00000000000000000002.json";
        rig.put(&name.into(), "{\"layout\": 1".into()).await.unwrap();
        let refused = web.poll().await.unwrap_err();
        assert!(refused.kind() == Kind::Corrupt && refused.to_string().contains(name), "{refused}");
        assert_eq!(web.state().current, Some(1));
        publisher.write(2, 0, 10);
        assert_eq!(publisher.push(&fleet, &small()).await.unwrap().version, 3);
        assert_eq!(web.poll().await.unwrap(), Polled::Current(3));
    });
}

#[test]
fn canary_a_store_whose_conditional_put_is_not_atomic_is_refused() {
    let (publisher, rig) = (Publisher::new(), Rig::new(9));
    let fleet = rig.fleet();
    rig.set(Faults { racy: true, ..Faults::default() });
    simulate(async {
        publisher.write(1, 0, 10);
        let refused = push(&fleet, &publisher.space.snapshot(), &small()).await.unwrap_err();
        assert!(refused.kind() == Kind::Unsupported && refused.finding().contains("won"), "{refused}");
        assert!(fleet.numbers().await.unwrap().is_empty());
    });
}

/// What a follower would do that makes a version current before it is verified.
#[test]
fn canary_a_version_adopted_unverified_is_noticed() {
    let publisher = Publisher::new();
    publisher.write(1, 0, 500);
    let expected = [publisher.contents()];
    let from = publisher.path("source").join(publisher.space.snapshot().uid().unwrap());
    let path = publisher.path("web");
    let target = Space::create(&path).unwrap();
    let adopt = |damage: fn(&mut Vec<u8>)| {
        let next = path.join("next");
        std::fs::create_dir(&next).unwrap();
        let mut log = std::fs::read(from.join(LOG_FILE)).unwrap();
        damage(&mut log);
        std::fs::write(next.join(LOG_FILE), log).unwrap();
        std::fs::copy(from.join(INDEX_FILE), next.join(INDEX_FILE)).unwrap();
        target.adopt("next").unwrap();
        check_whole(&path, &expected)
    };
    assert_eq!(adopt(|_| {}), Ok(()));
    assert_eq!(adopt(|log| log[5000] ^= 1), Err("it is a mix".into()), "a value differs, which no structure shows");
    assert!(adopt(|log| log[4000..9000].fill(0)).is_err());
}
