//! An output file: written beside the file it replaces, or into what is not a regular file.
//!
//! ```text
//! begin ─┬─ a name: a new file beside it ── sync, rights of the old one, rename ─┬─ finish
//!        └─ a pipe, a device: a scratch ──── copied into it ─────────────────────┘
//! ```
//! What always holds:
//! 1. A regular file changes by one rename, and not at all if writing fails. Links are followed: the target is
//!    replaced. The mode stays, and so do owner and group where the system allows it.
//! 2. A pipe or a device stays what it is and gets its bytes in order: from [`stream`] as they are written, from
//!    [`replace`], whose writers may seek, once they are complete.

use std::io::{Seek, Write};
use std::path::Path;

use hammerspace_error::{Doing, Error, Result};
use hammerspace_os::{Dir, File, ProcessFile, Rights, Target};

use crate::fresh::Fresh;

/// Where an output goes when it is complete. Dropped before that, it leaves what was there.
pub(crate) enum Output {
    Fresh { fresh: Fresh, rights: Option<Rights> },
    Node(File),
}

impl Output {
    /// Opens a new file to write to, back and forth.
    pub(crate) fn begin(path: &Path) -> Result<(ProcessFile, Self)> {
        Self::begin_at(path, Target::of(path)?)
    }

    fn begin_at(path: &Path, target: Target) -> Result<(ProcessFile, Self)> {
        let (file, output) = match target {
            Target::Name { path, rights } => {
                let (file, fresh) = Fresh::file_beside(&path, rights.is_some())?;
                (file, Self::Fresh { fresh, rights })
            }
            Target::Node(node) => (File::wrap(scratch()?, path), Self::Node(node)),
        };
        Ok((ProcessFile::new(file), output))
    }

    /// Makes the file durable, and visible.
    pub(crate) fn finish(self, file: &mut File) -> Result<()> {
        match self {
            Self::Fresh { fresh, rights } => {
                let durable = || {
                    rights.map_or(Ok(()), |rights| rights.give(file))?;
                    file.sync()
                };
                durable().map_err(|error| fresh.named(error))?;
                fresh.take_name()
            }
            Self::Node(mut node) => {
                file.rewind().and_then(|()| std::io::copy(file, &mut node)).doing("write")?;
                node.sync_node()
            }
        }
    }

    /// An error that calls the file by the name to come.
    pub(crate) fn named(&self, error: Error) -> Error {
        match self {
            Self::Fresh { fresh, .. } => fresh.named(error),
            Self::Node(_) => error,
        }
    }
}

/// Writes a file anew and puts it in place of what `path` leads to, once it is complete and durable. Readers of the
/// old file keep it.
pub fn replace<T>(path: &Path, write: impl FnOnce(&mut File) -> Result<T>) -> Result<T> {
    Target::of(path).and_then(|target| replace_at(path, target, write)).map_err(|error| error.file(path))
}

fn replace_at<T>(path: &Path, target: Target, write: impl FnOnce(&mut File) -> Result<T>) -> Result<T> {
    let (mut owned, output) = Output::begin_at(path, target)?;
    let written = write(&mut owned.file).map_err(|error| output.named(error))?;
    output.finish(&mut owned.file)?;
    Ok(written)
}

/// The same for what is written from front to back. A pipe or a device gets it as it is written, also what came before
/// an error.
pub fn stream<T>(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let put = || match Target::of(path)? {
        Target::Node(mut node) => {
            let written = write(&mut node)?;
            node.sync_node()?;
            Ok(written)
        }
        name @ Target::Name { .. } => replace_at(path, name, |file| write(file)),
    };
    put().map_err(|error: Error| error.file(path))
}

/// A file without a name, for what memory has no room for: in the directory that `TMPDIR` names, or else in `/tmp`.
pub fn scratch() -> Result<std::fs::File> {
    Dir::open(std::env::temp_dir())?.scratch()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::ffi::OsString;
    use std::fs;
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
    use std::thread;

    use hammerspace_error::Kind;
    use hammerspace_os::trace::{self, Op};

    use super::*;

    pub(crate) fn names(dir: &Path) -> Vec<OsString> {
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    fn new(file: &mut File) -> Result<()> {
        file.write_all(b"new").doing("write")
    }

    #[test]
    fn what_fails_leaves_the_old_file_and_nothing_else_and_names_it() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("file");
        let fails = |refused: fn(&Op) -> bool| {
            let full = move |op: &Op| if refused(op) { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(()) };
            let error = trace::watch(full, || replace(&path, |file| file.write_at(b"new", 0))).unwrap_err();
            assert_eq!((error.kind(), error.path()), (Kind::Full, Some(&*path)));
        };
        for refused in [
            (|op: &Op| matches!(op, Op::Create(_))) as fn(&Op) -> bool,
            |op| matches!(op, Op::Write(..)),
            |op| matches!(op, Op::SyncFile(_)),
            |op| matches!(op, Op::Rename(..)),
        ] {
            fails(refused);
            assert!(names(scratch.path()).is_empty());
            fs::write(&path, "old").unwrap();
            fails(refused);
            assert_eq!((fs::read(&path).unwrap(), names(scratch.path())), (b"old".to_vec(), vec!["file".into()]));
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn mode_owner_and_group_stay_and_links_are_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let at = |name: &str| scratch.path().join(name);
        fs::write(at("file"), "old").unwrap();
        fs::set_permissions(at("file"), fs::Permissions::from_mode(0o640)).unwrap();
        // Only root can give files away; others keep their own.
        drop(chown(at("file"), Some(12345), Some(23456)));
        symlink("file", at("link")).unwrap();
        symlink("none", at("dangling")).unwrap();
        let rights = || fs::metadata(at("file")).map(|file| (file.mode(), file.uid(), file.gid())).unwrap();
        let before = rights();

        replace(&at("link"), new).unwrap();
        assert_eq!((fs::read(at("file")).unwrap(), rights()), (b"new".to_vec(), before));
        replace(&at("dangling"), new).unwrap();
        assert_eq!(fs::read(at("none")).unwrap(), b"new");
        for link in ["link", "dangling"] {
            assert!(at(link).is_symlink(), "{link}");
        }
        assert_eq!(names(scratch.path()).len(), 4, "nothing else is left");
    }

    /// What the reader of a new named pipe gets while `write` writes to it.
    fn through_a_pipe(write: impl FnOnce(&Path)) -> Vec<u8> {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let got = thread::scope(|scope| {
            let reader = scope.spawn(|| fs::read(&path).unwrap());
            write(&path);
            reader.join().unwrap()
        });
        assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
        assert_eq!(names(scratch.path()), ["pipe"]);
        got
    }

    #[test]
    fn a_pipe_stays_one_and_gets_the_bytes_in_order() {
        let back_and_forth = |file: &mut File| file.write_at(b"tail", 4).and_then(|()| file.write_at(b"head", 0));
        assert_eq!(through_a_pipe(|path| replace(path, back_and_forth).unwrap()), b"headtail");
        assert_eq!(through_a_pipe(|path| stream(path, |to| to.write_all(b"new").doing("write")).unwrap()), b"new");
        let fails = |to: &mut dyn Write| {
            to.write_all(b"half").and(Err::<(), _>(std::io::ErrorKind::Other.into())).doing("write")
        };
        assert_eq!(through_a_pipe(|path| assert!(stream(path, fails).is_err())), b"half");
    }

    #[test]
    fn a_directory_is_no_name_for_a_file() {
        assert_eq!(replace(Path::new(".."), |_| Ok(())).unwrap_err().kind(), Kind::Invalid);
    }
}
