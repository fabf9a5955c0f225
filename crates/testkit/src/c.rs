//! C against what we build: a package's libraries, a compiler, and memcheck.
//!
//! ```text
//! Libraries::of(package) ── cargo build ──▶ .a, .so ─┐
//! C or C++ file ────────────────────────────────────┴─ compile ──▶ program ──▶ run, memcheck
//! ```
//! What goes wrong is a `String` to panic with: it names the command, and has what it printed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The two libraries that a package with crate types `staticlib` and `cdylib` builds.
#[derive(Clone, Debug)]
pub struct Libraries {
    /// `lib*.a`
    pub archive: PathBuf,
    /// `lib*.so`
    pub shared: PathBuf,
}

impl Libraries {
    /// Builds a package of the workspace as its users do, without what tests switch on. Cargo does not build a package's
    /// libraries for its tests, so they have to ask; built once, asking again takes a fraction of a second.
    pub fn of(package: &str) -> Result<Self, String> {
        Self::built(package, None)
    }

    /// The same, but optimised if this program is.
    pub fn like_us(package: &str) -> Result<Self, String> {
        Self::built(package, if cfg!(debug_assertions) { None } else { Some("--release") })
    }

    fn built(package: &str, profile: Option<&str>) -> Result<Self, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "--lib", "--message-format=json", "--package", package]).args(profile);
        let files = artefacts(&run(build.current_dir(env!("CARGO_MANIFEST_DIR")))?);
        let with = |extension: &str| {
            let found = files.iter().rfind(|file| file.extension() == Some(OsStr::new(extension)));
            found.cloned().ok_or_else(|| format!("{package} builds no library .{extension}, only {files:?}"))
        };
        Ok(Self { archive: with("a")?, shared: with("so")? })
    }

    /// Both, the archive first.
    pub fn both(&self) -> [&Path; 2] {
        [&self.archive, &self.shared]
    }
}

/// The files that cargo says it built; the package asked for comes last.
fn artefacts(messages: &str) -> Vec<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let names = messages.filter_map(|message| Some(message.get("filenames")?.as_array()?.clone()));
    names.flatten().filter_map(|name| Some(name.as_str()?.into())).collect()
}

/// What a file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C11.
    C,
    /// C++17; for headers that both must understand.
    Cpp,
}

/// Compiles `source` with all warnings as errors, and links it with `library`, an archive or a shared library. `options` are
/// the compiler's own: where headers lie, what to define. The program is `program`.
pub fn compile(
    language: Language,
    source: &Path,
    library: &Path,
    options: &[&OsStr],
    program: &Path,
) -> Result<(), String> {
    let (compiler, dialect, standard) = match language {
        Language::C => ("cc", "c", "-std=c11"),
        Language::Cpp => ("c++", "c++", "-std=c++17"),
    };
    let mut command = Command::new(compiler);
    command.args(["-x", dialect, standard, "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]).args(options);
    command.arg(source).args(["-x", "none"]).arg(library);
    // A shared library with a name of its own is looked for in the directories that the program carries.
    if let Some(directory) = library.parent() {
        command.arg(format!("-Wl,-rpath,{}", directory.display()));
    }
    // What Rust's own library needs on Linux.
    command.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(program);
    run(&mut command).map(drop)
}

/// A command that runs `program` under valgrind: a wrong access or a lost block makes it fail. What is still in reach at the
/// end, such as per-thread lists of the runtime, does not; nor does what `memcheck.supp` names and gives a reason for.
pub fn memcheck(program: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=99", "--leak-check=full"]);
    command
        .args(["--show-leak-kinds=definite,indirect,possible", "--errors-for-leak-kinds=definite,indirect,possible"]);
    command.arg(concat!("--suppressions=", env!("CARGO_MANIFEST_DIR"), "/src/memcheck.supp")).arg(program);
    command
}

/// Runs a command and gives its standard output; any exit code but 0 is an error.
pub fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|cause| format!("{command:?} could not be started: {cause}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, complained) = (text(&output.stdout), text(&output.stderr));
    if output.status.success() {
        return Ok(said);
    }
    Err(format!("{command:?} ended with {}:\n{said}{complained}", output.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &str = "int main(void) { return 0; }\n";
    const LEAK: &str = "#include <stdlib.h>\n\
        static void lose(void) { char *volatile lost = malloc(10); lost = 0; (void)lost; }\n\
        int main(void) { lose(); return 0; }\n";
    const BEYOND: &str = "#include <stdlib.h>\n\
        int main(void) { char *volatile bytes = malloc(10); int found = bytes[10]; free(bytes); return found & 0; }\n";

    /// Compiles a program that needs no library, in the place of one an empty object.
    fn compiled(scratch: &Path, text: &str) -> Result<PathBuf, String> {
        let (source, other) = (scratch.join("it.c"), scratch.join("other.o"));
        std::fs::write(&source, text).unwrap();
        std::fs::write(scratch.join("other.c"), "").unwrap();
        run(Command::new("cc").arg("-c").arg(scratch.join("other.c")).arg("-o").arg(&other))?;
        let program = scratch.join("it");
        compile(Language::C, &source, &other, &[], &program).map(|()| program)
    }

    #[test]
    fn canary_a_warning_is_an_error() {
        let scratch = tempfile::tempdir().unwrap();
        assert!(compiled(scratch.path(), "int main(void) { int unused; return 0; }\n").unwrap_err().contains("unused"));
    }

    #[test]
    fn canary_memcheck_sees_a_leak_and_a_read_beyond_the_end() {
        for (program, is_sound) in [(BARE, true), (LEAK, false), (BEYOND, false)] {
            let scratch = tempfile::tempdir().unwrap();
            let outcome = run(&mut memcheck(&compiled(scratch.path(), program).unwrap()));
            assert_eq!(outcome.is_ok(), is_sound, "{program}{outcome:?}");
        }
    }

    #[test]
    fn what_was_built_is_read_from_the_messages() {
        let messages = "{\"reason\":\"compiler-artifact\",\"filenames\":[\"a/libdep.rlib\"]}\n\
            {\"reason\":\"compiler-artifact\",\"filenames\":[\"a/libx.a\",\"a/libx.so\"]}\n{\"reason\":\"build-finished\"}\n";
        assert_eq!(artefacts(messages), ["a/libdep.rlib", "a/libx.a", "a/libx.so"].map(PathBuf::from));
    }
}
