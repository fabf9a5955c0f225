//! Keys on their way in, values on their way out: `str` for `str`, `bytes` for `bytes`.

use hammerspace_os::prefetch_at;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use pyo3::{PyErr, PyTypeInfo};

#[cfg(target_arch = "x86_64")]
use crate::wide;

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

#[inline]
fn text<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    #[cfg(target_arch = "x86_64")]
    if let Some(made) = wide::made(py, bytes) {
        return made;
    }
    PyString::from_bytes(py, bytes).map(Bound::into_any)
}

/// A key or a value on its way in: the bytes that it stands for, and the form that it has.
pub(crate) struct Given<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) form: Form,
}

impl<'a> Given<'a> {
    /// Takes the place of a key that no space can have. What is found for it is of no interest, and becomes bytes, which always
    /// works.
    pub(crate) const STAND_IN: Self = Self { bytes: &[], form: Form::Bytes };

    /// `UnicodeEncodeError` for lone surrogates, which have no UTF-8; `TypeError` for what is no string.
    #[inline]
    pub(crate) fn of(object: &'a Bound<'_, PyAny>) -> PyResult<Self> {
        // No subclass, nearly always; and to see that takes no call.
        match object.cast_exact::<PyString>() {
            Ok(text) => Self::text(text),
            Err(_) => Self::of_any(object),
        }
    }

    #[cold]
    fn of_any(object: &'a Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.cast::<PyString>() {
            return Self::text(text);
        }
        match object.cast::<PyBytes>() {
            Ok(bytes) => Ok(Self { bytes: bytes.as_bytes(), form: Form::Bytes }),
            Err(_) => Err(neither(object)),
        }
    }

    #[inline]
    fn text(text: &'a Bound<'_, PyString>) -> PyResult<Self> {
        Ok(Self { bytes: text.to_str()?.as_bytes(), form: Form::Text })
    }
}

impl AsRef<[u8]> for Given<'_> {
    fn as_ref(&self) -> &[u8] {
        self.bytes
    }
}

/// The keys that somebody gives: what can be iterated over.
///
/// They may lie anywhere in memory. Python makes a tuple of them in so few instructions a key that the processor waits for the
/// heads of many at once; the lines that follow, which hold the text of most keys, are asked for here.
pub(crate) fn gathered<'py>(keys: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    const LINE: usize = 64;
    let keys = PyTuple::type_object(keys.py()).call1((keys,))?.cast_into::<PyTuple>()?;
    let text_is_needed = |key: &Bound<'py, PyAny>| {
        for line in 1..3 {
            prefetch_at(key.as_ptr().wrapping_byte_add(line * LINE));
        }
    };
    Ok(keys.iter().inspect(text_is_needed).collect())
}

#[cold]
fn neither(object: &Bound<'_, PyAny>) -> PyErr {
    match object.get_type().name() {
        Ok(name) => PyTypeError::new_err(format!("keys and values are str or bytes, not {name}")),
        Err(error) => error,
    }
}
