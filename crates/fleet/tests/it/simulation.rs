//! A thousand followers of one publish: the real protocol over simulated time and a simulated store.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use hammerspace_fleet::{Follow, Follower, Polled};
use tokio::task::LocalSet;
use tokio::time::Instant;

use crate::rig::{Faults, Publisher, Rig, simulate, small};

const FOLLOWERS: u64 = if cfg!(debug_assertions) { 100 } else { 1000 };

#[test]
fn a_publish_reaches_the_last_follower_within_one_and_a_half_polls() {
    let (publisher, rig) = (Publisher::new(), Rig::new(42));
    let fleet = rig.fleet();
    let every = Duration::from_secs(30);
    simulate(LocalSet::new().run_until(async {
        publisher.write(1, 0, 300);
        publisher.push(&fleet, &small()).await.unwrap();
        rig.set(Faults { latency: Duration::from_millis(30), ..Faults::default() });
        let tasks: Vec<_> = (0..FOLLOWERS)
            .map(|seed| {
                let options = Follow { every, seed, ..Follow::default() };
                let mut web = Follower::open(fleet.clone(), &publisher.path(&format!("web-{seed}")), options).unwrap();
                tokio::task::spawn_local(async move {
                    loop {
                        if web.poll().await.unwrap() == Polled::Current(2) {
                            return Instant::now();
                        }
                        tokio::time::sleep(web.pause()).await;
                    }
                })
            })
            .collect();
        tokio::time::sleep(Duration::from_mins(5)).await;
        let (requests, bytes) = (rig.counts.requests.load(Relaxed), rig.bytes_out());
        publisher.write(2, 300, 3);
        let size = publisher.push(&fleet, &small()).await.unwrap().size;
        let began = Instant::now();
        let mut last = Duration::ZERO;
        for task in tasks {
            last = last.max(task.await.unwrap() - began);
        }
        let (requests, bytes) = (rig.counts.requests.load(Relaxed) - requests, rig.bytes_out() - bytes);
        let (each, of_size) = (requests / FOLLOWERS, 100 * bytes / FOLLOWERS / size);
        println!("{FOLLOWERS} followers: {last:?} to the last, {each} requests and {of_size} % of the log each");
        assert!(last <= every.mul_f64(1.5) + Duration::from_secs(1), "{last:?}");
        assert!(each <= 5, "{requests} requests");
    }));
}
