//! A bar with rate and time left for long work, on standard error when that is a terminal, else nothing.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Work that goes on: counts what is done, and draws it four times a second at most.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// `total` bytes to go through, `doing` what.
    pub(crate) fn bytes(doing: &'static str, total: u64) -> Self {
        Self::new(doing, total, "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
    }

    /// `total` entries to go through, `doing` what.
    pub(crate) fn entries(doing: &'static str, total: u64) -> Self {
        Self::new(doing, total, "{msg} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}")
    }

    fn new(doing: &'static str, total: u64, shape: &str) -> Self {
        let style = ProgressStyle::with_template(shape).expect("the template is ours");
        let bar = ProgressBar::new(total).with_style(style).with_message(doing);
        // A bar that nobody can see costs an atomic add; work done in a moment never shows one.
        bar.set_draw_target(indicatif::ProgressDrawTarget::stderr_with_hz(4));
        Self(bar)
    }

    /// So much more is done.
    pub(crate) fn add(&self, done: u64) {
        self.0.inc(done);
    }

    /// Keeps the clock running through work that cannot be counted.
    pub(crate) fn tick(&self) {
        self.0.enable_steady_tick(Duration::from_millis(250));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
