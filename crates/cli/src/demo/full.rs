//! The large data set: what LibreOffice says in 33 locales, from Debian's packages, fetched once and kept.
//!
//! ```text
//! ~/.cache/hammerspace/libreoffice-l10n/usr/lib/libreoffice/program/resource/de/LC_MESSAGES/cui.mo
//! ```

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use hammerspace_error::{Doing, Error, Kind, Result};

use super::data::Data;
use super::screen::Screen;
use crate::progress::Progress;

/// The 32 packages whose 33 locales (`ca` brings Valencian along) hold 862,856 strings in Debian 12.
const LOCALES: &str =
    "ar bg ca cs da de el es fi fr he hi hu id it ja ko nb nl pl pt pt-br ro ru sk sv th tr uk vi zh-cn zh-tw";

/// Where the packages put their catalogues.
const CATALOGUES: &str = "usr/lib/libreoffice/program/resource";

/// The catalogues in `cache`, fetched now if they were not before. `scratch` is on the same file system.
pub(super) fn data(screen: &Screen, cache: &Path, scratch: &Path) -> Result<Data> {
    let kept = cache.join("libreoffice-l10n");
    if !kept.exists() {
        screen.result(&format!("32 packages of Debian, 25 MB, are fetched, once, into {}", cache.display()));
        let fetching = Progress::unknown("   fetch and unpack");
        let [packages, unpacked] = ["packages", "unpacked"].map(|name| scratch.join(name));
        fs::create_dir(&packages).doing("make a directory for the packages")?;
        fetch(&packages)?;
        unpack(&packages, &unpacked)?;
        drop(fetching);
        keep(&unpacked, &kept)?;
    }
    Ok(Data::at(kept.join(CATALOGUES), "LibreOffice in Debian's packages"))
}

fn keep(unpacked: &Path, kept: &Path) -> Result<()> {
    match fs::rename(unpacked, kept) {
        // Somebody else was faster.
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
        renamed => renamed.doing("keep the catalogues").map_err(|error| error.file(kept)),
    }
}

/// `$XDG_CACHE_HOME/hammerspace`, or that in `~/.cache`; made if it is missing.
pub(super) fn cache() -> Result<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    let base = base.ok_or_else(|| Error::new(Kind::Missing, "neither XDG_CACHE_HOME nor HOME names a directory"))?;
    let cache = base.join("hammerspace");
    fs::create_dir_all(&cache).doing("make the cache directory").map_err(|error| error.file(&cache))?;
    Ok(cache)
}

fn fetch(into: &Path) -> Result<()> {
    let packages = LOCALES.split(' ').map(|locale| format!("libreoffice-l10n-{locale}"));
    let mut fetch = Command::new("apt-get");
    let remedy = "run `apt-get update` as root, and see whether this machine reaches its mirror of Debian";
    run(fetch.args(["--quiet", "download"]).args(packages).current_dir(into), remedy)
}

fn unpack(packages: &Path, into: &Path) -> Result<()> {
    for entry in fs::read_dir(packages).doing("list the packages")? {
        let package = entry.doing("list the packages")?.path();
        if package.extension().is_some_and(|extension| extension == "deb") {
            let mut unpack = Command::new("dpkg-deb");
            run(unpack.arg("--extract").arg(&package).arg(into), "make room in the cache directory, and try again")?;
        }
    }
    Ok(())
}

/// Runs a program in silence; if it fails, the last thing it said is the error.
fn run(command: &mut Command, remedy: &str) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .env("LC_ALL", "C")
        .output()
        .doing(format!("run {name}"))
        .map_err(|error| if error.kind() == Kind::Missing { error.remedy(NOT_DEBIAN) } else { error })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().lines().last().unwrap_or_default().to_owned();
    Err(Error::new(Kind::Missing, format!("{name} failed: {said}")).remedy(remedy))
}

const NOT_DEBIAN: &str = "`demo --full` needs Debian or Ubuntu; `demo` without it needs nothing";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_says_last_is_the_error() {
        assert!(run(&mut Command::new("true"), "").is_ok());
        let error =
            run(Command::new("sh").args(["-c", "echo first >&2; echo last >&2; exit 7"]), "do this").unwrap_err();
        assert_eq!(error.to_string(), "sh failed: last; do this");
        let error = run(&mut Command::new("no-such-program"), "do this").unwrap_err();
        assert_eq!((error.kind(), error.advice()), (Kind::Missing, Some(NOT_DEBIAN)));
    }

    #[test]
    fn there_are_32_packages() {
        assert_eq!(LOCALES.split(' ').count(), 32);
    }
}
