//! What is looked at once more when its test is done with it, whatever the test was about.

use std::ops::Deref;
use std::thread;

/// Gives what it holds to whoever asks, and has it checked when it is dropped; but for a test that has failed already.
#[derive(Debug)]
pub struct Checked<T> {
    held: T,
    check: fn(&T),
}

impl<T> Checked<T> {
    /// `check` panics where something is wrong.
    pub fn new(held: T, check: fn(&T)) -> Self {
        Self { held, check }
    }
}

impl<T> Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.held
    }
}

impl<T> Drop for Checked<T> {
    fn drop(&mut self) {
        if !thread::panicking() {
            (self.check)(&self.held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "it is 3")]
    fn canary_what_is_wrong_is_noticed() {
        let checked = Checked::new(3, |number| assert!(*number < 3, "it is {number}"));
        assert_eq!(*checked, 3);
    }

    #[test]
    #[should_panic(expected = "the test's own")]
    fn a_test_that_failed_is_not_checked() {
        let _checked = Checked::new(3, |_| panic!("the check's"));
        panic!("the test's own");
    }
}
