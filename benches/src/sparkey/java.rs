//! sparkey-java, Spotify's other library, in a JVM of its own: it is told which file to read and where the keys stand, and
//! takes the time itself, so that none of the telling counts. Its first passes only warm it up.

use std::io::Write;
use std::time::Duration;

use hammerspace_interop::Java;
use tempfile::NamedTempFile;

use super::numbered::{KEY_LEN, Key};
use super::pair::Pair;
use crate::{Result, jvm};

pub(super) const SPARKEY_JAVA: &str = "sparkey-java";

/// A JVM, and whether it is warm.
pub(super) struct Jvm {
    java: Java,
    is_warm: bool,
}

impl Jvm {
    /// Starts one.
    pub(super) fn start() -> Result<Self> {
        Ok(Self { java: Java::start_to_measure(&jvm::built()?)?, is_warm: false })
    }

    /// How long it takes to get the keys in a file; what it saw of the values is added to `sum`.
    pub(super) fn timed(&mut self, sum: &mut u64, pair: &Pair, keys: &NamedTempFile) -> Result<Duration> {
        let mut pass = || self.java.time(&pair.index, keys.path(), KEY_LEN);
        if !self.is_warm {
            (0..jvm::WARM_UP).try_for_each(|_| pass().map(drop))?;
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
