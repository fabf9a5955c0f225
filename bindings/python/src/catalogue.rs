//! Catalogues of gettext: what is in one, and which form of a translation a count takes.

use std::fs;
use std::path::{Path, PathBuf};

use hammerspace::Result;
use hammerspace_load::{Options, mo};
use hammerspace_plural::Rule;
use pyo3::prelude::*;

use crate::errors::raised;

/// The messages of a compiled catalogue, in its order; its header is under the empty key.
#[pyfunction]
pub(crate) fn catalogue(py: Python<'_>, path: PathBuf) -> PyResult<Vec<(String, String)>> {
    py.detach(move || read(&path).map_err(|error| error.file(&path))).map_err(raised)
}

fn read(path: &Path) -> Result<Vec<(String, String)>> {
    let bytes = fs::read(path).map_err(|cause| hammerspace::Error::io("read the catalogue", cause))?;
    let options = Options { catalogue_header: true, ..Options::default() };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut messages = Vec::new();
    mo::read(&bytes, &options, &mut |key, value| {
        messages.push((text(key), text(value)));
        Ok(())
    })?;
    Ok(messages)
}

/// The number of the form that so many things take, by the rule in a catalogue's header; `None` if it gives none that there
/// is. By the rule of English if the header has none that can be read.
#[pyfunction]
#[expect(clippy::cast_sign_loss, reason = "as C's `unsigned long` takes a negative count")]
pub(crate) fn plural_form(header: &str, count: i128) -> Option<u64> {
    Rule::of_header(header.as_bytes()).unwrap_or_default().form(count as u64)
}
