//! Counts the processes that have a version mapped, which shows what sharing saves.

use std::{fs, process};

/// The number of other processes that map the log of this version. Only processes whose mappings the caller may read
/// are counted, which for most users are their own. Without `/proc` the result is 0.
///
/// A version's directory has a unique name, so the end of the path identifies it from inside any container.
pub(crate) fn count(uid: &str) -> u64 {
    let log = format!("/{uid}/hammerspace.spl");
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| *pid != process::id() && maps(*pid, &log)).count() as u64
}

/// Whether one of the lines, each a mapping, ends with this path.
fn maps(pid: u32, log: &str) -> bool {
    let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.split(|byte| *byte == b'\n').any(|mapping| mapping.ends_with(log.as_bytes()))
}
