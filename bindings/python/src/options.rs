//! How a space is opened: keyword arguments of `hammerspace.open` as options of the face.

use std::time::Duration;

use hammerspace::{Compression, Durability, Options, Paging};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods};

/// Whether to make the directory, and all else that was given. `None` is as if it was not.
pub(crate) fn opening(given: Option<&Bound<'_, PyDict>>) -> PyResult<(bool, Options)> {
    let (mut create, mut options) = (false, Options::new());
    for (name, value) in given.into_iter().flat_map(PyDictMethods::iter).filter(|(_, value)| !value.is_none()) {
        let name: String = name.extract()?;
        match name.as_str() {
            "create" => create = value.extract()?,
            name => options = option(options, name, &value)?,
        }
    }
    Ok((create, options))
}

fn option(options: Options, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Options> {
    Ok(match name {
        "keep" => options.keep(value.extract()?),
        "compression" => options.compression(one_of(name, value, &COMPRESSION)?),
        "block_size" => options.block_size(value.extract()?),
        "cache_bytes" => options.cache_bytes(value.extract()?),
        "durability" => options.durability(one_of(name, value, &DURABILITY)?),
        "poll" => options.poll(seconds(value.extract()?)?),
        "paging" => options.paging(one_of(name, value, &Paging::ALL.map(|way| (way.name(), way)))?),
        "mend" if value.extract()? => options.mend(),
        "mend" => options,
        _ => return Err(PyTypeError::new_err(format!("there is no option {name}"))),
    })
}

const COMPRESSION: [(&str, Compression); 3] =
    [("none", Compression::None), ("snappy", Compression::Snappy), ("zstd", Compression::Zstd)];

const DURABILITY: [(&str, Durability); 2] = [("full", Durability::Full), ("none", Durability::None)];

fn one_of<T: Copy>(option: &str, value: &Bound<'_, PyAny>, choices: &[(&str, T)]) -> PyResult<T> {
    let value: String = value.extract()?;
    let chosen = choices.iter().find(|(name, _)| *name == value);
    chosen.map(|(_, choice)| *choice).ok_or_else(|| {
        let names = choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        PyValueError::new_err(format!("{option} is one of {names}, not {value}"))
    })
}

fn seconds(seconds: f64) -> PyResult<Duration> {
    if seconds == f64::INFINITY {
        return Ok(Duration::MAX);
    }
    Duration::try_from_secs_f64(seconds).map_err(|error| PyValueError::new_err(format!("poll: {error}")))
}
