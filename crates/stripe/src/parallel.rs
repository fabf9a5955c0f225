//! Work in parallel, with results in order.
//!
//! ```text
//! produce ─▶ job 0, 2, 4 … ─▶ worker 0 ─▶ results ─┐
//!        └─▶ job 1, 3, 5 … ─▶ worker 1 ─▶ results ─┴─▶ consume, job by job
//! ```
//! Every channel holds one thing, so at most three jobs a worker are in memory. An error ends everything.
//! One worker needs no threads: each job is worked on where it is produced.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use hammerspace_error::Result;

/// A part of what came of a job, or its end.
enum Part<R> {
    Result(R),
    Error(hammerspace_error::Error),
    End,
}

/// Hands the jobs of `produce` to workers in turn, and what they `work` out to `consume`, in the order of the jobs.
///
/// What is given to `produce` and `work` says whether anybody still wants it: with `false`, they return at once.
pub(crate) fn in_order<J: Send, R: Send>(
    workers: usize,
    produce: impl FnOnce(&mut dyn FnMut(J) -> bool) -> Result<()> + Send,
    work: impl Fn(J, &mut dyn FnMut(R) -> bool) -> Result<()> + Sync,
    mut consume: impl FnMut(R) -> Result<()>,
) -> Result<()> {
    if workers <= 1 {
        return one_by_one(produce, work, consume);
    }
    thread::scope(|scope| {
        let (mut inboxes, mut outboxes) = (Vec::new(), Vec::new());
        for _ in 0..workers {
            let (inbox, jobs) = sync_channel(1);
            let (results, outbox) = sync_channel(1);
            let work = &work;
            scope.spawn(move || run(&jobs, &results, work));
            inboxes.push(inbox);
            outboxes.push(outbox);
        }
        let producer = scope.spawn(move || {
            let mut turn = 0;
            produce(&mut |job| {
                turn += 1;
                inboxes[(turn - 1) % inboxes.len()].send(job).is_ok()
            })
        });
        for outbox in outboxes.iter().cycle() {
            if !collect(outbox, &mut consume)? {
                break;
            }
        }
        drop(outboxes);
        producer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn one_by_one<J, R>(
    produce: impl FnOnce(&mut dyn FnMut(J) -> bool) -> Result<()>,
    work: impl Fn(J, &mut dyn FnMut(R) -> bool) -> Result<()>,
    mut consume: impl FnMut(R) -> Result<()>,
) -> Result<()> {
    let mut done = Ok(());
    produce(&mut |job| {
        let mut consumed = Ok(());
        let worked = work(job, &mut |result| {
            consumed = consume(result);
            consumed.is_ok()
        });
        done = consumed.and(worked);
        done.is_ok()
    })?;
    done
}

fn run<J, R>(
    jobs: &Receiver<J>,
    results: &SyncSender<Part<R>>,
    work: &impl Fn(J, &mut dyn FnMut(R) -> bool) -> Result<()>,
) {
    for job in jobs {
        let ended = work(job, &mut |result| results.send(Part::Result(result)).is_ok());
        let end = ended.map_or_else(Part::Error, |()| Part::End);
        if results.send(end).is_err() {
            break;
        }
    }
}

/// Everything of one job; `false` where there are no more.
fn collect<R>(from: &Receiver<Part<R>>, consume: &mut impl FnMut(R) -> Result<()>) -> Result<bool> {
    loop {
        match from.recv() {
            Ok(Part::Result(result)) => consume(result)?,
            Ok(Part::Error(error)) => return Err(error),
            Ok(Part::End) => return Ok(true),
            Err(_) => return Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use hammerspace_error::{Error, Kind};

    use super::*;

    fn squares(workers: usize, up_to: u64) -> Result<Vec<u64>> {
        let mut got = Vec::new();
        let produce = |put: &mut dyn FnMut(u64) -> bool| {
            let _ = (0..up_to).all(put);
            Ok(())
        };
        let work = |job: u64, put: &mut dyn FnMut(u64) -> bool| {
            let _ = (0..job % 3).all(|_| put(job * job));
            if job == 77 { Err(Error::new(Kind::Invalid, "seventy-seven")) } else { Ok(()) }
        };
        let consume = |square| {
            got.push(square);
            Ok(())
        };
        in_order(workers, produce, work, consume)?;
        Ok(got)
    }

    #[test]
    fn results_come_in_order_and_an_error_ends_everything() {
        let expected: Vec<u64> = (0..70).flat_map(|job| vec![job * job; (job % 3) as usize]).collect();
        for workers in [1, 2, 5] {
            assert_eq!(squares(workers, 70).unwrap(), expected);
            assert_eq!(squares(workers, 1000).unwrap_err().finding(), "seventy-seven");
        }
        assert_eq!(squares(3, 0).unwrap(), Vec::<u64>::new());
    }

    #[test]
    fn an_error_of_the_consumer_or_the_producer_ends_it_too() {
        let endless = |put: &mut dyn FnMut(u64) -> bool| {
            while put(1) {}
            Ok(())
        };
        let pass = |job, put: &mut dyn FnMut(u64) -> bool| {
            put(job);
            Ok(())
        };
        let full = Error::new(Kind::Full, "full");
        for workers in [1, 2] {
            assert_eq!(in_order(workers, endless, pass, |_| Err(full.clone())).unwrap_err().kind(), Kind::Full);
        }
        let broken = |_: &mut dyn FnMut(u64) -> bool| Err(full.clone());
        assert_eq!(in_order(2, broken, pass, |_| Ok(())).unwrap_err().kind(), Kind::Full);
    }
}
