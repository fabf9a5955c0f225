//! What went wrong, for C; and the wall that no panic passes.

use std::any::Any;
use std::ffi::{CStr, CString, c_char};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use hammerspace::Result;

/// What to do about an error. The list is closed.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No error.
    None = 0,
    /// Stored bytes break a promise of their format: restore, rebuild or replace them.
    Corrupt = 1,
    /// Well-formed, but newer than this build, or an option it does not have: use a newer build.
    Unsupported = 2,
    /// Somebody else holds what is needed: try again later.
    Busy = 3,
    /// A full disk, a memory limit, or a limit of a format: make room.
    Full = 4,
    /// The caller asked for something that cannot be: change the call.
    Invalid = 5,
    /// The operating system denies access: change the rights or the user.
    Permission = 6,
    /// Something that must be there is not: create it, or correct the path. (A missing key is not an error.)
    Missing = 7,
    /// The process that owns the data died: adopt the data, or restart the owner.
    OwnerDead = 8,
    /// Anything else the operating system reports: read the message.
    Io = 9,
    /// The data changed since it was read, so a change to it was not made: read again, and make it again.
    Changed = 10,
    /// A bug in this library: report it, and free the handles that the call was about.
    Internal = 11,
}

impl From<hammerspace::Kind> for Kind {
    fn from(kind: hammerspace::Kind) -> Self {
        use hammerspace::Kind as Theirs;
        match kind {
            Theirs::Corrupt => Self::Corrupt,
            Theirs::Unsupported => Self::Unsupported,
            Theirs::Busy => Self::Busy,
            Theirs::Full => Self::Full,
            Theirs::Invalid => Self::Invalid,
            Theirs::Permission => Self::Permission,
            Theirs::Missing => Self::Missing,
            Theirs::OwnerDead => Self::OwnerDead,
            Theirs::Io => Self::Io,
            Theirs::Changed => Self::Changed,
        }
    }
}

/// Why a function failed: what was found, where, and what to do.
pub struct Error {
    kind: Kind,
    message: CString,
    finding: CString,
    file: Option<CString>,
    offset: Option<u64>,
    remedy: Option<CString>,
}

impl From<hammerspace::Error> for Error {
    fn from(error: hammerspace::Error) -> Self {
        Self {
            kind: error.kind().into(),
            message: text(error.to_string()),
            finding: text(error.finding()),
            file: error.path().map(|path| text(path.as_os_str().as_bytes())),
            offset: error.offset(),
            remedy: error.advice().map(text),
        }
    }
}

impl Error {
    /// What a panic comes to.
    #[cold]
    fn internal(panic: &(dyn Any + Send)) -> Self {
        let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let finding = format!("a bug in Hammerspace: {}", said.unwrap_or("a panic without words"));
        let error = hammerspace::Error::new(hammerspace::Kind::Io, finding)
            .remedy("report it, and free the handles that the call was about");
        Self { kind: Kind::Internal, ..error.into() }
    }
}

/// Text for C, where a NUL would end it: one within is left out.
fn text(text: impl Into<Vec<u8>>) -> CString {
    let mut bytes: Vec<u8> = text.into();
    bytes.retain(|byte| *byte != 0);
    CString::new(bytes).expect("no NUL is left")
}

/// An error of the caller's making.
#[cold]
pub(crate) fn invalid(finding: impl Into<String>) -> hammerspace::Error {
    hammerspace::Error::new(hammerspace::Kind::Invalid, finding)
}

/// A pointer that must not be NULL.
pub(crate) fn given<T>(pointer: Option<T>, what: &str) -> Result<T> {
    // No closure that captures: `what` would go through memory each time.
    match pointer {
        Some(pointer) => Ok(pointer),
        None => Err(null(what)),
    }
}

#[cold]
fn null(what: &str) -> hammerspace::Error {
    invalid(format!("{what} is NULL"))
}

/// Does the work of a function that gives nothing but success. A panic becomes an error.
pub(crate) fn answer(work: impl FnOnce() -> Result<()>) -> Option<Box<Error>> {
    // After a panic a handle may be in any state that safe code can leave it in; the caller is told to free it.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(boxed(error)),
        Err(panic) => Some(Box::new(Error::internal(&*panic))),
    }
}

/// Apart, so that success needs neither its registers nor its memory.
#[cold]
fn boxed(error: hammerspace::Error) -> Box<Error> {
    Box::new(error.into())
}

/// Does the work of a function that gives a result, and `nothing` where it fails.
pub(crate) fn fill<T>(
    out: Option<&mut MaybeUninit<T>>,
    nothing: T,
    work: impl FnOnce() -> Result<T>,
) -> Option<Box<Error>> {
    answer(|| {
        let out = given(out, "the place for the result")?;
        out.write(nothing);
        out.write(work()?);
        Ok(())
    })
}

fn pointer(text: Option<&CString>) -> *const c_char {
    text.map_or(ptr::null(), |text| CStr::as_ptr(text))
}

/// What to do about it; HAMMERSPACE_KIND_NONE for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_error_kind(error: Option<&Error>) -> Kind {
    error.map_or(Kind::None, |error| error.kind)
}

/// The whole error as one line: where, what, and what to do. Lives as long as the error.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_error_message(error: Option<&Error>) -> *const c_char {
    pointer(error.map(|error| &error.message))
}

/// What was found, without place and remedy. Lives as long as the error.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_error_finding(error: Option<&Error>) -> *const c_char {
    pointer(error.map(|error| &error.finding))
}

/// The file it was found in, or NULL. Lives as long as the error.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_error_file(error: Option<&Error>) -> *const c_char {
    pointer(error.and_then(|error| error.file.as_ref()))
}

/// The offset it was found at, in bytes from the start of the file, or UINT64_MAX where there is none.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_error_offset(error: Option<&Error>) -> u64 {
    error.and_then(|error| error.offset).unwrap_or(u64::MAX)
}

/// What to do about it, or NULL. Lives as long as the error.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_error_remedy(error: Option<&Error>) -> *const c_char {
    pointer(error.and_then(|error| error.remedy.as_ref()))
}

/// Frees an error. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_error_free(error: Option<Box<Error>>) {
    drop(error);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canary_a_panic_becomes_an_error_of_its_own_kind() {
        let error = answer(|| panic!("promise {} is broken", 7)).unwrap();
        assert_eq!(error.kind, Kind::Internal);
        assert!(error.message.to_str().unwrap().contains("promise 7 is broken"), "{:?}", error.message);
    }

    #[test]
    fn kinds_have_the_numbers_of_the_design_pages_order() {
        for (at, kind) in (1..).zip(hammerspace::Kind::ALL) {
            assert_eq!(Kind::from(kind) as usize, at, "{kind}");
        }
    }

    #[test]
    fn the_result_is_nothing_where_the_work_fails() {
        let mut out = MaybeUninit::new(5);
        assert!(fill(Some(&mut out), 0, || Err(invalid("no"))).is_some());
        // SAFETY: it was a number before, and is one now.
        assert_eq!(unsafe { out.assume_init() }, 0);
        assert_eq!(fill(None, 0, || Ok(1)).unwrap().kind, Kind::Invalid);
    }
}
