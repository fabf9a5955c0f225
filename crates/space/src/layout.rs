//! The names in a space's directory, and the small files of our own.
//!
//! ```text
//! PATH/hammerspace.lock                  flock target; one page of ours, see below PATH/hammerspace.next
//! .update         flock targets of updates that queue; the second holds a process number PATH/current ->
//! <uid>                  the version that readers open PATH/<uid>/hammerspace.spl  .spi       a Sparkey log
//! and its index PATH/<uid>/hammerspace.version         only in versions of ours: the stamp PATH/<uid>.tmp ->
//! <uid>                `current` in the making PATH/dead.<uid>/                       on its way in or out
//! ```
//!
//! `uid` is `<pid>_<uuid>`, as the original gem writes it. Format page: `docs/format/space.md`.

use std::ffi::OsStr;

use hammerspace_bytes::Field;
use uuid::Uuid;

/// The lock file.
pub(crate) const LOCK: &str = "hammerspace.lock";
/// Locked by the update that is next in line.
pub(crate) const NEXT: &str = "hammerspace.next";
/// Locked by the update whose turn it is.
pub(crate) const UPDATE: &str = "hammerspace.update";
/// The link to the version that readers open.
pub(crate) const CURRENT: &str = "current";
/// A version's log.
pub(crate) const LOG: &str = "hammerspace.spl";
/// A version's index.
pub(crate) const INDEX: &str = "hammerspace.spi";
/// A version's stamp.
pub(crate) const STAMP: &str = "hammerspace.version";
/// What the name of a directory on its way in or out starts with.
pub(crate) const DEAD: &str = "dead.";
/// What the name of a link in the making ends with.
pub(crate) const IN_THE_MAKING: &str = ".tmp";

/// The layout of lock page and stamp that this build writes, and the newest it reads.
pub(crate) const LAYOUT_VERSION: u64 = 1;

/// The page at the start of the lock file.
pub mod lock_page {
    use super::Field;

    /// Bytes that the lock file has at least, once one of our processes has published.
    pub const SIZE: usize = 4096;
    /// Bytes at its start that mean something.
    pub const HEAD: usize = 24;
    /// `hmrspace`, little-endian.
    pub const MAGIC: u64 = u64::from_le_bytes(*b"hmrspace");
    /// The magic number.
    pub const MAGIC_FIELD: Field = Field::u64("magic", 0);
    /// The layout version.
    pub const LAYOUT: Field = Field::u32("layout_version", 8);
    /// Rises by at least one with each change of `current`. Watched by readers, hence at an aligned offset.
    pub const GENERATION: Field = Field::u64("generation", 16);
    /// All fields, as the format page lists them.
    pub const FIELDS: [Field; 3] = [MAGIC_FIELD, LAYOUT, GENERATION];
}

/// The stamp in a version's directory.
pub mod stamp {
    use super::Field;

    /// Its length in bytes.
    pub const SIZE: usize = 24;
    /// `hmrstamp`, little-endian.
    pub const MAGIC: u64 = u64::from_le_bytes(*b"hmrstamp");
    /// The magic number.
    pub const MAGIC_FIELD: Field = Field::u64("magic", 0);
    /// The layout version.
    pub const LAYOUT: Field = Field::u32("layout_version", 8);
    /// The version's number; 0 until it is published.
    pub const NUMBER: Field = Field::u64("number", 16);
    /// All fields, as the format page lists them.
    pub const FIELDS: [Field; 3] = [MAGIC_FIELD, LAYOUT, NUMBER];
}

/// A name for a new version, which nothing else ever had.
pub(crate) fn new_uid() -> String {
    format!("{}_{}", std::process::id(), Uuid::new_v4())
}

/// The process that made the version of this name; `None` for names that are not of this form, which are not ours.
pub(crate) fn pid_of(uid: &str) -> Option<u32> {
    let (pid, unique) = uid.split_once('_')?;
    Uuid::try_parse(unique).ok()?;
    pid.parse().ok()
}

/// Whether this names a directory of ours on its way in or out.
pub(crate) fn is_dead(name: &str) -> bool {
    name.strip_prefix(DEAD).is_some_and(|uid| pid_of(uid).is_some())
}

/// The name that `current` points to, if it is one that can be followed safely: a single component.
pub(crate) fn uid_of(target: &OsStr) -> Option<&str> {
    target.to_str().filter(|name| !name.is_empty() && !name.contains('/') && *name != "." && *name != "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_tells_its_process() {
        assert_eq!(pid_of(&new_uid()), Some(std::process::id()));
        assert_eq!(pid_of("4711_2f1c0a52-93c5-4f0c-8f0e-6b4b7c1d2e3f"), Some(4711));
        for stranger in ["current", "4711", "x_2f1c0a52-93c5-4f0c-8f0e-6b4b7c1d2e3f", "4711_backup", "lost+found"] {
            assert_eq!(pid_of(stranger), None, "{stranger}");
        }
    }

    #[test]
    fn current_leads_nowhere_but_into_its_own_directory() {
        for trap in ["", ".", "..", "../other", "/etc", "a/b"] {
            assert_eq!(uid_of(OsStr::new(trap)), None, "{trap}");
        }
    }

    #[test]
    fn the_format_page_lists_these_fields() {
        let page = include_str!("../../../docs/format/space.md");
        assert_eq!(hammerspace_testkit::page::fields(page, "Lock page"), lock_page::FIELDS);
        assert_eq!(hammerspace_testkit::page::fields(page, "Stamp"), stamp::FIELDS);
    }
}
