//! The bench `space`: reads, build, publish, refresh.

mod build;
mod publish;
mod read;
mod refresh;

use std::path::Path;

use hammerspace::{Durability, Options, Space};

use crate::data::Data;
use crate::report::Row;
use crate::scale::Scale;
use crate::{Result, scale};

const LIBSPARKEY: &str = "libsparkey";
const LIBSPARKEY_COPY: &str = "libsparkey: copy all and index";
const HASH_MAP: &str = "std HashMap";

/// All rows.
pub(crate) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let mut rows = read::rows(scale, scratch)?;
    rows.extend(build::rows(scale, scratch)?);
    rows.extend(publish::rows(scale, scratch)?);
    rows.extend(refresh::rows(scale, scratch)?);
    Ok(rows)
}

/// A space with the data in it, in a directory of this name. No peer syncs its files, so neither do we.
fn filled(directory: &Path, data: &Data) -> Result<Space> {
    let space = Options::new().durability(Durability::None).create(directory)?;
    let mut writer = space.replace()?;
    for (key, value) in &data.pairs {
        writer.put(key, value)?;
    }
    writer.publish()?;
    space.refresh()?;
    Ok(space)
}

/// A row's name with the number of its keys.
fn named(what: &str, keys: usize) -> String {
    format!("{what}, {} keys", scale::in_words(keys))
}
