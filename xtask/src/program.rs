//! Other programs: started in the root of the repository, without standard input, shown before they run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it lies in the root")
}

/// Where cargo builds, and where other build tools put their results too.
pub(crate) fn target_dir() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// A program and its arguments, separated by blanks, ready to run in the root of the repository.
pub(crate) fn program(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().expect("a program has a name"));
    command.args(words).current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs it with its output shown; anything but success is an error that names the command.
pub(crate) fn run(command: &mut Command) -> Result {
    let line = shown(command);
    eprintln!("$ {line}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{line}` ended with {status}; what it printed is above")),
        Err(cause) => Err(format!("`{line}` could not be started: {cause}")),
    }
}

/// Runs it with its output hidden, unless it fails.
pub(crate) fn run_quietly(command: &mut Command) -> Result {
    let line = shown(command);
    eprintln!("$ {line}");
    let output = command.output().map_err(|cause| format!("`{line}` could not be started: {cause}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("{}\n`{line}` ended with {}; what it printed is above", String::from_utf8_lossy(&said), output.status))
}

/// Whether it runs and succeeds, with its output hidden.
pub(crate) fn succeeds(line: &str) -> bool {
    program(line).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// What it prints, whatever its exit code; `None` if there is no such program.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The command as one would type it, with the variables that were set for it.
fn shown(command: &Command) -> String {
    let set = command.get_envs().filter_map(|(name, value)| Some(format!("{}='{}'", name.display(), value?.display())));
    let words = [command.get_program()].into_iter().chain(command.get_args()).map(|word| word.display().to_string());
    set.chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canary_a_program_that_fails_or_is_missing_is_an_error() {
        assert!(run_quietly(&mut program("ls no-such-file-anywhere")).unwrap_err().contains("no-such-file-anywhere"));
        assert!(run(&mut program("false")).unwrap_err().contains("`false` ended with"));
        assert!(run(&mut program("no-such-program-anywhere")).unwrap_err().contains("could not be started"));
        assert!(succeeds("true") && !succeeds("false"));
    }
}
