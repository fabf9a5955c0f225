//! Writing: the next version as a mapping that can be changed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hammerspace::{Kind, Space};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyList;

use crate::errors::{invalid, raised};
use crate::reader::possible;
use crate::text::{Form, Given};

/// How long a wait goes on before signals are seen to, such as that of Ctrl-C.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(100);

/// The next version, private until it is published: the native half of a mutable mapping.
#[pyclass(frozen, module = "hammerspace._native")]
pub(crate) struct Writer {
    space: Arc<Space>,
    form: Form,
    /// `None` once it was published or given up.
    draft: Mutex<Option<hammerspace::Writer>>,
}

impl Writer {
    pub(crate) fn begin(py: Python<'_>, space: Arc<Space>, replace: bool, form: Form) -> PyResult<Self> {
        let begin = || if replace { space.replace() } else { space.writer() };
        let writer = py.detach(begin).map_err(raised)?;
        Ok(Self { space, form, draft: Mutex::new(Some(writer)) })
    }

    /// Waits for its turn, and sees to signals meanwhile.
    pub(crate) fn in_turn(
        py: Python<'_>,
        space: Arc<Space>,
        replace: bool,
        limit: Duration,
        form: Form,
    ) -> PyResult<Self> {
        let started = Instant::now();
        let mut writer = loop {
            let left = limit.saturating_sub(started.elapsed());
            match py.detach(|| space.updater_within(left.min(BETWEEN_SIGNALS))) {
                Err(error) if error.kind() == Kind::Busy && left > BETWEEN_SIGNALS => py.check_signals()?,
                begun => break begun.map_err(raised)?,
            }
        };
        if replace {
            py.detach(|| writer.clear()).map_err(raised)?;
        }
        Ok(Self { space, form, draft: Mutex::new(Some(writer)) })
    }

    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, Option<hammerspace::Writer>> {
        self.draft.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut hammerspace::Writer) -> hammerspace::Result<T>,
    ) -> PyResult<T> {
        let outcome = self.lock(py).as_mut().map(work);
        outcome.ok_or_else(ended)?.map_err(raised)
    }

    /// The value of a key; none, where it is no possible one.
    fn find(&self, py: Python<'_>, key: Option<&Given<'_>>) -> PyResult<Option<Vec<u8>>> {
        self.with(py, |writer| key.map_or(Ok(None), |key| writer.get(key)))
    }
}

#[pymethods]
impl Writer {
    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let given = possible(Given::of(key), py)?;
        let found = self.find(py, given.as_ref())?;
        let (Given { form, .. }, value) = given.zip(found).ok_or_else(|| missing(key))?;
        form.give(py, &value)
    }

    fn __setitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (key, value) = (Given::of(key)?, Given::of(value)?);
        self.with(py, |writer| writer.put(key, value))
    }

    fn __delitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = possible(Given::of(key), py)?;
        let delete = |writer: &mut hammerspace::Writer| {
            let Some(Given { bytes, .. }) = given else { return Ok(false) };
            let was_there = writer.get(bytes)?.is_some();
            if was_there { writer.delete(bytes).map(|()| true) } else { Ok(false) }
        };
        if self.with(py, delete)? { Ok(()) } else { Err(missing(key)) }
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let given = possible(Given::of(key), py)?;
        self.find(py, given.as_ref()).map(|found| found.is_some())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |writer| writer.count().map(|count| count as usize))
    }

    /// A list of all keys, in the order in which they were last written.
    fn _keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let keys = self.with(py, hammerspace::Writer::keys)?;
        PyList::new(py, keys.iter().map(|key| self.form.give(py, key)).collect::<PyResult<Vec<_>>>()?)
    }

    /// Starts again, from nothing.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        let cleared = py.detach(|| {
            let mut draft = self.draft.lock().unwrap_or_else(PoisonError::into_inner);
            draft.as_mut().map(hammerspace::Writer::clear)
        });
        cleared.ok_or_else(ended)?.map_err(raised)
    }

    /// Makes it the current version, to which the space it was begun on moves on. Gives its number. Where that fails it is pending
    /// still.
    fn publish(&self, py: Python<'_>) -> PyResult<u64> {
        let taken = self.lock(py).take();
        let writer = taken.ok_or_else(ended)?;
        let number = py.detach(|| writer.try_publish()).map_err(|failed| {
            *self.lock(py) = failed.writer;
            raised(failed.error)
        })?;
        py.detach(|| self.space.refresh()).map_err(raised)?;
        Ok(number)
    }

    /// Gives it up: nothing is published, and nothing is left behind.
    fn discard(&self, py: Python<'_>) {
        let writer = self.lock(py).take();
        py.detach(|| drop(writer));
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
            let finding = format!("a pair has a key and a value, not {} parts", pair.len());
            return Err(invalid(&finding, "give a mapping, or pairs as `dict` takes them"));
        };
        writer.put(Given::of(key)?, Given::of(value)?).map_err(raised)?;
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
