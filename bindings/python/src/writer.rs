//! Writing: the next version as a mapping that can be changed.
//!
//! A writer of the face is write-only. A `MutableMapping` can be read, too, so what was changed is kept in memory beside the
//! log until it is published; who loads much, and reads none of it meanwhile, uses `load`, which keeps nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hammerspace::{Snapshot, Space};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyList;

use crate::errors::{invalid, raised};
use crate::text::{Form, bytes_of};

/// The next version, private until it is published: the native half of a mutable mapping.
#[pyclass(frozen, module = "hammerspace._native")]
pub(crate) struct Writer {
    space: Arc<Space>,
    form: Form,
    /// `None` once it was published or given up.
    draft: Mutex<Option<Draft>>,
}

struct Draft {
    writer: hammerspace::Writer,
    /// What it started from.
    base: Snapshot,
    changes: HashMap<Box<[u8]>, Change>,
    /// Counts changes.
    clock: u64,
    len: u64,
}

/// What a key was set to last, and when.
struct Change {
    at: u64,
    /// `None`: it was deleted.
    value: Option<Box<[u8]>>,
}

impl Writer {
    pub(crate) fn begin(py: Python<'_>, space: Arc<Space>, replace: bool, form: Form) -> PyResult<Self> {
        let draft = py.detach(|| Draft::begin(&space, replace)).map_err(raised)?;
        Ok(Self { space, form, draft: Mutex::new(Some(draft)) })
    }

    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, Option<Draft>> {
        self.draft.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Draft) -> PyResult<T>) -> PyResult<T> {
        work(self.lock(py).as_mut().ok_or_else(ended)?)
    }
}

impl Draft {
    fn begin(space: &Space, replace: bool) -> hammerspace::Result<Self> {
        let writer = if replace { space.replace() } else { space.writer() }?;
        let base = writer.base();
        Ok(Self { len: base.len(), changes: HashMap::new(), clock: 0, writer, base })
    }

    /// The value of a key, shown to `show`.
    fn get_with<T>(&self, key: &[u8], show: impl FnOnce(&[u8]) -> T) -> hammerspace::Result<Option<T>> {
        match self.changes.get(key) {
            Some(change) => Ok(change.value.as_deref().map(show)),
            None => self.base.get_with(key, show),
        }
    }

    fn contains(&self, key: &[u8]) -> hammerspace::Result<bool> {
        self.get_with(key, |_| ()).map(|found| found.is_some())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> hammerspace::Result<()> {
        let is_new = !self.contains(key)?;
        self.writer.put(key, value)?;
        self.len += u64::from(is_new);
        self.change(key, Some(value.into()));
        Ok(())
    }

    /// Whether the key was there.
    fn delete(&mut self, key: &[u8]) -> hammerspace::Result<bool> {
        if !self.contains(key)? {
            return Ok(false);
        }
        self.writer.delete(key)?;
        self.len -= 1;
        self.change(key, None);
        Ok(true)
    }

    fn change(&mut self, key: &[u8], value: Option<Box<[u8]>>) {
        self.clock += 1;
        self.changes.insert(key.into(), Change { at: self.clock, value });
    }

    /// All keys, in the order in which they were last written.
    fn keys<'py>(&self, py: Python<'py>, form: Form) -> PyResult<Bound<'py, PyList>> {
        let keys = PyList::empty(py);
        for pair in &self.base {
            let (key, _) = pair.map_err(raised)?;
            if !self.changes.contains_key(&*key) {
                keys.append(form.give(py, &key)?)?;
            }
        }
        let mut put: Vec<_> = self.changes.iter().filter(|(_, change)| change.value.is_some()).collect();
        put.sort_unstable_by_key(|(_, change)| change.at);
        for (key, _) in put {
            keys.append(form.give(py, key)?)?;
        }
        Ok(keys)
    }
}

#[pymethods]
impl Writer {
    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (bytes, form) = bytes_of(key)?;
        let found = self.with(py, |draft| draft.get_with(bytes, |value| form.give(py, value)).map_err(raised))?;
        found.unwrap_or_else(|| Err(missing(key)))
    }

    fn __setitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let ((key, _), (value, _)) = (bytes_of(key)?, bytes_of(value)?);
        self.with(py, |draft| draft.put(key, value).map_err(raised))
    }

    fn __delitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let (bytes, _) = bytes_of(key)?;
        let was_there = self.with(py, |draft| draft.delete(bytes).map_err(raised))?;
        if was_there { Ok(()) } else { Err(missing(key)) }
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (bytes, _) = bytes_of(key)?;
        self.with(py, |draft| draft.contains(bytes).map_err(raised))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |draft| Ok(draft.len as usize))
    }

    /// A list of all keys, in the order in which they were last written.
    fn _keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.with(py, |draft| draft.keys(py, self.form))
    }

    /// Starts again, from nothing.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |draft| {
            *draft = Draft::begin(&self.space, true).map_err(raised)?;
            Ok(())
        })
    }

    /// Makes it the current version, to which the space it was begun on moves on. Gives its number.
    fn publish(&self, py: Python<'_>) -> PyResult<u64> {
        let draft = self.lock(py).take().ok_or_else(ended)?;
        py.detach(|| {
            let number = draft.writer.publish()?;
            self.space.refresh().map(|_| number)
        })
        .map_err(raised)
    }

    /// Gives it up: nothing is published, and nothing is left behind.
    fn discard(&self, py: Python<'_>) {
        let draft = self.lock(py).take();
        py.detach(|| drop(draft));
    }

    /// Whether it was published or given up.
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.lock(py).is_none()
    }
}

/// Puts pairs: those of a mapping, or what an iterator gives.
pub(crate) fn fill(writer: &mut hammerspace::Writer, pairs: &Bound<'_, PyAny>) -> PyResult<()> {
    let items = if pairs.hasattr("items")? { pairs.call_method0("items")? } else { pairs.clone() };
    for item in items.try_iter()? {
        let pair = item?.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        let [key, value] = pair.as_slice() else {
            return Err(PyValueError::new_err(format!("a pair has a key and a value, not {} parts", pair.len())));
        };
        writer.put(bytes_of(key)?.0, bytes_of(value)?.0).map_err(raised)?;
    }
    Ok(())
}

#[cold]
fn missing(key: &Bound<'_, PyAny>) -> PyErr {
    PyKeyError::new_err(key.clone().unbind())
}

#[cold]
fn ended() -> PyErr {
    invalid("this writer has ended", "take a new one: `with space.writer() as w:`")
}
