//! Runs the binary, and holds what came of it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A directory to run in, with `hammerspace` and `sparkey` in it: one binary, two names.
pub(crate) struct Place {
    dir: TempDir,
    pub(crate) hammerspace: PathBuf,
    pub(crate) sparkey: PathBuf,
}

/// What a run came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let (hammerspace, sparkey) = (bin.join("hammerspace"), bin.join("sparkey"));
        for name in [&hammerspace, &sparkey] {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_hammerspace"), name).unwrap();
        }
        Self { dir, hammerspace, sparkey }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path().join(name)).unwrap()
    }

    /// Runs `hammerspace` with the words of `line`.
    pub(crate) fn run(&self, line: &str) -> Ran {
        self.words(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs `hammerspace` with these words, none of them split further.
    pub(crate) fn words(&self, words: &[&str]) -> Ran {
        self.feed(&self.hammerspace, words, b"")
    }

    /// Runs `sparkey` with the words of `line`.
    pub(crate) fn sparkey(&self, line: &str) -> Ran {
        self.feed(&self.sparkey, &line.split_whitespace().collect::<Vec<_>>(), b"")
    }

    /// A place with a small store `s` in it.
    pub(crate) fn with_store() -> Self {
        let place = Self::new();
        place.run("store create s --limit 32MiB --region .").ends(0);
        place
    }

    /// Runs `hammerspace LINE` here, with `input` on its standard input.
    pub(crate) fn feed_line(&self, line: &str, input: &[u8]) -> Ran {
        self.feed(&self.hammerspace, &line.split_whitespace().collect::<Vec<_>>(), input)
    }

    /// Runs any program here, with `input` on its standard input.
    pub(crate) fn feed(&self, program: &Path, words: &[&str], input: &[u8]) -> Ran {
        let mut child = Command::new(program)
            .args(words)
            .current_dir(self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        // A program that does not read its input may be gone by now.
        drop(child.stdin.take().unwrap().write_all(input));
        let output = child.wait_with_output().unwrap();
        Ran {
            code: output.status.code().expect("no signal ends it"),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Whatever a test was about, the stores it leaves behind are sound.
impl Drop for Place {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        for entry in self.path().read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.join("store.toml").exists() {
                let found = hammerspace::Store::open(&path).unwrap().verify().unwrap();
                assert_eq!(found.findings, Vec::<String>::new(), "{}", path.display());
            }
        }
    }
}

impl Ran {
    /// The same, if it ended with this code.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}\n{}", self.text());
        self
    }

    /// Standard output as text.
    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("text")
    }

    /// Standard output as exactly one JSON object on one line, with nothing on standard error.
    #[track_caller]
    pub(crate) fn object(&self) -> Value {
        assert_eq!(self.stderr, "");
        let text = self.text();
        assert_eq!(text.find('\n'), Some(text.len() - 1), "one line: {text}");
        let value: Value = serde_json::from_str(text).unwrap();
        assert!(value.is_object(), "{text}");
        value
    }

    /// Standard output as one JSON object per line.
    #[track_caller]
    pub(crate) fn objects(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
