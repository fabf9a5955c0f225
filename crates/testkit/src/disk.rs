//! A disk that loses power.
//!
//! A test runs the real code on a real directory and tapes every change it makes ([`hammerspace_os::trace`]). A cut at
//! any point of the tape then gives one of the directories that could be found after it:
//!
//! - what was synced is there: a file's bytes after its `SyncFile`, a directory's names after its `SyncDir`;
//! - of the rest, each change independently reached the disk or did not, in any order;
//! - a write that was under way may be torn: some of its sectors are new, some are not.
//!
//! Names and bytes live in inodes, as on a real disk: a synced name in a directory whose own name was never synced is
//! lost with it, and a file removed from a directory is gone under whatever name that directory is found.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use hammerspace_os::trace::{Op, watch};

/// What a power cut tears a write into.
const SECTOR: usize = 512;

/// Every change that some work made below a directory, in order.
#[derive(Clone)]
pub struct Tape {
    root: PathBuf,
    /// `None`: a change that was forgotten, so that all others keep their places.
    ops: Vec<Option<Op>>,
}

/// How far the tape has run while it is being recorded.
#[derive(Clone, Default)]
pub struct Counter(Arc<AtomicUsize>);

impl Counter {
    /// Changes so far.
    pub fn now(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Tape {
    /// Tapes what `work` does below `root`, which is empty at the start.
    pub fn record<T>(root: &Path, work: impl FnOnce(&Counter) -> T) -> (Self, T) {
        let ops = Arc::new(Mutex::new(Vec::new()));
        let counter = Counter::default();
        let (tape, count) = (Arc::clone(&ops), counter.clone());
        let watcher = move |op: &Op| {
            tape.lock().unwrap().push(Some(op.clone()));
            count.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        let outcome = watch(watcher, || work(&counter));
        let ops = ops.lock().unwrap().clone();
        (Self { root: root.to_path_buf(), ops }, outcome)
    }

    /// How many changes there are.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The places of all syncs on the tape, each with what it syncs: the faults that a canary plants.
    pub fn syncs(&self) -> Vec<(usize, String)> {
        let is_sync = |(at, op): (usize, &Option<Op>)| match op {
            Some(Op::SyncFile(path) | Op::SyncDir(path)) => Some((at, path.display().to_string())),
            _ => None,
        };
        self.ops.iter().enumerate().filter_map(is_sync).collect()
    }

    /// The places of all writes to files of this name.
    pub fn writes(&self, name: &str) -> Vec<usize> {
        let is_write = |op: &Option<Op>| matches!(op, Some(Op::Write(path, ..)) if path.ends_with(name));
        (0..self.ops.len()).filter(|at| is_write(&self.ops[*at])).collect()
    }

    /// The same work by code that forgot one change.
    #[must_use]
    pub fn forgetting(&self, at: usize) -> Self {
        let mut tape = self.clone();
        tape.ops[at] = None;
        tape
    }

    /// The disk as it may be found when the power fails in front of change number `at`.
    pub fn cut(&self, at: usize, rng: &mut Rng) -> Disk {
        let steps = resolve(&self.root, &self.ops[..at]);
        let mut disk = Disk::of(&steps);
        for (place, step) in steps.iter().enumerate() {
            if steps[place..].iter().any(|later| later.syncs(step)) {
                disk.apply(step);
            } else if rng.bool() {
                disk.apply(&step.torn(rng));
            }
        }
        disk
    }
}

/// A change in terms of inodes, which keep their identity whatever their names become.
#[derive(Clone, Debug)]
enum Step {
    Link { dir: Inode, name: String, inode: Inode, node: Node },
    Unlink { dir: Inode, name: String },
    Rename { dir: Inode, from: String, to: String, inode: Inode },
    Write { file: Inode, offset: usize, bytes: Vec<u8>, keep: Vec<bool> },
    Truncate { file: Inode, len: usize },
    SyncFile(Inode),
    SyncDir(Inode),
}

type Inode = usize;
const ROOT: Inode = 0;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    File,
    Dir,
    Symlink(PathBuf),
}

impl Step {
    /// Whether this makes `earlier` durable.
    fn syncs(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (Self::SyncFile(synced), Self::Write { file, .. } | Self::Truncate { file, .. }) => synced == file,
            (Self::SyncDir(synced), Self::Link { dir, .. } | Self::Unlink { dir, .. } | Self::Rename { dir, .. }) => {
                synced == dir
            }
            _ => false,
        }
    }

    fn torn(&self, rng: &mut Rng) -> Self {
        let mut step = self.clone();
        if let Self::Write { bytes, keep, .. } = &mut step
            && rng.bool()
        {
            *keep = (0..bytes.len().div_ceil(SECTOR)).map(|_| rng.bool()).collect();
        }
        step
    }
}

/// Follows the names through the whole tape, as the process saw them.
fn resolve(root: &Path, ops: &[Option<Op>]) -> Vec<Step> {
    let mut names: HashMap<PathBuf, Inode> = HashMap::from([(root.to_path_buf(), ROOT)]);
    let mut next = ROOT + 1;
    let mut steps = Vec::new();
    for op in ops.iter().flatten() {
        let mut link = |path: &Path, node: Node, names: &mut HashMap<PathBuf, Inode>| {
            names.insert(path.to_path_buf(), next);
            next += 1;
            let (dir, name) = place(names, path);
            Step::Link { dir, name, inode: next - 1, node }
        };
        steps.push(match op {
            Op::Create(path) if names.contains_key(path) => continue,
            Op::Create(path) => link(path, Node::File, &mut names),
            Op::MakeDir(path) => link(path, Node::Dir, &mut names),
            Op::Symlink(target, path) => link(path, Node::Symlink(target.clone()), &mut names),
            Op::Write(path, offset, bytes) => {
                let keep = vec![true; bytes.len().div_ceil(SECTOR)];
                Step::Write { file: names[path], offset: *offset as usize, bytes: bytes.clone(), keep }
            }
            Op::Truncate(path, len) => Step::Truncate { file: names[path], len: *len as usize },
            Op::SyncFile(path) => Step::SyncFile(names[path]),
            Op::SyncDir(path) => Step::SyncDir(names[path]),
            Op::Unlink(path) | Op::RemoveDir(path) => {
                if names.remove(path).is_none() {
                    continue;
                }
                let (dir, name) = place(&names, path);
                Step::Unlink { dir, name }
            }
            Op::Rename(from, to) => {
                let moved: Vec<PathBuf> = names.keys().filter(|path| path.starts_with(from)).cloned().collect();
                for old in moved {
                    let inode = names.remove(&old).expect("it was just listed");
                    names.insert(to.join(old.strip_prefix(from).expect("it starts so")).components().collect(), inode);
                }
                let (dir, name) = place(&names, to);
                Step::Rename { dir, from: last(from), to: name, inode: names[to] }
            }
        });
    }
    steps
}

fn place(names: &HashMap<PathBuf, Inode>, path: &Path) -> (Inode, String) {
    (names[path.parent().expect("everything is below the root")], last(path))
}

fn last(path: &Path) -> String {
    path.file_name().and_then(|name| name.to_str()).expect("our names are UTF-8").to_owned()
}

/// What is found on the disk when the power is back.
#[derive(Default)]
pub struct Disk {
    dirs: HashMap<Inode, BTreeMap<String, Inode>>,
    files: HashMap<Inode, Vec<u8>>,
    nodes: HashMap<Inode, Node>,
}

impl Disk {
    /// Nothing has a name yet. What an inode is, a name that reaches the disk brings with it, whichever name that is.
    fn of(steps: &[Step]) -> Self {
        let node_of = |step: &Step| match step {
            Step::Link { inode, node, .. } => Some((*inode, node.clone())),
            _ => None,
        };
        Self { nodes: steps.iter().filter_map(node_of).collect(), ..Self::default() }
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Link { dir, name, inode, .. } => {
                self.dirs.entry(*dir).or_default().insert(name.clone(), *inode);
            }
            Step::Unlink { dir, name } => drop(self.dirs.entry(*dir).or_default().remove(name)),
            Step::Rename { dir, from, to, inode } => {
                let names = self.dirs.entry(*dir).or_default();
                if names.get(from) == Some(inode) {
                    names.remove(from);
                }
                names.insert(to.clone(), *inode);
            }
            Step::Write { file, offset, bytes, keep } => self.write(*file, *offset, bytes, keep),
            Step::Truncate { file, len } => self.files.entry(*file).or_default().resize(*len, 0),
            Step::SyncFile(_) | Step::SyncDir(_) => {}
        }
    }

