//! One changed key in a large space: what an update costs that changes almost nothing.
//!
//! Beside it run a bare copy of the log, which every version needs that is not in place, and what the original gem does
//! with the C library: put every entry into a new log, then index it. Nobody syncs.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use hammerspace::Space;
use hammerspace_rivals::libsparkey::{Compression, LogWriter, Reader, write_index};
use rustix::fs::{copy_file_range, ioctl_ficlone};

use super::{LIBSPARKEY_COPY, filled, named};
use crate::Result;
use crate::data::Data;
use crate::measure::{in_turn, timed_ok};
use crate::report::Row;
use crate::scale::Scale;

/// Memory that looks like a disk, on every Linux.
const TMPFS: &str = "/dev/shm";
const COPY: &str = "bare copy of the log";

pub(super) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let memory = tempfile::tempdir_in(TMPFS)?;
    let [ours, copy, c] = measured(scale, memory.path())?;
    let name = named("publish 1 changed key, tmpfs", scale.keys);
    let mut rows = vec![
        Row::new(&name, "ms", ours, LIBSPARKEY_COPY, c).goal(scale.goal("<= 5 ms")),
        Row::new(&name, "ms", ours, COPY, copy),
    ];
    let [ours, copy, c] = measured(scale, scratch)?;
    let name = named("publish 1 changed key, disk", scale.keys);
    let goal = if can_share_blocks(scratch)? { "<= 5 ms" } else { "<= 1.5" };
    rows.push(Row::new(&name, "ms", ours, COPY, copy).goal(scale.goal(goal)));
    rows.push(Row::new(&name, "ms", ours, LIBSPARKEY_COPY, c));
    Ok(rows)
}

/// Milliseconds: ours, the better bare copy, and the copy by the C library.
fn measured(scale: &Scale, scratch: &Path) -> Result<[f64; 3]> {
    let mut data = Data::new(scale.keys);
    let directory = scratch.join("publish");
    let space = filled(&directory, &data)?;
    let (from, to) = (directory.join("current"), scratch.join("copy"));
    let log = from.join("hammerspace.spl");
    fs::create_dir_all(&to)?;
    let changes: Vec<_> = (0..=scale.rounds).map(|_| data.change()).collect();
    let (mut ours, mut theirs) = (changes.iter(), changes.iter());
    let mut publish = || {
        let (key, value) = ours.next().expect("a change for each round");
        timed_ok(|| publish_one(&space, key, value))
    };
    let mut copy_all = || {
        let (key, value) = theirs.next().expect("a change for each round");
        afterwards_gone(&to, || timed_ok(|| copy_all_and_index(&from, &to, key, value)))
    };
    // Not in one turn with the C library: what it leaves of the caches and of the free pages would be measured with us.
    let [ours, in_kernel, through_memory] = in_turn(
        scale.rounds,
        &mut [&mut publish, &mut || afterwards_gone(&to, || timed_ok(|| copy_in_kernel(&log, &to))), &mut || {
            afterwards_gone(&to, || timed_ok(|| copy_through_memory(&log, &to)))
        }],
    )?;
    let [c] = in_turn(scale.rounds, &mut [&mut copy_all])?;
    let (key, value) = changes.last().expect("at least one round");
    space.refresh()?;
    if space.get(key)?.as_deref() != Some(value) {
        return Err("the last change was published and is not there".into());
    }
    Ok([ours, in_kernel.min(through_memory), c].map(|seconds| seconds * 1e3))
}

fn publish_one(space: &Space, key: &[u8], value: &[u8]) -> Result {
    let mut writer = space.writer()?;
    writer.put(key, value)?;
    writer.publish()?;
    Ok(())
}

/// What the original gem does, but for Ruby's part in it.
fn copy_all_and_index(from: &Path, to: &Path, key: &[u8], value: &[u8]) -> Result {
    let reader = Reader::open(&from.join("hammerspace.spl"), &from.join("hammerspace.spi"))?;
    let mut cursor = reader.cursor()?;
    let log = to.join("hammerspace.spl");
    let mut writer = LogWriter::create(&log, Compression::None)?;
    while let Some((key, value)) = cursor.next()? {
        writer.put(key, value)?;
    }
    writer.put(key, value)?;
    writer.finish()?;
    write_index(&log, &to.join("hammerspace.spi"), 0)?;
    Ok(())
}

fn copy_in_kernel(log: &Path, to: &Path) -> Result {
    let (source, target) = (File::open(log)?, File::create(to.join("copy"))?);
    while copy_file_range(&source, None, &target, None, usize::MAX >> 1)? > 0 {}
    Ok(())
}

fn copy_through_memory(log: &Path, to: &Path) -> Result {
    let (mut source, mut target) = (File::open(log)?, File::create(to.join("copy"))?);
    let mut buffer = vec![0; 1 << 20];
    loop {
        match source.read(&mut buffer)? {
            0 => return Ok(()),
            len => target.write_all(&buffer[..len])?,
        }
    }
}

/// Whether the file system copies a file by reference, which makes a bare copy nearly free.
fn can_share_blocks(directory: &Path) -> Result<bool> {
    let (from, to) = (directory.join("from"), directory.join("to"));
    fs::write(&from, [1; 4096])?;
    Ok(ioctl_ficlone(File::create(to)?, File::open(from)?).is_ok())
}

/// Does it, then empties the directory that it wrote to.
fn afterwards_gone<T>(directory: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let result = work();
    for entry in fs::read_dir(directory)? {
        fs::remove_file(entry?.path())?;
    }
    result
}
