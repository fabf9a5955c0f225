//! A bar with rate and time left for long work, on standard error when that is a terminal, else nothing.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

static IS_HIDDEN: AtomicBool = AtomicBool::new(false);

/// Shows no progress from here on.
pub(crate) fn hide() {
    IS_HIDDEN.store(true, Ordering::Relaxed);
}

/// Where progress is drawn, so many times a second.
pub(crate) fn target(hz: u8) -> ProgressDrawTarget {
    if IS_HIDDEN.load(Ordering::Relaxed) {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(hz)
    }
}

/// Work that goes on: counts what is done, and draws it four times a second at most.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// `total` bytes to go through, `doing` what; 0 if nobody knows how many.
    pub(crate) fn bytes(doing: &'static str, total: u64) -> Self {
        match total {
            0 => Self::new(doing, 0, "{msg} {spinner} {bytes}, {bytes_per_sec}"),
            _ => Self::new(doing, total, "{msg} {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left"),
        }
    }

    /// `total` entries to go through, `doing` what.
    pub(crate) fn entries(doing: &'static str, total: u64) -> Self {
        Self::new(doing, total, "{msg} {wide_bar} {human_pos} of {human_len}, {per_sec}, {eta} left")
    }

    /// Work of unknown extent, `doing` what.
    pub(crate) fn unknown(doing: &'static str) -> Self {
        let progress = Self::new(doing, 0, "{msg} {spinner} {elapsed}");
        progress.0.enable_steady_tick(Duration::from_millis(250));
        progress
    }

    fn new(doing: &'static str, total: u64, shape: &str) -> Self {
        let style = ProgressStyle::with_template(shape).expect("the template is ours");
        Self(ProgressBar::with_draw_target(Some(total), target(4)).with_style(style).with_message(doing))
    }

    /// So much more is done.
    pub(crate) fn add(&self, done: u64) {
        self.0.inc(done);
    }

    /// How much is done.
    pub(crate) fn done(&self) -> u64 {
        self.0.position()
    }

    /// Counts what is read from `source`.
    pub(crate) fn reading<R: Read>(&self, source: R) -> impl Read + use<R> {
        self.0.wrap_read(source)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
