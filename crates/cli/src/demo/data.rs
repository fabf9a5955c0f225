//! The translations: files in a directory, each loaded under a prefix that its path spells.
//!
//! ```text
//! de.json                ─► de.territories.NZ
//! de/LC_MESSAGES/cui.mo  ─► de.cui.<context>\x04<msgid>
//! ```
//! Whoever needs them reads these files: the one process that loads the space, and each worker that has a `HashMap`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Component, Path, PathBuf};

use hammerspace_error::{Doing, Result};
use hammerspace_load::{Format, Options, Sink};
use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};

/// The files of `data/translations`, their licence among them, so that an installed command has them too.
static BUILT_IN: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../data/translations");

/// Translations in a directory.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Data {
    root: PathBuf,
    /// Where they are from, for the screen.
    pub(super) origin: String,
}

impl Data {
    /// Those that are built in, written to `root`.
    pub(super) fn unpack(root: &Path) -> Result<Self> {
        fs::create_dir(root).doing("make a directory for the translations")?;
        BUILT_IN.extract(root).doing("write the translations")?;
        Ok(Self::at(root, "Unicode CLDR"))
    }

    /// Those in `root`.
    pub(super) fn at(root: impl Into<PathBuf>, origin: &str) -> Self {
        Self { root: root.into(), origin: origin.into() }
    }

    /// Hands every key and value to `sink`, in an order that is always the same.
    pub(super) fn read(&self, sink: &mut Sink) -> Result<()> {
        self.files()?
            .iter()
            .try_for_each(|(file, format)| self.read_file(file, *format, sink).map_err(|error| error.file(file)))
    }

    fn read_file(&self, file: &Path, format: Format, sink: &mut Sink) -> Result<()> {
        let mut key = self.prefix(file).into_bytes();
        let prefix_len = key.len();
        let input = BufReader::new(File::open(file).doing("open the translations")?);
        hammerspace_load::read(format, input, &Options::default(), &mut |bare, value| {
            key.truncate(prefix_len);
            key.extend_from_slice(bare);
            sink(&key, value)
        })
    }

    /// How many locales there are.
    pub(super) fn locales(&self) -> Result<usize> {
        let prefixes = self.files()?.into_iter().map(|(file, _)| self.prefix(&file));
        let locales: BTreeSet<String> = prefixes.filter_map(|prefix| Some(prefix.split_once('.')?.0.into())).collect();
        Ok(locales.len())
    }

    /// `de.cui.` for `de/LC_MESSAGES/cui.mo`.
    fn prefix(&self, file: &Path) -> String {
        let path = file.strip_prefix(&self.root).unwrap_or(file).with_extension("");
        let parts = path.components().filter_map(|part| match part {
            Component::Normal(name) if name != "LC_MESSAGES" => Some(name.to_string_lossy() + "."),
            _ => None,
        });
        parts.collect()
    }

    /// Every file that holds translations, in order.
    fn files(&self) -> Result<Vec<(PathBuf, Format)>> {
        let mut files = Vec::new();
        let mut directories = vec![self.root.clone()];
        while let Some(directory) = directories.pop() {
            for entry in
                fs::read_dir(&directory).doing("list the translations").map_err(|error| error.file(&directory))?
            {
                let path = entry.doing("list the translations")?.path();
                match Format::of(&path) {
                    _ if path.is_dir() => directories.push(path),
                    Some(format) => files.push((path, format)),
                    None => {}
                }
            }
        }
        files.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_in_is_what_the_repository_has() {
        let scratch = tempfile::tempdir().unwrap();
        let data = Data::unpack(&scratch.path().join("data")).unwrap();
        let (mut pairs, mut found) = (0, false);
        data.read(&mut |key, value| {
            pairs += 1;
            found |= (key, value) == (b"de.territories.NZ", "Neuseeland".as_bytes());
            Ok(())
        })
        .unwrap();
        assert!(pairs >= 80_000 && found, "{pairs} pairs, New Zealand: {found}");
        assert!(data.locales().unwrap() >= 70);
        assert!(scratch.path().join("data/LICENSE").exists(), "the licence goes with the data");
    }

    #[test]
    fn the_path_spells_the_prefix() {
        let data = Data::at("resource", "");
        for (path, prefix) in
            [("de.json", "de."), ("pt-PT.json", "pt-PT."), ("ca@valencia/LC_MESSAGES/cui.mo", "ca@valencia.cui.")]
        {
            assert_eq!(data.prefix(&Path::new("resource").join(path)), prefix);
        }
    }
}
