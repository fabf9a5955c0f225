//! Keys on their way in, values on their way out: `str` for `str`, `bytes` for `bytes`.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
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
    #[inline]
    pub(crate) fn give<'py>(self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Text => text(py, bytes),
            Self::Bytes => Ok(PyBytes::new(py, bytes).into_any()),
        }
    }
}

/// Bytes of UTF-8 that are made wide on the stack: most values.
const WIDE: usize = 512;

/// Bytes as `str`. Python decodes ASCII as fast as it can be done, and everything else one character at a time, some 3 ns
/// each; it takes wide characters several times faster.
#[inline]
fn text<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    if bytes.len() <= WIDE
        && !bytes.is_ascii()
        && let Ok(text) = simdutf8::basic::from_utf8(bytes)
    {
        return wide(py, text);
    }
    PyString::from_bytes(py, bytes).map(Bound::into_any)
}

/// At most [`WIDE`] bytes of text as `str`.
fn wide<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let mut wide = [MaybeUninit::<c_int>::uninit(); WIDE];
    let mut len = 0;
    for (place, character) in wide.iter_mut().zip(text.chars()) {
        // On Linux `wchar_t` is an int that holds a code point.
        place.write(u32::from(character).cast_signed());
        len += 1;
    }
    // SAFETY: the first `len` are written. Python copies them, and gives a new string, or NULL with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyUnicode_FromWideChar(wide.as_ptr().cast(), len)) }
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
