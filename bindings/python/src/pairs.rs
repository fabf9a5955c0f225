//! Iterators over one version.

use std::sync::Mutex;

use hammerspace::Snapshot;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::errors::raised;
use crate::text::Form;

/// An iterator over the keys, values or items of a version, which it holds until it ends.
#[pyclass(frozen, module = "hammerspace._native")]
pub(crate) struct Pairs {
    what: What,
    form: Form,
    walk: Mutex<Option<Walk>>,
}

/// What an iterator gives of each pair.
#[derive(Clone, Copy)]
enum What {
    Keys,
    Values,
    Items,
}

/// A walk through a snapshot that it holds itself.
struct Walk {
    // Dropped first: they borrow from the snapshot. Their lifetime is not really 'static, and what they give is copied
    // before the walk goes on.
    pairs: hammerspace::Pairs<'static>,
    _snapshot: Box<Snapshot>,
}

impl Walk {
    fn new(snapshot: Snapshot) -> Self {
        let snapshot = Box::new(snapshot);
        // SAFETY: the snapshot stays where it is, in its box, until the walk drops it, after all that borrows from it; and it
        // is only ever read.
        let held: &'static Snapshot = unsafe { &*std::ptr::from_ref(&*snapshot) };
        Self { pairs: held.iter(), _snapshot: snapshot }
    }
}

impl Pairs {
    /// `what` is "keys", "values" or "items".
    pub(crate) fn new(snapshot: Snapshot, what: &str, form: Form) -> PyResult<Self> {
        let what = match what {
            "keys" => What::Keys,
            "values" => What::Values,
            "items" => What::Items,
            _ => return Err(PyValueError::new_err("there are keys, values and items")),
        };
        Ok(Self { what, form, walk: Mutex::new(Some(Walk::new(snapshot))) })
    }
}

#[pymethods]
impl Pairs {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut walk = self.walk.lock_py_attached(py).unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(Walk { pairs, .. }) = &mut *walk else { return Ok(None) };
        let Some((key, value)) = pairs.next().transpose().map_err(raised)? else {
            *walk = None;
            return Ok(None);
        };
        let give = |bytes| self.form.give(py, bytes);
        match self.what {
            What::Keys => give(&key),
            What::Values => give(&value),
            What::Items => (give(&key)?, give(&value)?).into_pyobject(py).map(Bound::into_any),
        }
        .map(Some)
    }
}
