//! The machine that a run is measured on, so that its numbers can be judged later.

use std::fs;
use std::path::Path;
use std::thread::available_parallelism;

use serde::Serialize;

/// What of a machine makes numbers differ.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory_bytes: u64,
    pub(crate) kernel: String,
    /// What the scratch files lie on, unless their row says otherwise.
    pub(crate) filesystem: String,
}

impl Machine {
    /// This one.
    pub(crate) fn this(scratch: &Path) -> Self {
        let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
        Self {
            cpu: cpu(&read("/proc/cpuinfo")),
            cores: available_parallelism().map_or(0, std::num::NonZero::get),
            memory_bytes: memory_bytes(&read("/proc/meminfo")),
            kernel,
            filesystem: filesystem(&read("/proc/mounts"), scratch),
        }
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// On x86-64 the model's name, which may be that of many, and its numbers; Arm only tells its parts' numbers.
fn cpu(cpuinfo: &str) -> String {
    let field = |name: &str| {
        let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(field, _)| field.trim_end() == name).map_or("?", |(_, value)| value.trim())
    };
    if cpuinfo.contains("model name") {
        format!("{} (family {} model {})", field("model name"), field("cpu family"), field("model"))
    } else {
        format!("{} part {}", std::env::consts::ARCH, field("CPU part"))
    }
}

fn memory_bytes(meminfo: &str) -> u64 {
    let kib = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// The type of the file system mounted nearest above `path`.
pub(crate) fn filesystem(mounts: &str, path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let mounted = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?, words.next()?))
    });
    let above = mounted.filter(|(at, _)| path.starts_with(at)).max_by_key(|(at, _)| at.len());
    above.map_or("unknown", |(_, kind)| kind).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_tells_the_file_system() {
        let mounts = "/dev/a / ext4 rw 0 0\ntmpfs /dev/shm tmpfs rw 0 0\n";
        assert_eq!(filesystem(mounts, Path::new("/dev/shm/none")), "tmpfs");
        assert_eq!(filesystem(mounts, Path::new("/srv/none")), "ext4");
        assert_eq!(filesystem("", Path::new("/srv/none")), "unknown");
    }

    #[test]
    fn a_processor_without_a_name_tells_its_part() {
        let amd = "processor\t: 0\nmodel name\t: Fast One\ncpu family\t: 26\nmodel\t\t: 2\n";
        assert_eq!(cpu(amd), "Fast One (family 26 model 2)");
        assert!(cpu("CPU part\t: 0xd0c\n").ends_with("part 0xd0c"));
        assert_eq!(memory_bytes("MemTotal:       2048 kB\n"), 2 << 20);
    }
}
