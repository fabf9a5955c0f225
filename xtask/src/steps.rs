//! Named steps in a row: each prints a heading and its time, the first that fails ends the run.

use std::time::{Duration, Instant};

use crate::Result;

/// One thing to do, under the name that its heading shows.
pub(crate) type Step = (&'static str, fn() -> Result);

/// Runs the steps in order and closes with one line that counts them. Whether all passed.
pub(crate) fn run(steps: &[Step]) -> bool {
    let started = Instant::now();
    for (passed, (name, work)) in steps.iter().enumerate() {
        println!("\n== {}/{} {name}", passed + 1, steps.len());
        let step_started = Instant::now();
        if let Err(message) = work() {
            eprintln!("== {name}: FAILED after {}: {message}", shown(step_started.elapsed()));
            println!("{passed} passed, 1 failed");
            return false;
        }
        println!("== {name}: passed in {}", shown(step_started.elapsed()));
    }
    println!("\nall steps took {}", shown(started.elapsed()));
    println!("{} passed, 0 failed", steps.len());
    true
}

fn shown(time: Duration) -> String {
    let (minutes, seconds) = (time.as_secs() / 60, time.as_secs_f64() % 60.0);
    if minutes == 0 { format!("{seconds:.1} s") } else { format!("{minutes} min {seconds:.0} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canary_a_failing_step_ends_the_run() {
        let never: Step = ("never", || unreachable!("a step after the one that failed"));
        assert!(run(&[("fine", || Ok(()))]));
        assert!(!run(&[("fine", || Ok(())), ("broken", || Err("it broke".into())), never]));
    }
}
