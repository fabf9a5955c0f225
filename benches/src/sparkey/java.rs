//! sparkey-java, Spotify's other library, in a JVM of its own: it is told which file to read and where the keys stand, and
//! takes the time itself, so that none of the telling counts. Its first passes only warm it up.

use std::io::Write;
use std::time::Duration;

use hammerspace_interop::Java;
use tempfile::NamedTempFile;

use super::numbered::{KEY_LEN, Key};
use super::pair::Pair;
use crate::Result;

pub(super) const SPARKEY_JAVA: &str = "sparkey-java";

/// A JVM, and whether it is warm.
pub(super) struct Jvm {
    java: Java,
    is_warm: bool,
}

/// Passes until its compilers have nothing left to do.
const WARM_UP: u32 = 10;

impl Jvm {
    /// Starts one; its program was built beside ours, in the target directory.
    pub(super) fn start() -> Result<Self> {
        let program = std::env::current_exe()?;
        let target = program.ancestors().find(|directory| directory.join("CACHEDIR.TAG").exists());
        let built = target.ok_or("this program does not lie in a target directory")?.join("interop-java");
        Ok(Self { java: Java::start_to_measure(&built)?, is_warm: false })
    }

    /// How long it takes to get the keys in a file; what it saw of the values is added to `sum`.
    pub(super) fn timed(&mut self, sum: &mut u64, pair: &Pair, keys: &NamedTempFile) -> Result<Duration> {
        let mut pass = || self.java.time(&pair.index, keys.path(), KEY_LEN);
        if !self.is_warm {
            (0..WARM_UP).try_for_each(|_| pass().map(drop))?;
        }
        let (time, seen) = pass()?;
        *sum += seen;
        self.is_warm = true;
        Ok(time)
    }
}

/// The keys in a file, back to back.
pub(super) fn written(keys: &[Key]) -> Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    file.write_all(keys.as_flattened())?;
    Ok(file)
}
