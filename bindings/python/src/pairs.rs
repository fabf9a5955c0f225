//! Iterators over one version.

use std::sync::{Arc, Mutex, PoisonError};

use hammerspace::{Pair, Result, Snapshot};
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
    // Dropped first: they borrow from the snapshot. Their lifetime is not really 'static.
    pairs: hammerspace::Pairs<'static>,
    snapshot: Arc<Snapshot>,
}

/// A pair of a walk, and what keeps it in place.
struct Step {
    pair: Pair<'static>,
    _snapshot: Arc<Snapshot>,
}

impl Walk {
    fn new(snapshot: Snapshot) -> Self {
        let snapshot = Arc::new(snapshot);
        // SAFETY: the snapshot stays where it is until the last of the walk and its steps drops it, after all that borrows from
        // it; and it is only ever read.
        let held: &'static Snapshot = unsafe { &*Arc::as_ptr(&snapshot) };
        Self { pairs: held.iter(), snapshot }
    }

    fn step(&mut self) -> Option<Result<Step>> {
        let pair = self.pairs.next()?;
        Some(pair.map(|pair| Step { pair, _snapshot: Arc::clone(&self.snapshot) }))
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

    fn step(&self, py: Python<'_>) -> Option<Result<Step>> {
        let mut walk = self.walk.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let step = walk.as_mut()?.step();
        if step.is_none() {
            *walk = None;
        }
        step
    }
}

#[pymethods]
impl Pairs {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(Step { pair: (key, value), _snapshot }) = self.step(py).transpose().map_err(raised)? else {
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
