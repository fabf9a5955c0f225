//! The Python package: installed as users install it, into environments of its own below `target/`, and its suite.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{program, root, run, run_quietly, target_dir};
use crate::{Result, debian};

/// Debian's, whose own tests a package brings; another one in the path has none.
const INTERPRETER: &str = "/usr/bin/python3";

/// What the suite stands on, by name from the Python Package Index.
const TOOLS: [&str; 5] = ["pytest>=8,<10", "mypy>=1.15,<3", "flask>=3,<4", "django>=5.2,<6", PEER];

/// What the bench compares with, beside Python's own dict.
const PEER: &str = "lmdb>=1.4,<4";

/// Where the sources are.
const PACKAGE: &str = "bindings/python";

/// `pip install .` into a clean environment, then all tests, and the types.
pub(crate) fn test() -> Result {
    let python = environment("python", "dev", &TOOLS)?;
    let package = root().join(PACKAGE);
    let module = |name: &str| {
        let mut command = Command::new(&python);
        command.current_dir(&package).env("PYTHONDONTWRITEBYTECODE", "1").args(["-m", name]);
        command
    };
    run(module("pytest").arg("--quiet"))?;
    run(module("mypy").args(["python/hammerspace", "tests/typed.py"]))?;
    run(module("mypy.stubtest").args(["--mypy-config-file", "pyproject.toml", "hammerspace._native"]))
}

/// An interpreter that has the package as it is shipped, and what the bench compares it with.
pub(crate) fn shipped() -> Result<PathBuf> {
    environment("python-release", "release", &[PEER])
}

/// A clean environment of this name with the package in it, built by a cargo profile; gives its interpreter.
fn environment(name: &str, profile: &str, tools: &[&str]) -> Result<PathBuf> {
    debian::install(&debian::PYTHON)?;
    let place = target_dir().join(name);
    run_quietly(program(INTERPRETER).args(["-m", "venv", "--clear"]).arg(&place))?;
    let python = place.join("bin/python");
    run_quietly(pip(&python).arg(format!("--config-settings=build-args=--profile={profile}")).arg(PACKAGE))?;
    if !tools.is_empty() {
        run_quietly(pip(&python).args(tools))?;
    }
    Ok(python)
}

/// An environment of this name with these packages, kept from run to run; gives its interpreter.
pub(crate) fn with(name: &str, packages: &[&str]) -> Result<PathBuf> {
    debian::install(&debian::PYTHON)?;
    let place = target_dir().join(name);
    run_quietly(program(INTERPRETER).args(["-m", "venv"]).arg(&place))?;
    let python = place.join("bin/python");
    run_quietly(pip(&python).args(packages))?;
    Ok(python)
}

fn pip(python: &Path) -> Command {
    let mut command = program(&python.display().to_string());
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    command
}
