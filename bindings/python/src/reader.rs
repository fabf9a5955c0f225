//! Reading: a handle that moves from version to version, or one version that stays.

use std::ffi::OsStr;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

use hammerspace::{Snapshot, Space};
use pyo3::exceptions::{PyKeyError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::errors::{invalid, raised};
use crate::options::{opening, read, seconds};
use crate::pairs::Pairs;
use crate::raw;
use crate::text::{Form, Given, gathered};
use crate::writer::{Writer, fill};

/// What `Space` and `Snapshot` have in common: the native half of a mapping.
#[pyclass(subclass, frozen, module = "hammerspace._native")]
pub(crate) struct Reader {
    source: Source,
    form: Form,
}

/// What is read.
#[derive(Clone)]
enum Source {
    /// The version that a handle is at; and the path to it, from wherever one looks: a pickle and a message may be read in
    /// another directory than it was opened in.
    Space(Arc<Space>, Arc<Path>),
    /// One version.
    Snapshot(Snapshot),
}

impl Reader {
    fn snapshot_now(&self) -> Snapshot {
        match &self.source {
            Source::Space(space, _) => space.snapshot(),
            Source::Snapshot(snapshot) => snapshot.clone(),
        }
    }

    fn space(&self) -> PyResult<&Arc<Space>> {
        match &self.source {
            Source::Space(space, _) => Ok(space),
            Source::Snapshot(_) => Err(of_a_snapshot()),
        }
    }

    /// The value of a key, in the key's own form.
    #[inline]
    fn find<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(Given { bytes, form }) = possible(Given::of(key), py)? else { return Ok(None) };
        let found = match &self.source {
            Source::Space(space, _) => space.get_with(bytes, |value| form.give(py, value)),
            Source::Snapshot(snapshot) => snapshot.get_with(bytes, |value| form.give(py, value)),
        };
        found.map_err(raised)?.transpose()
    }
}

