//! Errors as Python's exceptions: one class for each kind, in `hammerspace/_errors.py`.

use std::error::Error as _;
use std::io;
use std::path::Path;

use hammerspace::{Error, Kind};
use pyo3::prelude::*;

/// The exception that an error arrives as.
#[cold]
#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
pub(crate) fn raised(error: Error) -> PyErr {
    Python::attach(|py| exception(py, &error).map_or_else(|failure| failure, PyErr::from_value))
}

/// A call that cannot be: `InvalidError`.
#[cold]
pub(crate) fn invalid(finding: &str, remedy: &str) -> PyErr {
    raised(Error::new(Kind::Invalid, finding).remedy(remedy))
}

fn exception<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    // Each interpreter of a process has classes of its own, so they are not kept here.
    let exception = py.import("hammerspace._errors")?.getattr(class(error.kind()))?.call1((error.to_string(),))?;
    exception.setattr("finding", error.finding())?;
    for name in ["path", "filename"] {
        exception.setattr(name, error.path().map(Path::as_os_str))?;
    }
    exception.setattr("offset", error.offset())?;
    exception.setattr("remedy", error.advice())?;
    if let Some(errno) = errno(error) {
        exception.setattr("errno", errno)?;
        exception.setattr("strerror", py.import("os")?.call_method1("strerror", (errno,))?)?;
    }
    Ok(exception)
}

fn errno(error: &Error) -> Option<i32> {
    error.source()?.downcast_ref::<io::Error>()?.raw_os_error()
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Corrupt => "CorruptError",
        Kind::Unsupported => "UnsupportedError",
        Kind::Busy => "BusyError",
        Kind::Full => "FullError",
        Kind::Invalid => "InvalidError",
        Kind::Permission => "AccessError",
        Kind::Missing => "MissingError",
        Kind::OwnerDead => "OwnerDeadError",
        Kind::Io => "IoError",
        Kind::Changed => "ChangedError",
    }
}
