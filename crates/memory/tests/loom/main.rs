//! The protocols between owner and readers, as models in which loom tries every schedule and every value that
//! C11 lets a load give.
//!
//! Each model has the steps of the code, on as few words as it takes, and a list of flaws: a step left out or
//! out of order. Without a flaw it must hold; with each of them it must fail, or it would prove nothing.

mod changing;
mod index;
mod reading;

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use loom::model::Builder;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::Relaxed;

/// Runs a model without a flaw, and with each of those that it must fail with: by these words of its own, and
/// not because it asks too much of loom.
fn prove<F: Copy + PartialEq + Debug + Send + Sync + 'static>(none: F, flaws: &[F], words: &str, model: fn(F)) {
    let explore = |flaw: F| {
        let builder = Builder::new();
        builder.check(move || model(flaw));
    };
    explore(none);
    for flaw in flaws {
        let panicked =
            catch_unwind(AssertUnwindSafe(|| explore(*flaw))).expect_err(&format!("{flaw:?} goes unnoticed"));
        let said = panicked.downcast_ref::<String>().map(String::as_str);
        let said = said.or(panicked.downcast_ref::<&str>().copied()).unwrap_or_default();
        assert!(said.contains(words), "{flaw:?} goes unnoticed; it ended with: {said}");
    }
}

#[test]
#[should_panic(expected = "goes unnoticed; it ended with: Model exceeded maximum number of branches")]
fn canary_what_is_too_much_for_loom_proves_nothing() {
    prove(false, &[true], "words", |is_endless| {
        let word = AtomicUsize::new(0);
        while is_endless && word.load(Relaxed) == 0 {}
    });
}
