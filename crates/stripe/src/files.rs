//! One Parquet file per value.

use std::collections::HashMap;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::File;
use hammerspace_split::{Committed, Name, Split, Staged, Value};

use crate::read::Reader;
use crate::row_group::RowGroup;
use crate::schema::Schema;
use crate::write::{Options, Writer};

/// Files of a run, one per value.
pub struct Files<'a> {
    split: Split,
    writers: HashMap<Name, Writer<Staged>>,
    schema: &'a Schema,
    options: &'a Options,
}

impl<'a> Files<'a> {
    /// Files of records of a schema, none so far.
    pub fn new(split: Split, schema: &'a Schema, options: &'a Options) -> Self {
        Self { split, writers: HashMap::new(), schema, options }
    }

    /// Adds a row group to the file for a value, if it has records.
    pub fn append(&mut self, value: &Value, group: RowGroup) -> Result<()> {
        if group.rows() == 0 {
            return Ok(());
        }
        let (staged, written) = self.split.file(value)?;
        written.records += group.rows();
        let name = Name::of(value);
        if !self.writers.contains_key(&name) {
            self.writers.insert(name.clone(), Writer::new(staged, self.schema, self.options)?);
        }
        self.writers.get_mut(&name).expect("it is there").append(group)
    }

    /// Completes all files, and makes them visible.
    pub fn commit(self) -> Result<Committed> {
        for (_, writer) in self.writers {
            writer.finish()?;
        }
        let Self { split, options, .. } = self;
        split.commit_with(&|old, new, to| merge(old, new, to, options))
    }
}

/// Puts the row groups of both files into one, as they are.
fn merge(old: File, new: File, to: &mut File, options: &Options) -> Result<()> {
    let (old, new) = (Reader::new(old)?, Reader::new(new)?);
    if old.schema() != new.schema() {
        return Err(Error::new(Kind::Invalid, "what is there has another schema, and cannot be merged with")
            .remedy("write to another directory, or give --on-existing replace"));
    }
    let mut merged = Writer::new(to, new.schema(), options)?;
    merged.append_file(&old)?;
    merged.append_file(&new)?;
    merged.finish().map(drop)
}
