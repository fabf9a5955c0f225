//! What is looked at once more when its test is done with it, whatever the test was about.

use std::ops::Deref;
use std::thread;

/// Gives what it holds to whoever asks, and looks at it when it is dropped; but not for a test that has failed already.
#[derive(Debug)]
pub struct Checked<T> {
    held: T,
    look: fn(&T) -> Vec<String>,
    is_broken: bool,
}

impl<T> Checked<T> {
    /// `look` says what is wrong.
    pub fn new(held: T, look: fn(&T) -> Vec<String>) -> Self {
        Self { held, look, is_broken: false }
    }

    /// The same, for a test that breaks it on purpose: then something must be wrong in the end. So nobody is let off without cause, and
    /// each of them shows that what it breaks is seen.
    #[must_use]
    pub fn broken(mut self) -> Self {
        self.is_broken = true;
        self
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
        if thread::panicking() {
            return;
        }
        let found = (self.look)(&self.held);
        if self.is_broken {
            assert!(!found.is_empty(), "what its test broke is not seen");
        } else {
            assert!(found.is_empty(), "its test left it unsound: {found:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three(number: u32) -> Checked<u32> {
        Checked::new(number, |number| if *number == 3 { Vec::new() } else { vec![format!("it is {number}")] })
    }

    #[test]
    fn what_is_held_is_there() {
        assert_eq!((*three(3), *three(4).broken()), (3, 4));
    }

    #[test]
    #[should_panic(expected = "it is 4")]
    fn canary_what_is_wrong_is_noticed() {
        three(4);
    }

    #[test]
    #[should_panic(expected = "is not seen")]
    fn canary_what_was_not_broken_is_noticed() {
        drop(three(3).broken());
    }

    #[test]
    #[should_panic(expected = "the test's own")]
    fn a_test_that_failed_is_not_looked_at() {
        let _three = three(4);
        panic!("the test's own");
    }
}
