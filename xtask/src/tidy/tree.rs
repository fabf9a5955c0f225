//! The repository's text files, by their path from the root; read once, looked at by every check.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;

/// What people write by hand. Data (golden files, translations, corpora, bench results) has oracles of its own.
const EXTENSIONS: [&str; 17] =
    ["md", "rs", "toml", "yml", "yaml", "sh", "java", "xml", "c", "h", "rb", "py", "pyi", "cjs", "mjs", "cts", "mts"];
/// Built or fetched, never committed.
const BUILT: [&str; 3] = ["target", "node_modules", ".git"];

pub(super) struct Tree {
    files: BTreeMap<String, String>,
    /// Every path there is, directories and data included: what a link may point to.
    paths: BTreeSet<String>,
}

impl Tree {
    /// Reads everything under `root`, except what is built.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut tree = Self { files: BTreeMap::new(), paths: BTreeSet::new() };
        tree.read_directory(root, "").map_err(|cause| format!("the repository cannot be read: {cause}"))?;
        Ok(tree)
    }

    fn read_directory(&mut self, root: &Path, directory: &str) -> std::io::Result<()> {
        for entry in fs::read_dir(root.join(directory))? {
            let entry = entry?;
            let name = entry.file_name().into_string().unwrap_or_default();
            if BUILT.contains(&name.as_str()) {
                continue;
            }
            let path = if directory.is_empty() { name } else { format!("{directory}/{name}") };
            if entry.file_type()?.is_dir() {
                self.read_directory(root, &path)?;
            } else if is_text(&path) {
                self.files.insert(path.clone(), fs::read_to_string(entry.path())?);
            }
            self.paths.insert(path);
        }
        Ok(())
    }

    /// Path and text of every file.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Path and text of the files with this extension.
    pub(super) fn with_extension(&self, extension: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(move |(path, _)| extension_of(path) == Some(extension))
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether there is such a file or directory.
    pub(super) fn holds(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path)
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files: BTreeMap<String, String> = files.iter().map(|&(path, text)| (path.into(), text.into())).collect();
        let ancestors = |path: &String| -> Vec<String> {
            Path::new(path).ancestors().map(|ancestor| ancestor.display().to_string()).collect()
        };
        Self { paths: files.keys().flat_map(ancestors).collect(), files }
    }
}

fn extension_of(path: &str) -> Option<&str> {
    Path::new(path).extension()?.to_str()
}

fn is_text(path: &str) -> bool {
    path == ".ci/run" || extension_of(path).is_some_and(|extension| EXTENSIONS.contains(&extension))
}

/// The path that `link`, written in the file `from`, leads to; `None` if it leaves the repository.
pub(super) fn resolve(from: &str, link: &str) -> Option<String> {
    let mut resolved = PathBuf::from(from);
    resolved.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if !resolved.pop() {
                    return None;
                }
            }
            name => resolved.push(name),
        }
    }
    Some(resolved.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_resolve_from_the_file_they_are_in() {
        assert_eq!(resolve("docs/format/log.md", "../design/errors.md").as_deref(), Some("docs/design/errors.md"));
        assert_eq!(resolve("README.md", "crates/").as_deref(), Some("crates"));
        assert_eq!(resolve("README.md", "../elsewhere.md"), None);
    }
}
