//! How a space is opened: keyword arguments of `hammerspace.open` as options of the face.

use std::num::NonZeroUsize;
use std::time::Duration;

use hammerspace::{Compression, Durability, Options, Paging};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods};

use crate::errors::invalid;

/// Whether to make the directory, and all else that was given. `None` is as if it was not.
pub(crate) fn opening(given: Option<&Bound<'_, PyDict>>) -> PyResult<(bool, Options)> {
    let (mut create, mut options) = (false, Options::new());
    for (name, value) in given.into_iter().flat_map(PyDictMethods::iter).filter(|(_, value)| !value.is_none()) {
        let name: String = name.extract()?;
        match name.as_str() {
            "create" => create = read(&name, &value, YES_OR_NO)?,
            name => options = option(options, name, &value)?,
        }
    }
    Ok((create, options))
}

fn option(options: Options, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Options> {
    Ok(match name {
        "keep" => options.keep(read::<NonZeroUsize>(name, value, "a number from 1 on")?.get()),
        "compression" => options.compression(one_of(name, value, &COMPRESSION)?),
        "block_size" => options.block_size(read(name, value, BYTES)?),
        "cache_bytes" => options.cache_bytes(read(name, value, BYTES)?),
        "durability" => options.durability(one_of(name, value, &DURABILITY)?),
        "poll" => options.poll(seconds(name, value)?),
        "paging" => options.paging(one_of(name, value, &Paging::ALL.map(|way| (way.name(), way)))?),
        "mend" if read(name, value, YES_OR_NO)? => options.mend(),
        "mend" => options,
        _ => return Err(PyTypeError::new_err(format!("there is no option {name}"))),
    })
}

const YES_OR_NO: &str = "True or False";

const BYTES: &str = "a number of bytes";

const COMPRESSION: [(&str, Compression); 3] =
    [("none", Compression::None), ("snappy", Compression::Snappy), ("zstd", Compression::Zstd)];

const DURABILITY: [(&str, Durability); 2] = [("full", Durability::Full), ("none", Durability::None)];

fn one_of<T: Copy>(option: &str, value: &Bound<'_, PyAny>, choices: &[(&str, T)]) -> PyResult<T> {
    let names = choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let may_be = format!("one of {names}");
    let given: String = read(option, value, &may_be)?;
    let chosen = choices.iter().find(|(name, _)| *name == given);
    chosen.map(|(_, choice)| *choice).ok_or_else(|| impossible(option, value, &may_be))
}

pub(crate) fn seconds(option: &str, value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let may_be = "a number of seconds, or math.inf";
    let seconds: f64 = read(option, value, may_be)?;
    if seconds == f64::INFINITY {
        return Ok(Duration::MAX);
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| impossible(option, value, may_be))
}

/// The value of an option, or of an argument, as Rust has it: `TypeError` if it is of another type, `InvalidError`, which is a
/// `ValueError`, if it is none that there is.
pub(crate) fn read<'py, T: FromPyObjectOwned<'py>>(
    option: &str,
    value: &Bound<'py, PyAny>,
    may_be: &str,
) -> PyResult<T> {
    value.extract().map_err(Into::into).map_err(|error: PyErr| {
        if error.is_instance_of::<PyTypeError>(value.py()) {
            return PyTypeError::new_err(format!("{}; it is {may_be}", finding(option, value)));
        }
        impossible(option, value, may_be)
    })
}

fn impossible(option: &str, value: &Bound<'_, PyAny>, may_be: &str) -> PyErr {
    invalid(&finding(option, value), &format!("it is {may_be}"))
}

fn finding(option: &str, value: &Bound<'_, PyAny>) -> String {
    format!("{option} cannot be {value:?}")
}
