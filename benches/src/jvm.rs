//! The peers in Java, which were built beside us.

use std::path::PathBuf;

use crate::Result;

/// Passes until a JVM's compilers have nothing left to do.
pub(crate) const WARM_UP: u32 = 10;

/// Where their classes are, in the target directory that this program lies in.
pub(crate) fn built() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let target = program.ancestors().find(|directory| directory.join("CACHEDIR.TAG").exists());
    Ok(target.ok_or("this program does not lie in a target directory")?.join("interop-java"))
}
