//! What is seen while the demo runs, on standard error: on a terminal a line per worker that lives, elsewhere the steps only.

use std::cell::Cell;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use console::style;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::memory;
use super::words::{bytes, count};
use crate::progress;

/// More lines than this tell no more.
const LINES_MAX: usize = 12;
/// How often memory is looked at.
const WEIGHING: Duration = Duration::from_millis(200);

pub(super) struct Screen {
    lines: MultiProgress,
    is_terminal: bool,
    /// What a full bar stands for: the most memory that one worker had so far, in either half.
    scale: Cell<u64>,
}

impl Screen {
    pub(super) fn new() -> Self {
        let lines = MultiProgress::with_draw_target(progress::target(10));
        Self { lines, is_terminal: stderr().is_terminal(), scale: Cell::new(1) }
    }

    /// What comes next, and in one line what happens there.
    pub(super) fn step(&self, title: &str, explanation: &str) {
        self.print("");
        self.print(&format!("{}", style(title).for_stderr().bold()));
        self.print(&format!("   {}", style(explanation).for_stderr().dim()));
    }

    /// What came of it.
    pub(super) fn result(&self, text: &str) {
        self.print(&format!("   {text}"));
    }

    fn print(&self, text: &str) {
        if self.is_terminal {
            // A terminal that is gone needs no words.
            let _ = self.lines.println(text);
        } else {
            eprintln!("{text}");
        }
    }

    /// Lines for so many workers, for as long as they live.
    pub(super) fn live(&self, workers: usize) -> Live<'_> {
        let style = ProgressStyle::with_template("   worker {prefix:<3} {bar:32.cyan/dim} {msg}")
            .expect("the template is ours")
            .progress_chars("━━─");
        let line = |index: usize| {
            let bar = self.lines.add(ProgressBar::new(self.scale.get()).with_style(style.clone()));
            Line { bar: bar.with_prefix((index + 1).to_string()), pss: None, pace: 0.0, version: 0 }
        };
        Live { screen: self, lines: (0..workers.min(LINES_MAX)).map(line).collect(), weighed: Instant::now() }
    }
}

/// Lines that move.
pub(super) struct Live<'a> {
    screen: &'a Screen,
    lines: Vec<Line>,
    weighed: Instant,
}

/// One worker: its memory as a bar, its reads, and the version it reads.
struct Line {
    bar: ProgressBar,
    pss: Option<u64>,
    pace: f64,
    version: u64,
}

impl Live<'_> {
    /// Looks at the memory of the workers, if there is somebody to see it and it is time.
    pub(super) fn glance(&mut self, pids: impl Iterator<Item = u32>) {
        if self.screen.is_terminal && self.weighed.elapsed() >= WEIGHING {
            let pss: Vec<Option<u64>> = pids.take(self.lines.len()).map(memory::pss).collect();
            self.weighed(&pss);
        }
    }

    /// The workers have so much memory.
    pub(super) fn weighed(&mut self, pss: &[Option<u64>]) {
        let most = pss.iter().flatten().fold(self.screen.scale.get(), |most, pss| most.max(*pss));
        self.screen.scale.set(most);
        for (line, pss) in self.lines.iter_mut().zip(pss) {
            line.pss = *pss;
            line.draw(most);
        }
        self.weighed = Instant::now();
    }

    /// A worker does so many reads in a second.
    pub(super) fn pace(&mut self, worker: usize, per_second: f64) {
        self.change(worker, |line| line.pace = per_second);
    }

    /// A worker reads this version now.
    pub(super) fn saw(&mut self, worker: usize, version: u64) {
        self.change(worker, |line| line.version = version);
    }

    fn change(&mut self, worker: usize, change: impl Fn(&mut Line)) {
        if let Some(line) = self.lines.get_mut(worker) {
            change(line);
            line.draw(self.screen.scale.get());
        }
    }
}

impl Line {
    fn draw(&self, scale: u64) {
        let memory = self.pss.map(|pss| bytes(Some(pss))).unwrap_or_default();
        let pace = if self.pace > 0.0 { format!("{} reads/s", count(self.pace)) } else { String::new() };
        let version = if self.version > 0 { format!("new version {}", self.version) } else { String::new() };
        self.bar.set_length(scale);
        self.bar.set_position(self.pss.unwrap_or(0));
        self.bar.set_message(format!("{memory:>9}  {pace:>15}   {version}"));
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