#[pymethods]
impl Reader {
    /// Opens the space at a path; or shares what another reader reads, as text or as bytes.
    #[new]
    #[pyo3(signature = (source, *, text = true, pinned = false, **options))]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        text: bool,
        pinned: bool,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let form = if text { Form::Text } else { Form::Bytes };
        let source = match source.cast::<Self>() {
            Ok(reader) if pinned => Source::Snapshot(reader.get().snapshot_now()),
            Ok(reader) => reader.get().source.clone(),
            Err(_) => {
                let path: PathBuf = source.extract()?;
                // Opened by the path as given, which may lead where the absolute one does not: directories above may be closed to
                // us. Where there is none, opening says what is wrong with the path.
                let place = absolute(&path).unwrap_or_else(|_| path.clone());
                let (create, options) = opening(options)?;
                let open = || if create { options.create(&path) } else { options.open(&path) };
                Source::Space(Arc::new(py.detach(open).map_err(raised)?), Arc::from(place))
            }
        };
        Ok(Self { source, form })
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.find(py, key)?.ok_or_else(|| PyKeyError::new_err(key.clone().unbind()))
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(Given { bytes, .. }) = possible(Given::of(key), py)? else { return Ok(false) };
        let found = match &self.source {
            Source::Space(space, _) => space.contains(bytes),
            Source::Snapshot(snapshot) => snapshot.contains(bytes),
        };
        found.map_err(raised)
    }

    fn __len__(&self) -> usize {
        self.snapshot_now().len() as usize
    }

    /// The value of a key, or the default; raw, a read-only memoryview of the value where it lies.
    #[pyo3(signature = (key, default = None, *, raw = false))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
        raw: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = if raw {
            match possible(Given::of(key), py)? {
                Some(key) => raw::view(py, &self.snapshot_now(), key.bytes)?,
                None => None,
            }
        } else {
            self.find(py, key)?
        };
        Ok(found.or(default))
    }

    /// The values of many keys, all of one version, in the order of the keys; the default for those that are not there.
    #[pyo3(signature = (keys, default = None))]
    fn get_many<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let keys = gathered(keys)?;
        let (mut wanted, mut impossible) = (Vec::with_capacity(keys.len()), Vec::new());
        for (at, key) in keys.iter().enumerate() {
            wanted.push(match Given::of(key) {
                Ok(given) => given,
                Err(error) => {
                    unless_impossible::<()>(error, py)?;
                    impossible.push(at);
                    Given::STAND_IN
                }
            });
        }
        let snapshot = self.snapshot_now();
        let found = snapshot.get_many(&wanted).map_err(raised)?;
        let default = default.unwrap_or_else(|| py.None().into_bound(py));
        let mut values = Vec::with_capacity(keys.len());
        for (key, value) in wanted.iter().zip(found) {
            values.push(value.map_or_else(|| Ok(default.clone()), |value| key.form.give(py, &value))?);
        }
        for at in impossible {
            values[at] = default.clone();
        }
        PyList::new(py, values)
    }

    /// An iterator over "keys", "values" or "items" of the version as it is now.
    fn _pairs(&self, what: &str) -> PyResult<Pairs> {
        Pairs::new(self.snapshot_now(), what, self.form)
    }

    /// Whether iterating gives `str`.
    #[getter]
    fn _text(&self) -> bool {
        self.form == Form::Text
    }

    /// The number of the version; None where the space is empty, or the version was written by Airbnb's gem.
    #[getter]
    fn version(&self) -> Option<u64> {
        self.snapshot_now().number()
    }

    /// Moves on to the current version; whether it was another one.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        let space = self.space()?;
        // To give up the lock costs more than to see that nothing is to be done.
        if space.may_be_behind() { py.detach(|| space.refresh()).map_err(raised) } else { Ok(false) }
    }

    /// Goes to the version of this number, if it is on disk; whether it is.
    fn _go_to(&self, py: Python<'_>, number: u64) -> PyResult<bool> {
        let space = self.space()?;
        py.detach(|| space.go_to(number)).map_err(raised)
    }

    /// The directory, as an absolute path: as it was when the space was opened, links left alone.
    #[getter]
    fn path(&self) -> PyResult<&OsStr> {
        match &self.source {
            Source::Space(_, place) => Ok(place.as_os_str()),
            Source::Snapshot(_) => Err(of_a_snapshot()),
        }
    }

    /// A writer that starts from the current version, or empty; with a timeout in seconds, one that queues
    /// for so long.
    #[pyo3(signature = (replace, timeout))]
    fn _writer(&self, py: Python<'_>, replace: bool, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<Writer> {
        let space = Arc::clone(self.space()?);
        match timeout {
            Some(timeout) => Writer::in_turn(py, space, replace, seconds("timeout", timeout)?, self.form),
            None => Writer::begin(py, space, replace, self.form),
        }
    }

    /// Replaces everything by these pairs; gives the number of the version.
    fn _load(&self, py: Python<'_>, pairs: &Bound<'_, PyAny>) -> PyResult<u64> {
        let space = self.space()?;
        let mut writer = py.detach(|| space.replace()).map_err(raised)?;
        fill(&mut writer, pairs)?;
        py.detach(|| writer.publish().and_then(|number| space.refresh().map(|_| number))).map_err(raised)
    }

    /// Empties the space, and drops every version of it.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        let space = self.space()?;
        py.detach(|| space.clear().and_then(|()| space.refresh())).map_err(raised)?;
        Ok(())
    }

    /// The versions on disk, newest first: number, name, whether it is current, entries, bytes, seconds since 1970.
    fn _versions<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let space = self.space()?;
        let versions = py.detach(|| space.versions()).map_err(raised)?;
        let row = |version: hammerspace::VersionInfo| {
            let published = version.published.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
            (version.number, version.uid, version.is_current, version.entries, version.bytes, published)
                .into_pyobject(py)
        };
        versions.into_iter().map(row).collect()
    }

    /// Makes an older version current again: that of the number, or the one before. Gives its number.
    #[pyo3(signature = (number = None))]
    fn rollback(&self, py: Python<'_>, number: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let space = self.space()?;
        let number = number.map(|number| read("number", number, "that of a version, from 1 on")).transpose()?;
        let number = number.map(NonZeroU64::get);
        py.detach(|| space.rollback(number).and_then(|now| space.refresh().map(|_| now))).map_err(raised)
    }
}

#[cold]
fn of_a_snapshot() -> PyErr {
    invalid("a snapshot stays as it is", "use the space that it was taken of")
}

/// What a lookup makes of a key: text that has no UTF-8 is no key of any space, so it is not found.
#[inline]
pub(crate) fn possible<T>(key: PyResult<T>, py: Python<'_>) -> PyResult<Option<T>> {
    key.map(Some).or_else(|error| unless_impossible(error, py))
}

#[cold]
fn unless_impossible<T>(error: PyErr, py: Python<'_>) -> PyResult<Option<T>> {
    if error.is_instance_of::<PyUnicodeEncodeError>(py) { Ok(None) } else { Err(error) }
}
