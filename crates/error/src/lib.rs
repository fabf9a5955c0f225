//! The one error type of Hammerspace.
//!
//! An error answers four questions: **where** (file, and offset where there is one), **what** was found, and **what to
//! do** about it; its [`Kind`] groups errors by that last answer, so a program can act without reading prose. The list
//! of kinds is closed (`docs/design/errors.md`): bindings match it exhaustively.
//!
//! ```
//! use hammerspace_error::{Error, Kind};
//!
//! let error = Error::new(Kind::Corrupt, "slot 71 points past data_end 9400")
//!     .at(9812)
//!     .remedy("rebuild the index with `hammerspace sparkey writehash fruits.spl`")
//!     .file("fruits.spi");
//! assert_eq!(
//!     error.to_string(),
//!     "fruits.spi: slot 71 points past data_end 9400 (at offset 9812); \
//!      rebuild the index with `hammerspace sparkey writehash fruits.spl`"
//! );
//! assert_eq!(error.kind(), Kind::Corrupt);
//! ```
#![forbid(unsafe_code)]

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What every fallible call of Hammerspace returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the person or program that meets an error can do about it. A closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Stored bytes break a promise of their format: restore or rebuild them.
    Corrupt,
    /// Well-formed, but of a version or option that this build does not know: use a newer build.
    Unsupported,
    /// Somebody else holds what is needed: try again later.
    Busy,
    /// No room: a full disk, a memory limit, a format's limit. Make room.
    Full,
    /// The caller asked for something that cannot be: change the call.
    Invalid,
    /// The operating system denies access: change the rights or the user.
    Permission,
    /// Something that must be there is not: create it or correct the path.
    Missing,
    /// The process that owns the data died: adopt it or restart the owner.
    OwnerDead,
    /// Anything else the operating system reports.
    Io,
    /// The data changed since it was read, so a change to it was not made: read again, and make it again.
    Changed,
}

impl Kind {
    /// Every kind, in the order of the design page.
    pub const ALL: [Self; 10] = [
        Self::Corrupt,
        Self::Unsupported,
        Self::Busy,
        Self::Full,
        Self::Invalid,
        Self::Permission,
        Self::Missing,
        Self::OwnerDead,
        Self::Io,
        Self::Changed,
    ];

