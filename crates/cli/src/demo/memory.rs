//! What a process costs in memory.

use std::fs;

/// Proportional set size in bytes: the process's own pages, and of each shared page the part that falls to it. So the sum
/// over processes is what they take together. `None` where the system does not tell.
pub(super) fn pss(pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let kib = rollup.lines().find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix("kB"));
    Some(kib?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_we_allocate_counts() {
        let before = pss(std::process::id()).unwrap();
        let held = std::hint::black_box(vec![1_u8; 32 << 20]);
        let after = pss(std::process::id()).unwrap();
        assert!(after > before + (24 << 20), "{before} -> {after}");
        drop(held);
        assert_eq!(pss(u32::MAX), None);
    }
}
