//! The Debian packages that the suites need beyond git, Rust and a C compiler: installed when we may, named
//! when not.

use std::io;
use std::process::Command;

use crate::Result;
use crate::program::{output, program, run, succeeds};

/// The Java peer: sparkey-java wants 17 or newer, Maven fetches it and what it stands on.
pub(crate) const JAVA: [&str; 2] = ["openjdk-17-jdk-headless", "maven"];
/// The C peer, Spotify's own library, links against snappy.
pub(crate) const SNAPPY: [&str; 1] = ["libsnappy-dev"];
/// The stores that ours is measured beside: two servers, three libraries, and an allocator.
pub(crate) const STORES: [&str; 6] =
    ["libdb5.3-dev", "libjemalloc2", "libkyotocabinet-dev", "librocksdb-dev", "memcached", "redis-server"];
/// `msgfmt` writes the .mo files that our reader is compared with.
pub(crate) const GETTEXT: [&str; 1] = ["gettext"];
/// PyYAML stands on libyaml: what a file of YAML means there it means to our reader.
pub(crate) const PYYAML: [&str; 1] = ["python3-yaml"];
/// Memcheck watches the C programs that call our libraries.
pub(crate) const VALGRIND: [&str; 1] = ["valgrind"];
/// C programs ask it how to link our libraries.
pub(crate) const PKG_CONFIG: [&str; 1] = ["pkg-config"];
/// Ruby and what its extensions are built with; its suite, the I18n whose shared tests our backend runs, and
/// Rack.
pub(crate) const RUBY: [&str; 7] =
    ["ruby-dev", "ruby-rspec", "ruby-i18n", "ruby-mocha", "ruby-tomlrb", "ruby-rack", "rake"];
/// Python's environments, and its own tests of mappings.
pub(crate) const PYTHON: [&str; 2] = ["python3-venv", "libpython3.11-testsuite"];
/// Node and the tool that installs its packages.
const NODE: [&str; 2] = ["nodejs", "npm"];
/// PostgreSQL and its HyperLogLog, whose bytes and numbers ours are compared with.
pub(crate) const POSTGRES: [&str; 1] = ["postgresql-15-hll"];
/// libFuzzer is C++, and is compiled with the fuzz targets.
pub(crate) const LIBFUZZER: [&str; 1] = ["g++"];

/// Sees to it that the packages are installed.
pub(crate) fn install(packages: &[&str]) -> Result {
    let Some(installed) = installed(packages) else {
        return Err(format!("the suites are set up by Debian packages, and this is no Debian; {}", remedy(packages)));
    };
    let missing: Vec<&str> = packages.iter().copied().filter(|name| !installed.contains(name)).collect();
    if missing.is_empty() {
        eprintln!("already installed: {}", packages.join(" "));
        return Ok(());
    }
    if !is_root() {
        return Err(remedy(&missing));
    }
    run(apt_get().args(["update", "--quiet"]))?;
    run(apt_get().args(["install", "--quiet", "--yes", "--no-install-recommends"]).args(missing))
}

/// Sees to it that there are Node and npm. Where they came otherwise than from Debian they stay, for
/// Debian's cannot be beside them.
pub(crate) fn install_node() -> Result {
    if succeeds("node --version") && succeeds("npm --version") { Ok(()) } else { install(&NODE) }
}

fn apt_get() -> Command {
    let mut command = program("apt-get");
    // Standard output belongs to the verb: `bench --json` prints one object there and nothing else.
    command.env("DEBIAN_FRONTEND", "noninteractive").stdout(io::stderr());
    command
}

/// The one line that a person with the right to install would type.
fn remedy(missing: &[&str]) -> String {
    format!("install them first:\n\n    sudo apt-get install --yes --no-install-recommends {}\n", missing.join(" "))
}

/// Which of the packages are there; `None` where dpkg is not.
fn installed<'a>(packages: &[&'a str]) -> Option<Vec<&'a str>> {
    let listing = output(program("dpkg-query --show --showformat ${Package}=${db:Status-Status}\\n").args(packages))?;
    Some(installed_in(&listing, packages))
}

fn installed_in<'a>(listing: &str, packages: &[&'a str]) -> Vec<&'a str> {
    let is_installed = |name: &&str| listing.lines().any(|line| line.split_once('=') == Some((*name, "installed")));
    packages.iter().copied().filter(is_installed).collect()
}

fn is_root() -> bool {
    output(&mut program("id -u")).is_some_and(|uid| uid.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_or_unknown_package_counts_as_missing() {
        let listing = "gettext=installed\nmaven=config-files\nlibsnappy-dev=not-installed\n";
        assert_eq!(installed_in(listing, &["maven", "gettext", "libsnappy-dev", "valgrind"]), ["gettext"]);
    }

    #[test]
    fn the_remedy_is_one_line_to_type() {
        let line = "    sudo apt-get install --yes --no-install-recommends maven gettext";
        assert_eq!(remedy(&["maven", "gettext"]).lines().filter(|text| *text == line).count(), 1);
    }
}
