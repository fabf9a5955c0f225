//! What standard error shows besides errors: colours and progress; and how much a verb says of what it did.
//!
//! Colours are settled before the command line is parsed, since the parser's own errors and help have them too.

use std::ffi::OsString;

use clap::{Args, ColorChoice, ValueEnum};
use console::set_colors_enabled_stderr;

use crate::progress;

#[derive(Args)]
pub(crate) struct Terminal {
    /// Print only what was asked for, and errors; no progress
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Colour errors and help: auto does so on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "auto|always|never", default_value = "auto", hide_possible_values = true)]
    color: ColorChoice,
    /// Show no progress; without a terminal there is none anyway
    #[arg(long, global = true)]
    no_progress: bool,
}

impl Terminal {
    pub(crate) fn apply(&self) {
        if self.quiet || self.no_progress {
            progress::hide();
        }
    }
}

/// Settles colours by a command line that has not been parsed yet, and says how.
pub(crate) fn settle_colors(given: &[OsString]) -> ColorChoice {
    let choice = color_in(given);
    match choice {
        ColorChoice::Auto => {}
        ColorChoice::Always => set_colors_enabled_stderr(true),
        ColorChoice::Never => set_colors_enabled_stderr(false),
    }
    choice
}

/// The last `--color`; what it must not be, the parser says.
fn color_in(given: &[OsString]) -> ColorChoice {
    let words: Vec<_> = given.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str()).collect();
    let of = |at: usize| match words[at].strip_prefix("--color")? {
        "" => words.get(at + 1).copied(),
        rest => rest.strip_prefix('='),
    };
    let choice = (0..words.len()).rev().find_map(of);
    choice.and_then(|choice| ColorChoice::from_str(choice, false).ok()).unwrap_or(ColorChoice::Auto)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_color_before_two_dashes_counts() {
        for (line, choice) in [
            ("hammerspace get", ColorChoice::Auto),
            ("hammerspace --color never get", ColorChoice::Never),
            ("hammerspace --color=always get", ColorChoice::Always),
            ("hammerspace --color=always get --color never", ColorChoice::Never),
            ("hammerspace get -- --color never", ColorChoice::Auto),
            ("hammerspace get --color", ColorChoice::Auto),
            ("hammerspace get --color mauve", ColorChoice::Auto),
        ] {
            let given: Vec<OsString> = line.split(' ').map(Into::into).collect();
            assert_eq!(color_in(&given), choice, "{line}");
        }
    }
}
