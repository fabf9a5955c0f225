//! Keys on their way in, values on their way out: `str` for `str`, `bytes` for `bytes`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// Which of Python's two kinds of strings somebody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `str`: UTF-8 in files.
    Text,
    /// `bytes`, as they are.
    Bytes,
}

impl Form {
    /// The bytes of a file as a Python string of this form. `UnicodeDecodeError` if they are asked for as text and are none.
    ///
    /// Python's own decoder takes some 3 ns for a character beyond ASCII, which is much of a lookup. Decoding to wide characters
    /// first (`simdutf8`, `PyUnicode_FromWideChar`) took as long for Cyrillic and Arabic, and longer for French.
    #[inline]
    pub(crate) fn give<'py>(self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Text => PyString::from_bytes(py, bytes).map(Bound::into_any),
            Self::Bytes => Ok(PyBytes::new(py, bytes).into_any()),
        }
    }
}

/// The bytes that a key or a value stands for, and the form that it has. `UnicodeEncodeError` for lone surrogates, which
/// have no UTF-8.
#[inline]
pub(crate) fn bytes_of<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<(&'a [u8], Form)> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok((text.to_str()?.as_bytes(), Form::Text));
    }
    match object.cast::<PyBytes>() {
        Ok(bytes) => Ok((bytes.as_bytes(), Form::Bytes)),
        Err(_) => Err(neither(object)),
    }
}

#[cold]
fn neither(object: &Bound<'_, PyAny>) -> PyErr {
    match object.get_type().name() {
        Ok(name) => PyTypeError::new_err(format!("keys and values are str or bytes, not {name}")),
        Err(error) => error,
    }
}
