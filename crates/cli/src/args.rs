//! What the command was called with: which verb, in whose dialect, as words or as JSON.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, ColorChoice, CommandFactory, FromArgMatches, Parser};
use hammerspace_error::{Error, Kind};

use crate::examples::with_examples;
use crate::exit::Dialect;
use crate::output::Output;
use crate::terminal::{Terminal, settle_colors};
use crate::{sparkey, verb};

/// One copy of your data per machine, shared by every process, replaced while they read.
#[derive(Parser)]
#[command(name = "hammerspace", version, after_help = EXIT_CODES)]
pub(crate) struct Hammerspace {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: verb::Verb,
}

/// Work on Sparkey files: all that Spotify's tool does, and what its users lack.
#[derive(Parser)]
#[command(name = "sparkey", version, args_override_self = true, after_help = sparkey::EXIT_CODES)]
struct Sparkey {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: sparkey::Verb,
}

#[derive(Args)]
struct Global {
    /// Answer in JSON on standard output: one object, or one object per line from a verb that streams
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    terminal: Terminal,
}

const EXIT_CODES: &str = "\
Exit codes: 0 found or done, 1 not found, 2 wrong usage, 3 corrupt or unsupported data, 4 anything else.
`hammerspace sparkey` has those of Spotify's tool: 0 found or done, 1 error, 2 not found.";

/// A call that parsed.
pub(crate) struct Called {
    pub(crate) json: bool,
    pub(crate) terminal: Terminal,
    pub(crate) verb: verb::Verb,
}

impl Called {
    /// Reads the command line, the name we were called by first.
    pub(crate) fn parse(given: &[OsString]) -> std::result::Result<Self, Refusal> {
        let color = settle_colors(given);
        let by_name = given.first().is_some_and(|name| Path::new(name).file_name() == Some(OsStr::new("sparkey")));
        let parsed = if by_name { Self::parse_sparkey(given, color) } else { Self::parse_hammerspace(given, color) };
        parsed.map_err(|error| Refusal { error, dialect: dialect(by_name, given), json: wants_json(given) })
    }

    fn parse_hammerspace(given: &[OsString], color: ColorChoice) -> std::result::Result<Self, clap::Error> {
        let matches = command().color(color).try_get_matches_from(given)?;
        let Hammerspace { global, verb } = Hammerspace::from_arg_matches(&matches)?;
        Ok(Self { json: global.json, terminal: global.terminal, verb })
    }

    fn parse_sparkey(given: &[OsString], color: ColorChoice) -> std::result::Result<Self, clap::Error> {
        let matches = sparkey_command().color(color).try_get_matches_from(given)?;
        let Sparkey { global, verb } = Sparkey::from_arg_matches(&matches)?;
        Ok(Self { json: global.json, terminal: global.terminal, verb: verb::Verb::Sparkey { verb } })
    }
}

/// The dialect of a command line that did not parse.
fn dialect(by_name: bool, given: &[OsString]) -> Dialect {
    let verb = given.iter().skip(1).find(|word| !word.as_bytes().starts_with(b"-"));
    if by_name || verb.is_some_and(|verb| verb == "sparkey") { Dialect::Sparkey } else { Dialect::Hammerspace }
}

/// Whether a command line that did not parse asks for JSON.
fn wants_json(given: &[OsString]) -> bool {
    given.iter().skip(1).take_while(|word| *word != "--").any(|word| word == "--json")
}

/// A call that did not parse, or that asked for help and nothing else.
pub(crate) struct Refusal {
    error: clap::Error,
    dialect: Dialect,
    json: bool,
}

impl Refusal {
    /// Says what is wrong, or gives the help asked for.
    pub(crate) fn tell(self) -> ExitCode {
        use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand as CalledWithNothing, DisplayVersion};
        match (self.error.kind(), self.dialect) {
            (DisplayHelp | DisplayVersion, _) => self.print(ExitCode::SUCCESS),
            // Spotify's tool, called with nothing, shows its usage and is content.
            (CalledWithNothing, Dialect::Sparkey) if !self.json => self.print(ExitCode::SUCCESS),
            (CalledWithNothing, dialect) if !self.json => self.print(dialect.code_of(Kind::Invalid)),
            _ => self.complain(),
        }
    }

    fn print(self, code: ExitCode) -> ExitCode {
        // Nothing is left to be done if help cannot be printed.
        let _ = self.error.print();
        code
    }

    fn complain(self) -> ExitCode {
        let told = self.error.render().to_string();
        let told = told.trim_start_matches("error: ").trim_end();
        let mut out = Output::new(self.json, self.dialect.name());
        let _ = out.error(&Error::new(Kind::Invalid, told)).and_then(|()| out.flush());
        self.dialect.code_of(Kind::Invalid)
    }
}

/// The whole command line: for the parser, completions and man pages.
pub(crate) fn command() -> clap::Command {
    with_examples(Hammerspace::command())
}

fn sparkey_command() -> clap::Command {
    with_examples(Sparkey::command())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_makes_sense_to_its_parser() {
        command().debug_assert();
        sparkey_command().debug_assert();
    }
}
