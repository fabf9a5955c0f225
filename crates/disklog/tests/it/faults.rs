//! Disks that refuse: a full one is waited for, and nothing is written after a sync has failed.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hammerspace_disklog::{Change, Durability, Key, Log, Record, Recovery};
use hammerspace_error::Kind;
use hammerspace_os::Dir;
use hammerspace_os::trace::{Op, watch};

/// Codes of the operating system.
const NO_SPACE: i32 = 28;
const IO: i32 = 5;

fn create(path: &Path) -> Log {
    let log = Log::create(Dir::open(path).unwrap(), Durability::Commit, 1 << 20, 0o600, 1, Box::new(|_| {})).unwrap();
    log.keep().unwrap();
    log
}

fn append(log: &Log, number: u64) {
    let change = Change::Number(number);
    log.append(&[Record {
        sequence: number,
        kept: None,
        table: 1,
        key: Key::Integer(number),
        change,
        is_of_batch: false,
    }]);
}

fn records(path: &Path) -> u64 {
    let recovery = Recovery::of(&Dir::open(path).unwrap()).unwrap().unwrap();
    recovery.replay(2, &|_| Ok(()), &|_, _| {}).unwrap().records
}

/// A disk that refuses changes of this kind with this code, while the switch is on.
fn refusing<T>(is_refused: fn(&Op) -> bool, code: i32, work: impl FnOnce(&AtomicBool) -> T) -> T {
    let switch = Arc::new(AtomicBool::new(false));
    let seen = switch.clone();
    let watcher = move |op: &Op| {
        let is_on = seen.load(Ordering::Relaxed) && is_refused(op);
        if is_on { Err(io::Error::from_raw_os_error(code)) } else { Ok(()) }
    };
    watch(watcher, || work(&switch))
}

#[test]
fn a_full_disk_refuses_changes_until_there_is_room() {
    let scratch = tempfile::tempdir().unwrap();
    refusing(
        |op| matches!(op, Op::Write(..)),
        NO_SPACE,
        |is_full| {
            let log = create(scratch.path());
            append(&log, 1);
            log.wait(1).unwrap();
            is_full.store(true, Ordering::Relaxed);
            append(&log, 2);
            assert_eq!(log.wait(2).unwrap_err().kind(), Kind::Full);
            assert_eq!(log.admit().unwrap_err().kind(), Kind::Full);
            assert_eq!(log.durable(), 1);
            is_full.store(false, Ordering::Relaxed);
            let (told, is_told) = std::sync::mpsc::channel();
            log.when_durable(2, move |outcome| told.send(outcome).unwrap());
            is_told.recv().unwrap().unwrap();
            log.admit().unwrap();
            append(&log, 3);
            log.wait(3).unwrap();
        },
    );
    assert_eq!(records(scratch.path()), 3);
}

#[test]
fn after_a_sync_that_failed_nothing_is_written() {
    let scratch = tempfile::tempdir().unwrap();
    refusing(
        |op| matches!(op, Op::SyncFile(_)),
        IO,
        |is_broken| {
            let log = create(scratch.path());
            append(&log, 1);
            log.wait(1).unwrap();
            is_broken.store(true, Ordering::Relaxed);
            append(&log, 2);
            let error = log.wait(2).unwrap_err();
            assert!(error.advice().unwrap().contains("open it again"), "{error}");
            is_broken.store(false, Ordering::Relaxed);
            append(&log, 3);
            for refused in [log.admit(), log.wait(3), log.sync(), log.close()] {
                assert_eq!(refused.unwrap_err().kind(), Kind::Io);
            }
            assert_eq!(log.durable(), 1);
        },
    );
    let found = records(scratch.path());
    assert!(found == 1 || found == 2, "what was acknowledged, and perhaps what was not: {found}");
}
