//! Commands by name.

use std::fmt::{self, Write};

use hammerspace_resp::Request;
use hashbrown::HashMap;

use super::{Context, ROWS};
use crate::failure::{Failure, Outcome};
use crate::stats::FAMILIES;

pub(crate) type Run = fn(&mut Context<'_>) -> Outcome;

/// The longest name, in bytes.
const NAME_LEN_MAX: usize = 32;
/// The flags that are not shown.
const OURS: [&str; 2] = ["alone", "whole"];

/// A row of the table of contents.
pub(super) struct Row {
    name: &'static str,
    arity: i32,
    flags: &'static str,
    keys: [i32; 3],
    categories: &'static str,
    run: Option<Run>,
}

/// A command that runs.
pub(super) const fn row(
    name: &'static str,
    arity: i32,
    flags: &'static str,
    keys: [i32; 3],
    categories: &'static str,
    run: Run,
) -> Row {
    Row { name, arity, flags, keys, categories, run: Some(run) }
}

/// A command that only its subcommands run for.
pub(super) const fn container(name: &'static str, arity: i32, flags: &'static str, categories: &'static str) -> Row {
    Row { name, arity, flags, keys: super::NO_KEYS, categories, run: None }
}

/// A command of the table.
pub(crate) struct Command {
    /// Its place in the table.
    pub(crate) at: usize,
    pub(crate) name: &'static str,
    pub(crate) arity: i32,
    /// Its flags, as `COMMAND` shows them.
    pub(crate) flags: Vec<&'static str>,
    /// Where its keys are: the first, the last, counted from the end where it is negative, and the step
    /// between them.
    pub(crate) keys: [i32; 3],
    pub(crate) categories: Vec<&'static str>,
    /// Its place among the families that latencies are counted by.
    pub(crate) family: usize,
    pub(crate) is_alone: bool,
    /// Whether it is about all keys of a database.
    pub(crate) is_whole: bool,
    pub(crate) needs_no_login: bool,
    /// `None` for one that has subcommands.
    pub(crate) run: Option<Run>,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Command {
    fn of(at: usize, row: &Row) -> Self {
        let words: Vec<_> = row.flags.split_whitespace().collect();
        let has = |flag| words.contains(&flag);
        Self {
            at,
            name: row.name,
            arity: row.arity,
            family: family(row.categories),
            is_alone: has("alone"),
            is_whole: has("whole"),
            needs_no_login: has("no_auth"),
            keys: row.keys,
            categories: row.categories.split_whitespace().collect(),
            run: row.run,
            flags: words.into_iter().filter(|flag| !OURS.contains(flag)).collect(),
        }
    }

    /// Whether so many arguments, the name of the command among them, are as many as it takes.
    pub(crate) fn takes(&self, count: usize) -> bool {
        let arity = self.arity.unsigned_abs() as usize;
        if self.arity < 0 { count >= arity } else { count == arity }
    }

    /// The places of its keys among so many arguments.
    pub(crate) fn key_places(&self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let [first, last, step] = self.keys;
        let last = if last < 0 { count as i32 + last } else { last };
        let end = if first == 0 { 0 } else { last + 1 };
        (first.max(1)..end).step_by(step.max(1) as usize).map(|at| at as usize)
    }
}

fn family(categories: &str) -> usize {
    let mut categories = categories.split_whitespace();
    let last = FAMILIES.len() - 1;
    categories.find_map(|category| FAMILIES[..last].iter().position(|family| *family == category)).unwrap_or(last)
}

/// All commands.
pub(crate) struct Table {
    commands: Vec<Command>,
    by_name: HashMap<&'static [u8], usize>,
    /// The place of GET, which is gathered.
    pub(crate) get: usize,
}

impl Table {
    pub(crate) fn new() -> Self {
        let commands: Vec<_> = ROWS.iter().enumerate().map(|(at, row)| Command::of(at, row)).collect();
        let by_name: HashMap<_, _> = commands.iter().map(|command| (command.name.as_bytes(), command.at)).collect();
        let get = by_name[&b"get"[..]];
        Self { commands, by_name, get }
    }

    /// How many there are, subcommands included.
    pub(crate) fn len(&self) -> usize {
        self.commands.len()
    }

    pub(crate) fn at(&self, at: usize) -> &Command {
        &self.commands[at]
    }

    /// All of them, in the order of the table of contents.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter()
    }

    /// Those that are no subcommands.
    pub(crate) fn top(&self) -> impl Iterator<Item = &Command> {
        self.iter().filter(|command| !command.name.contains('|'))
    }

    /// The subcommands of a command.
    pub(crate) fn within(&self, container: &str) -> impl Iterator<Item = &Command> {
        self.iter()
            .filter(move |command| command.name.strip_prefix(container).is_some_and(|rest| rest.starts_with('|')))
    }

    /// A command by its name, in letters of any case; a subcommand's has a bar.
    pub(crate) fn find(&self, name: &[u8]) -> Option<&Command> {
        let mut lower = [0; NAME_LEN_MAX];
        let lower = lower.get_mut(..name.len())?;
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        self.by_name.get(&*lower).map(|at| &self.commands[*at])
    }

    /// The command that a request is for, with as many arguments as it takes.
    pub(crate) fn resolve(&self, request: &Request<'_>) -> Result<&Command, Failure> {
        let name = request.arg(0).unwrap_or_default();
        let command = self.find(name).filter(|_| !name.contains(&b'|')).ok_or_else(|| unknown(request))?;
        let command = match request.arg(1) {
            Some(sub) if command.run.is_none() => self.subcommand(command, sub)?,
            // `COMMAND` alone is the one container that means something.
            None if command.run.is_none() && command.takes(1) => self.subcommand(command, b"info")?,
            _ => command,
        };
        if command.takes(request.count()) || (request.count() == 1 && command.name == "command|info") {
            return Ok(command);
        }
        Err(Failure::new(format!("ERR wrong number of arguments for '{}' command", command.name)))
    }

    fn subcommand(&self, container: &Command, sub: &[u8]) -> Result<&Command, Failure> {
        let name = [container.name.as_bytes(), b"|", sub].concat();
        self.find(&name).ok_or_else(|| {
            let (sub, container) = (shortened(sub), container.name.to_uppercase());
            Failure::new(format!("ERR unknown subcommand '{sub}'. Try {container} HELP."))
        })
    }
}

/// As much of an argument as an error shows.
fn shortened(arg: &[u8]) -> String {
    String::from_utf8_lossy(&arg[..arg.len().min(128)]).into_owned()
}

#[cold]
fn unknown(request: &Request<'_>) -> Failure {
    let mut args = String::new();
    for arg in request.args().skip(1) {
        if args.len() >= 128 {
            break;
        }
        let room = arg.len().min(128 - args.len());
        write!(args, "'{}' ", String::from_utf8_lossy(&arg[..room])).expect("a string takes all");
    }
    let name = shortened(request.arg(0).unwrap_or_default());
    Failure::new(format!("ERR unknown command '{name}', with args beginning with: {args}"))
}
