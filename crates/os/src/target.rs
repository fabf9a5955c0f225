//! Where an output goes: what its path leads to, before anything is written.
//!
//! ```text
//! path ── links followed ──▶ nothing yet, or a regular file   Name: write beside it, then rename
//!                      └───▶ a pipe, a device, an open file   Node: write into it
//! ```
//! What always holds:
//! 1. A link is never replaced: its target is, and a target that is missing is made.
//! 2. A file that takes the place of another has its [`Rights`], or fewer; never more.

use std::fs::{self, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use hammerspace_error::{Doing, Error, Kind, Result};
use rustix::fs::{Mode, OFlags, PROC_SUPER_MAGIC, fchmod, statfs};
use rustix::io::Errno;

use crate::File;

/// As many links as Linux follows.
const LINKS_MAX: usize = 40;

/// What the path of an output leads to.
#[derive(Debug)]
pub enum Target {
    /// A name for a regular file.
    Name {
        /// The path, which is no link.
        path: PathBuf,
        /// Those of the file that has the name now.
        rights: Option<Rights>,
    },
    /// What cannot be replaced by a file, open for writing.
    Node(File),
}

impl Target {
    /// Looks at what is there, and opens it if it is not a regular file. Opening a named pipe waits for its reader.
    pub fn of(path: &Path) -> Result<Self> {
        let look = || {
            let metadata = present(fs::metadata(path)).doing("look at")?;
            if metadata.as_ref().is_some_and(Metadata::is_dir) {
                return Err(Error::new(Kind::Invalid, "this is a directory").remedy("name a file in it"));
            }
            match followed(path).doing("follow the link")? {
                Some(path) if metadata.as_ref().is_none_or(Metadata::is_file) => {
                    Ok(Self::Name { path, rights: metadata.as_ref().map(Rights::of) })
                }
                _ => open_node(path, metadata.is_some_and(|metadata| metadata.is_file())).map(Self::Node),
            }
        };
        look().map_err(|error| error.file(path))
    }
}

/// The path that the links at its end lead to. `None` for a link in `/proc`: it stands for an open file, whatever
/// its text says.
fn followed(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS_MAX {
        let target = match fs::read_link(&path) {
            // Not a link.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(Some(path)),
            target => present(target)?,
        };
        let Some(target) = target else { return Ok(Some(path)) };
        path.pop();
        let dir = if path.as_os_str().is_empty() { Path::new(".") } else { &path };
        if statfs(dir)?.f_type == PROC_SUPER_MAGIC {
            return Ok(None);
        }
        path.push(target);
    }
    Err(Errno::LOOP.into())
}

fn present<T>(answer: io::Result<T>) -> io::Result<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// An open file that is found under `/proc` is appended to, as the process that opened it may have written to it.
fn open_node(path: &Path, is_file: bool) -> Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).append(is_file).custom_flags(OFlags::NOCTTY.bits().cast_signed());
    options.open(path).doing("open").map(|file| File::wrap(file, path))
}

/// The rights of a file: its mode, its owner, its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    mode: u32,
    owner: u32,
    group: u32,
}

impl Rights {
    fn of(metadata: &Metadata) -> Self {
        Self { mode: metadata.mode() & 0o7777, owner: metadata.uid(), group: metadata.gid() }
    }

    /// Gives them to a file of ours. If the system refuses the owner, `setuid` and `setgid` are dropped; if it refuses
    /// the group, the group gets no more than everybody else.
    pub fn give(self, file: &File) -> Result<()> {
        file.named("set the mode of", || {
            // Both in one call: after giving the owner away, we could no longer give the group.
            let both = fchown(file.as_fd(), Some(self.owner), Some(self.group)).is_ok();
            let has_group = both || fchown(file.as_fd(), None, Some(self.group)).is_ok();
            Ok(fchmod(file.as_fd(), Mode::from_raw_mode(self.mode_for(both, has_group)))?)
        })
    }

    fn mode_for(self, has_owner: bool, has_group: bool) -> u32 {
        let special = if has_owner { self.mode } else { self.mode & 0o777 };
        if has_group { special } else { special & 0o707 | (special & 0o007) << 3 }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_lead_to_a_name_whether_it_is_there_or_not() {
        let scratch = tempfile::tempdir().unwrap();
        let at = |name: &str| scratch.path().join(name);
        fs::create_dir(at("dir")).unwrap();
        fs::write(at("dir/file"), "").unwrap();
        symlink("dir/file", at("one")).unwrap();
        symlink(at("one"), at("two")).unwrap();
        symlink("dir/none", at("dangling")).unwrap();
        symlink("loop", at("loop")).unwrap();
        symlink("dir", at("there")).unwrap();
        for (from, to, is_there) in [("two", "dir/file", true), ("dangling", "dir/none", false), ("new", "new", false)]
        {
            let Target::Name { path, rights } = Target::of(&at(from)).unwrap() else { panic!("{from} is a name") };
            assert_eq!((path, rights.is_some()), (at(to), is_there), "{from}");
        }
        let refused = Target::of(&at("loop")).unwrap_err();
        assert_eq!((refused.kind(), refused.path()), (Kind::Io, Some(&*at("loop"))));
        for dir in ["dir", "there"] {
            assert_eq!(Target::of(&at(dir)).unwrap_err().kind(), Kind::Invalid, "{dir}");
        }
    }

    #[test]
    fn an_open_file_under_proc_is_appended_to() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"before, ").unwrap();
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file.as_file()));
        let Target::Node(mut node) = Target::of(Path::new(&path)).unwrap() else { panic!("it is open") };
        node.write_all(b"after").unwrap();
        let mut text = String::new();
        file.reopen().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "before, after");
    }

    #[test]
    fn rights_shrink_where_the_owner_or_the_group_cannot_be_given() {
        let rights = Rights { mode: 0o6754, owner: 0, group: 0 };
        let modes = [(true, true), (false, true), (false, false)].map(|(owner, group)| rights.mode_for(owner, group));
        assert_eq!(modes, [0o6754, 0o754, 0o744]);
    }
}