    /// The kind's name as written in documents and in `--json` output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Corrupt => "Corrupt",
            Self::Unsupported => "Unsupported",
            Self::Busy => "Busy",
            Self::Full => "Full",
            Self::Invalid => "Invalid",
            Self::Permission => "Permission",
            Self::Missing => "Missing",
            Self::OwnerDead => "OwnerDead",
            Self::Io => "Io",
            Self::Changed => "Changed",
        }
    }

    /// The kind that an error of the operating system belongs to.
    pub fn of(error: &io::Error) -> Self {
        use io::ErrorKind as E;
        // Too many open files, in this process or in the system: the standard library has no name for it.
        if let Some(23 | 24) = error.raw_os_error() {
            return Self::Full;
        }
        match error.kind() {
            E::NotFound => Self::Missing,
            E::PermissionDenied | E::ReadOnlyFilesystem => Self::Permission,
            E::StorageFull | E::QuotaExceeded | E::FileTooLarge | E::OutOfMemory => Self::Full,
            E::WouldBlock | E::ResourceBusy | E::ExecutableFileBusy => Self::Busy,
            _ => Self::Io,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where something went wrong, what was found, and what to do. Cheap to move, cheap enough to clone.
#[derive(Clone)]
pub struct Error(Box<Report>);

#[derive(Clone)]
struct Report {
    kind: Kind,
    finding: String,
    file: Option<PathBuf>,
    offset: Option<u64>,
    remedy: Option<String>,
    cause: Option<Arc<io::Error>>,
}

impl Error {
    /// An error of `kind` that says what was `finding`.
    #[cold]
    pub fn new(kind: Kind, finding: impl Into<String>) -> Self {
        Self(Box::new(Report { kind, finding: finding.into(), file: None, offset: None, remedy: None, cause: None }))
    }

    /// What the operating system answered while we were `doing` something; the kind follows from the answer.
    #[cold]
    pub fn io(doing: impl fmt::Display, cause: io::Error) -> Self {
        let mut error = Self::new(Kind::of(&cause), format!("{doing}: {cause}"));
        error.0.remedy = remedy_for(error.0.kind).map(String::from);
        error.0.cause = Some(Arc::new(cause));
        error
    }

    /// Names the offset, in bytes from the start of the file.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.0.offset = Some(offset);
        self
    }

    /// Names the file, unless a deeper layer already did.
    #[must_use]
    pub fn file(mut self, path: impl AsRef<Path>) -> Self {
        self.0.file.get_or_insert_with(|| path.as_ref().to_path_buf());
        self
    }

    /// Calls a file that was at or below `from` by the name it has, or was to have, at or below `to`.
    #[must_use]
    pub fn moved(mut self, from: &Path, to: &Path) -> Self {
        let rest = self.0.file.as_deref().and_then(|file| file.strip_prefix(from).ok());
        match rest.map(Path::to_path_buf) {
            // Joined with nothing, a path would end with a slash.
            Some(rest) if rest.as_os_str().is_empty() => self.0.file = Some(to.to_path_buf()),
            Some(rest) => self.0.file = Some(to.join(rest)),
            None => {}
        }
        self
    }

    /// Says what to do, in place of what was said before.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.0.remedy = Some(remedy.into());
        self
    }

    /// What can be done about it.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The finding alone, without place and remedy.
    pub fn finding(&self) -> &str {
        &self.0.finding
    }

    /// The file it was found in.
    pub fn path(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// The offset it was found at, in bytes from the start of the file.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The number that the operating system answered with.
    pub fn os_code(&self) -> Option<i32> {
        self.0.cause.as_ref()?.raw_os_error()
    }

    /// What to do about it.
    pub fn advice(&self) -> Option<&str> {
        self.0.remedy.as_deref()
    }
}

/// What helps against an answer of the operating system, where its kind alone tells.
fn remedy_for(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Full => {
            Some("free some space or raise the limit, then try again; what was published before is untouched")
        }
        Kind::Permission => Some("check the owner and the mode of the file and of its directory"),
        Kind::Missing => Some("check the path"),
        Kind::Busy => Some("try again"),
        _ => None,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.0.file {
            write!(f, "{}: ", file.display())?;
        }
        f.write_str(&self.0.finding)?;
        if let Some(offset) = self.0.offset {
            write!(f, " (at offset {offset})")?;
        }
        if let Some(remedy) = &self.0.remedy {
            write!(f, "; {remedy}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.cause.as_deref().map(|cause| cause as _)
    }
}

/// Names what was being done when the operating system said no: `file.sync().doing("sync the log")?`.
pub trait Doing<T> {
    /// Turns the answer into an [`Error`] that says what was being done.
    fn doing(self, what: impl fmt::Display) -> Result<T>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, what: impl fmt::Display) -> Result<T> {
        self.map_err(|cause| Error::io(what, cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_file_named_stays() {
        let error = Error::new(Kind::Corrupt, "bad magic").file("inner.spl").file("outer.spi");
        assert_eq!(error.path(), Some(Path::new("inner.spl")));
    }

    #[test]
    fn a_file_is_called_by_the_name_it_was_to_have() {
        let path = |file: &str| {
            Error::new(Kind::Io, "full")
                .file(file)
                .moved("tmp/.new".as_ref(), "it".as_ref())
                .path()
                .map(Path::to_path_buf)
        };
        for (file, name) in [("tmp/.new", "it"), ("tmp/.new/part", "it/part"), ("tmp/.newer", "tmp/.newer")] {
            assert_eq!(path(file).unwrap().as_os_str(), name);
        }
    }

    #[test]
    fn the_kind_of_an_io_error_is_what_can_be_done_about_it() {
        for (errno, kind) in [
            (2, Kind::Missing),
            (13, Kind::Permission),
            (28, Kind::Full),
            (24, Kind::Full),
            (11, Kind::Busy),
            (5, Kind::Io),
        ] {
            assert_eq!(Kind::of(&io::Error::from_raw_os_error(errno)), kind, "errno {errno}");
        }
    }

    #[test]
    fn the_design_page_lists_exactly_these_kinds() {
        let page = include_str!("../../../docs/design/errors.md");
        let listed: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        assert_eq!(listed, Kind::ALL.map(Kind::name));
    }
}
