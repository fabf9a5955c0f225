//! The protocols between owner and readers, as models in which loom tries every schedule and every value that C11 lets a load give.
//!
//! Each model has the steps of the code, on as few words as it takes, and a list of flaws: a step left out or out of order. Without a
//! flaw it must hold; with each of them it must fail, or it would prove nothing.

mod changing;
mod index;
mod reading;

use std::panic::{AssertUnwindSafe, catch_unwind};

use loom::model::Builder;

/// Runs a model without a flaw, and with each of those that it must fail with.
fn prove<F: Copy + PartialEq + std::fmt::Debug + Send + Sync + 'static>(none: F, flaws: &[F], model: fn(F)) {
    let explore = |flaw: F| {
        let builder = Builder::new();
        builder.check(move || model(flaw));
    };
    explore(none);
    for flaw in flaws {
        assert!(catch_unwind(AssertUnwindSafe(|| explore(*flaw))).is_err(), "{flaw:?} goes unnoticed");
    }
}