    fn write(&mut self, file: Inode, offset: usize, bytes: &[u8], keep: &[bool]) {
        let content = self.files.entry(file).or_default();
        content.resize(content.len().max(offset + bytes.len()), 0);
        for (at, (sector, keep)) in bytes.chunks(SECTOR).zip(keep).enumerate() {
            if *keep {
                let start = offset + at * SECTOR;
                content[start..start + sector.len()].copy_from_slice(sector);
            }
        }
    }

    /// Lays what was found into an empty directory, so that the real code can look at it.
    pub fn write_to(&self, target: &Path) -> io::Result<()> {
        self.write_dir(ROOT, target)
    }

    fn write_dir(&self, dir: Inode, target: &Path) -> io::Result<()> {
        for (name, inode) in self.dirs.get(&dir).into_iter().flatten() {
            let path = target.join(name);
            match self.nodes.get(inode) {
                Some(Node::Dir) => {
                    std::fs::create_dir(&path)?;
                    self.write_dir(*inode, &path)?;
                }
                Some(Node::Symlink(to)) => std::os::unix::fs::symlink(to, &path)?,
                Some(Node::File) => std::fs::write(&path, self.files.get(inode).map_or(&[][..], Vec::as_slice))?,
                None => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hammerspace_os::Dir;

    fn found(tape: &Tape, at: usize, seed: u64) -> Vec<String> {
        let disk = tape.cut(at, &mut Rng::with_seed(seed));
        disk.dirs.get(&ROOT).map(|names| names.keys().cloned().collect()).unwrap_or_default()
    }

    #[test]
    fn what_was_synced_is_there_and_what_was_not_may_be() {
        let scratch = tempfile::tempdir().unwrap();
        let root = Dir::open(scratch.path()).unwrap();
        let (tape, ()) = Tape::record(scratch.path(), |_| {
            root.create_file("synced").unwrap();
            root.sync().unwrap();
            root.create_file("loose").unwrap();
        });
        let after: Vec<Vec<String>> = (0..20).map(|seed| found(&tape, tape.len(), seed)).collect();
        assert!(after.iter().all(|names| names.contains(&"synced".into())));
        assert!(after.iter().any(|names| names.contains(&"loose".into())));
        assert!(after.iter().any(|names| !names.contains(&"loose".into())));
    }

    #[test]
    fn a_name_below_a_lost_name_is_lost_with_it() {
        let scratch = tempfile::tempdir().unwrap();
        let root = Dir::open(scratch.path()).unwrap();
        let (tape, ()) = Tape::record(scratch.path(), |_| {
            let inner = root.create_dir("inner").unwrap();
            inner.create_file("file").unwrap();
            inner.sync().unwrap();
        });
        assert!((0..20).any(|seed| found(&tape, tape.len(), seed).is_empty()));
    }

    #[test]
    fn a_write_can_be_torn() {
        let scratch = tempfile::tempdir().unwrap();
        let root = Dir::open(scratch.path()).unwrap();
        let (tape, ()) = Tape::record(scratch.path(), |_| {
            root.create_file("file").unwrap().write_at(&[7; 4 * SECTOR], 0).unwrap();
        });
        let torn = |seed| {
            let disk = tape.cut(tape.len(), &mut Rng::with_seed(seed));
            disk.files.values().any(|bytes| bytes.contains(&0) && bytes.contains(&7))
        };
        assert!((0..40).any(torn));
    }
}
