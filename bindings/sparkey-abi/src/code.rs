//! Return codes: the numbers of Spotify's header, and what our errors come to in them.

use hammerspace_error::Error;
use std::error::Error as _;
use std::ffi::{CStr, c_char, c_int};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a function of ours comes to, before C gets a number.
pub(crate) type Outcome<T = ()> = Result<T, Code>;

/// Why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Code {
    InternalError = -1,
    FileNotFound = -100,
    PermissionDenied = -101,
    TooManyOpenFiles = -102,
    FileTooLarge = -103,
    FileAlreadyExists = -104,
    FileBusy = -105,
    FileIsDirectory = -106,
    FileSizeExceeded = -107,
    FileClosed = -108,
    OutOfDisk = -109,
    UnexpectedEof = -110,
    MmapFailed = -111,
    WrongLogMagicNumber = -200,
    WrongLogMajorVersion = -201,
    UnsupportedLogMinorVersion = -202,
    LogTooSmall = -203,
    LogClosed = -204,
    LogIteratorInactive = -205,
    LogIteratorMismatch = -206,
    LogIteratorClosed = -207,
    LogHeaderCorrupt = -208,
    InvalidCompressionBlockSize = -209,
    InvalidCompressionType = -210,
    WrongHashMagicNumber = -300,
    WrongHashMajorVersion = -301,
    UnsupportedHashMinorVersion = -302,
    HashTooSmall = -303,
    HashClosed = -304,
    FileIdentifierMismatch = -305,
    HashHeaderCorrupt = -306,
    HashSizeInvalid = -307,
}

const SUCCESS: c_int = 0;

/// The codes in words.
const WORDS: [(Code, &CStr); 32] = [
    (Code::InternalError, c"internal error"),
    (Code::FileNotFound, c"there is no such file"),
    (Code::PermissionDenied, c"access to the file is denied"),
    (Code::TooManyOpenFiles, c"too many files are open"),
    (Code::FileTooLarge, c"the file is too large for this system"),
    (Code::FileAlreadyExists, c"the file is there already"),
    (Code::FileBusy, c"the file is in use"),
    (Code::FileIsDirectory, c"this is a directory, not a file"),
    (Code::FileSizeExceeded, c"the file would grow past its limit"),
    (Code::FileClosed, c"the file has been closed"),
    (Code::OutOfDisk, c"the disk is full"),
    (Code::UnexpectedEof, c"the file ends too early"),
    (Code::MmapFailed, c"the file cannot be mapped into memory"),
    (Code::WrongLogMagicNumber, c"this is not a log: its magic number is another"),
    (Code::WrongLogMajorVersion, c"the log has another major version"),
    (Code::UnsupportedLogMinorVersion, c"the log has a newer minor version"),
    (Code::LogTooSmall, c"the log is shorter than its header says"),
    (Code::LogClosed, c"the log is closed"),
    (Code::LogIteratorInactive, c"the iterator stands on no entry"),
    (Code::LogIteratorMismatch, c"the iterator belongs to another log"),
    (Code::LogIteratorClosed, c"the iterator is closed"),
    (Code::LogHeaderCorrupt, c"the log's header contradicts itself"),
    (Code::InvalidCompressionBlockSize, c"compression blocks cannot have this size"),
    (Code::InvalidCompressionType, c"there is no such compression"),
    (Code::WrongHashMagicNumber, c"this is not an index: its magic number is another"),
    (Code::WrongHashMajorVersion, c"the index has another major version"),
    (Code::UnsupportedHashMinorVersion, c"the index has a newer minor version"),
    (Code::HashTooSmall, c"the index is shorter than its header says"),
    (Code::HashClosed, c"the index is closed"),
    (Code::FileIdentifierMismatch, c"the index belongs to another log"),
    (Code::HashHeaderCorrupt, c"the index's header contradicts itself or its log"),
    (Code::HashSizeInvalid, c"hashes have 4 or 8 bytes"),
];

/// Runs the body of a function that C calls.
pub(crate) fn answer(body: impl FnOnce() -> Outcome) -> c_int {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(code)) => code as c_int,
        Err(_) => Code::InternalError as c_int,
    }
}

impl From<Error> for Code {
    /// What the operating system said, where it was that. What else can go wrong once a file is open has no code of its own.
    fn from(error: Error) -> Self {
        let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
        cause.map_or(Self::InternalError, Self::of)
    }
}

impl From<io::Error> for Code {
    fn from(error: io::Error) -> Self {
        Self::of(&error)
    }
}

impl Code {
    fn of(error: &io::Error) -> Self {
        match error.raw_os_error().unwrap_or_default() {
            libc::ENOENT => Self::FileNotFound,
            libc::EPERM | libc::EACCES | libc::EROFS => Self::PermissionDenied,
            libc::ENFILE | libc::EMFILE => Self::TooManyOpenFiles,
            libc::EOVERFLOW => Self::FileTooLarge,
            libc::EEXIST => Self::FileAlreadyExists,
            libc::EBUSY => Self::FileBusy,
            libc::EISDIR => Self::FileIsDirectory,
            libc::EFBIG => Self::FileSizeExceeded,
            libc::EBADF => Self::FileClosed,
            libc::ENOSPC | libc::EDQUOT => Self::OutOfDisk,
            _ => Self::InternalError,
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn sparkey_errstring(code: c_int) -> *const c_char {
    let words = WORDS.iter().find(|(known, _)| *known as c_int == code).map(|(_, words)| *words);
    let words = words.unwrap_or(if code == SUCCESS { c"success" } else { c"unknown error" });
    words.as_ptr()
}
