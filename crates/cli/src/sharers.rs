//! Who has a version mapped: what a person wants to know who wonders what sharing saves.

use std::{fs, process};

/// How many other processes map the log of this version. It counts those whose mappings we may see, which for most users
/// are their own; where there is no `/proc` it counts none.
///
/// The name of a version's directory is unique, so the end of the path tells, from whatever container it is mapped.
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
