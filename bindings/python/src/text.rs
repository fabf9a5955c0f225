//! Keys on their way in, values on their way out: `str` for `str`, `bytes` for `bytes`.

use hammerspace_os::prefetch_at;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use pyo3::{PyErr, ffi};

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
    // No subclass, nearly always; and to see that takes no call.
    if let Ok(text) = object.cast_exact::<PyString>() {
        return Ok((text.to_str()?.as_bytes(), Form::Text));
    }
    bytes_of_any(object)
}

#[cold]
fn bytes_of_any<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<(&'a [u8], Form)> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok((text.to_str()?.as_bytes(), Form::Text));
    }
    match object.cast::<PyBytes>() {
        Ok(bytes) => Ok((bytes.as_bytes(), Form::Bytes)),
        Err(_) => Err(neither(object)),
    }
}

/// Keys of a list whose memory is asked for before the first of them is looked at.
const AHEAD: usize = 32;

/// The keys that somebody gives. Those of a list lie anywhere in memory, which is asked for some keys ahead: to be referred to
/// by the list did not bring them into any cache.
pub(crate) fn gathered<'py>(keys: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let Ok(list) = keys.cast_exact::<PyList>() else { return keys.try_iter()?.collect() };
    for nth in 0..AHEAD {
        ask_for(list, nth);
    }
    let ahead = |(nth, key)| {
        ask_for(list, nth + AHEAD);
        key
    };
    Ok(list.iter().enumerate().map(ahead).collect())
}

/// Asks for the first lines of the `nth` object of a list, if there is one: its head, and the text of most keys.
#[inline]
fn ask_for(list: &Bound<'_, PyList>, nth: usize) {
    const LINE: usize = 64;
    if nth >= list.len() {
        return;
    }
    // SAFETY: it is a list, and what it gives is nothing but an address to us: who else may drop the object is all one.
    let object = unsafe { ffi::PyList_GetItem(list.as_ptr(), nth.cast_signed()) };
    if object.is_null() {
        // Another thread has shortened the list, on an interpreter without its lock.
        drop(PyErr::take(list.py()));
    }
    for line in 0..3 {
        prefetch_at(object.wrapping_byte_add(line * LINE));
    }
}

#[cold]
fn neither(object: &Bound<'_, PyAny>) -> PyErr {
    match object.get_type().name() {
        Ok(name) => PyTypeError::new_err(format!("keys and values are str or bytes, not {name}")),
        Err(error) => error,
    }
}
