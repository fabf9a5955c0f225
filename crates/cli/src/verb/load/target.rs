//! Where `load` puts pairs and translations.

use std::path::Path;

use hammerspace::{Result, Writer};
use hammerspace_load::i18n::{Locales, Texts};

pub(super) struct Target<'a> {
    writer: &'a mut Writer,
    space: &'a Path,
    /// Of what was put, for I18n.
    locales: Option<Locales>,
}

impl<'a> Target<'a> {
    pub(super) fn new(writer: &'a mut Writer, space: &'a Path, i18n: bool) -> Self {
        Self { writer, space, locales: i18n.then(Locales::default) }
    }

    /// Completes what was put: the list of locales.
    pub(super) fn finish(mut self) -> Result<()> {
        self.locales.take().map_or(Ok(()), |locales| locales.list(&mut self))
    }
}

impl Texts for Target<'_> {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.writer.get(key).map_err(|error| error.file(self.space))
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if let Some(locales) = &mut self.locales {
            locales.note(key);
        }
        self.writer.put(key, value).map_err(|error| error.file(self.space))
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.writer.delete(key).map_err(|error| error.file(self.space))
    }

    fn keys(&mut self) -> Result<Vec<Vec<u8>>> {
        self.writer.keys().map_err(|error| error.file(self.space))
    }
}
