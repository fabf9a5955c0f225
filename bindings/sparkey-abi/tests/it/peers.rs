//! The libraries, each in a directory where programs find it by the name `libsparkey.so.0`; and C programs for them.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use hammerspace_testkit::c::{self, Language, Libraries};
use tempfile::TempDir;

/// The libraries, their headers, and the programs of `tests/c` that run on either.
pub(crate) struct Peers {
    scratch: TempDir,
    pub(crate) ours: Libraries,
    /// The C sources of Spotify's library, as the crate `sparkey-sys` carries them.
    pub(crate) sources: PathBuf,
}

/// Whose library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Ours,
    Spotifys,
    /// Spotify's too, but packing with the compressor that ours packs with.
    SpotifysPackingAsOurs,
}

impl Whose {
    pub(crate) const BOTH: [Self; 2] = [Self::Ours, Self::Spotifys];
}

/// Built once for all tests.
pub(crate) static PEERS: LazyLock<Peers> = LazyLock::new(|| Peers::build().unwrap());

/// Ample for any run that ends at all, in seconds.
const PATIENCE: u32 = 60;

const NAME: &str = "libsparkey.so.0";

impl Peers {
    fn build() -> Result<Self, String> {
        let scratch = TempDir::new().map_err(|cause| cause.to_string())?;
        let peers = Self { ours: Libraries::of("hammerspace-sparkey-abi")?, sources: sources()?, scratch };
        for whose in [Whose::Ours, Whose::Spotifys, Whose::SpotifysPackingAsOurs] {
            std::fs::create_dir(peers.directory(whose)).map_err(|cause| cause.to_string())?;
        }
        let spotifys = peers.directory(Whose::Spotifys);
        symlink(&peers.ours.shared, peers.library(Whose::Ours)).map_err(|cause| cause.to_string())?;
        symlink(&peers.sources, spotifys.join("sparkey")).map_err(|cause| cause.to_string())?;
        peers.build_spotifys(Whose::Spotifys, OsStr::new("-lsnappy"))?;
        let snappy = Libraries::of("hammerspace-snappy-c")?.archive;
        peers.build_spotifys(Whose::SpotifysPackingAsOurs, snappy.as_os_str())?;
        for program in ["everything", "replay"] {
            // Built for Spotify's library; ours has to do without another build.
            c::compile(
                Language::C,
                &source(program),
                &peers.library(Whose::Spotifys),
                &includes(&spotifys),
                &peers.program(program),
            )?;
        }
        Ok(peers)
    }

    /// Builds Spotify's sources as they are, with a library of `snappy-c.h`.
    fn build_spotifys(&self, whose: Whose, snappy: &OsStr) -> Result<(), String> {
        let mut cc = Command::new("cc");
        cc.args(["-std=c99", "-D_GNU_SOURCE", "-O1", "-g", "-w", "-fPIC", "-shared"])
            .args(PARTS.map(|part| self.sources.join(part).with_extension("c")))
            .arg(snappy)
            .args([&format!("-Wl,-soname,{NAME}"), "-o"])
            .arg(self.library(whose));
        c::run(&mut cc).map(drop)
    }

    /// Where the library lies.
    pub(crate) fn directory(&self, whose: Whose) -> PathBuf {
        self.scratch.path().join(format!("{whose:?}"))
    }

    pub(crate) fn library(&self, whose: Whose) -> PathBuf {
        self.directory(whose).join(NAME)
    }

    /// A program of `tests/c` that was built for Spotify's library.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// That program, to be run in `directory` with either library.
    pub(crate) fn command(&self, name: &str, whose: Whose, directory: &Path) -> Command {
        let mut command = Command::new(self.program(name));
        command.current_dir(directory).env("LD_LIBRARY_PATH", self.directory(whose));
        command
    }

    /// What `replay` prints for these lines.
    pub(crate) fn replay(&self, whose: Whose, directory: &Path, lines: &str) -> Result<String, String> {
        self.replay_within(PATIENCE, whose, directory, lines)
    }

    /// The same, within so many seconds.
    pub(crate) fn replay_within(
        &self,
        seconds: u32,
        whose: Whose,
        directory: &Path,
        lines: &str,
    ) -> Result<String, String> {
        let mut limited = Command::new("timeout");
        limited.arg(seconds.to_string()).arg(self.program("replay"));
        self.fed(&mut limited, whose, directory, lines)
    }

    /// Runs a command in `directory`, with a library, and `lines` on its standard input.
    pub(crate) fn fed(
        &self,
        command: &mut Command,
        whose: Whose,
        directory: &Path,
        lines: &str,
    ) -> Result<String, String> {
        let input = self.scratch.path().join(format!("lines-{:?}", std::thread::current().id()));
        std::fs::write(&input, lines).map_err(|cause| cause.to_string())?;
        let input = File::open(input).map_err(|cause| cause.to_string())?;
        c::run(command.stdin(input).current_dir(directory).env("LD_LIBRARY_PATH", self.directory(whose)))
    }
}

/// The parts of Spotify's library.
const PARTS: [&str; 13] = [
    "MurmurHash3",
    "buf",
    "endiantools",
    "hashalgorithms",
    "hashheader",
    "hashiter",
    "hashreader",
    "hashwriter",
    "logheader",
    "logreader",
    "logwriter",
    "returncodes",
    "util",
];

fn sources() -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut metadata = Command::new(cargo);
    metadata
        .args(["metadata", "--quiet", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    let metadata: serde_json::Value =
        serde_json::from_str(&c::run(&mut metadata)?).map_err(|cause| cause.to_string())?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let manifest = packages
        .filter(|package| package["name"] == "sparkey-sys")
        .find_map(|package| package["manifest_path"].as_str());
    let directory = manifest.and_then(|manifest| Path::new(manifest).parent()).ok_or("no package sparkey-sys")?;
    Ok(directory.join("sparkey/src"))
}

/// A program's source.
pub(crate) fn source(program: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(program).with_extension("c")
}

/// Where our header lies.
pub(crate) fn our_headers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

/// The compiler's options for headers in this directory.
pub(crate) fn includes(directory: &Path) -> [&OsStr; 3] {
    [OsStr::new("-D_GNU_SOURCE"), OsStr::new("-I"), directory.as_os_str()]
}
