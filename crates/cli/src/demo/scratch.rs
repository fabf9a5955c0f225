//! A directory that is gone when the demo is, also after Ctrl-C.

use std::fs;
use std::io;
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hammerspace_error::{Doing, Result};
use tempfile::TempDir;

/// What a shell takes for the end by Ctrl-C: 128, and the number of SIGINT.
const INTERRUPTED: i32 = 130;

pub(super) struct Scratch {
    dir: TempDir,
    interrupted: Arc<AtomicBool>,
}

impl Scratch {
    /// Makes it, and from now on ends the process in order when it is asked to end. Workers end with us: their input does.
    pub(super) fn new(parent: &Path) -> Result<Self> {
        let dir = tempfile::Builder::new()
            .prefix("hammerspace-demo-")
            .tempdir_in(parent)
            .doing("make a scratch directory")?;
        let interrupted = Arc::new(AtomicBool::new(false));
        let (path, flag) = (dir.path().to_path_buf(), Arc::clone(&interrupted));
        ctrlc::set_handler(move || end(&path, &flag)).map_err(io::Error::other).doing("listen for Ctrl-C")?;
        Ok(Self { dir, interrupted })
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Ends the process, from a thread of its own.
fn end(path: &Path, interrupted: &AtomicBool) {
    interrupted.store(true, Ordering::Relaxed);
    // The main thread may still be making files; once more, and they are gone too.
    let _ = fs::remove_dir_all(path).or_else(|_| fs::remove_dir_all(path));
    process::exit(INTERRUPTED);
}

impl Drop for Scratch {
    /// What fails because the files are going is no error to tell: the process is ending.
    fn drop(&mut self) {
        while self.interrupted.load(Ordering::Relaxed) {
            thread::park();
        }
    }
}
