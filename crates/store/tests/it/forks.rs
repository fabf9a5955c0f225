//! Workers that were forked from a store's owner, and outlive it.

use std::fs::{self, File};
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use hammerspace_os::process::fork::{Child, fork};
use hammerspace_store::{Kind, Options, Store as Handle};
use tempfile::TempDir;

use crate::sound::Store;

/// The key whose value a worker tells.
const TOLD: u64 = 0;
/// The keys that an owner writes to, in turn.
const KEYS: u64 = 1000;
/// What a worker can be asked: to tell whether there is an owner and what it reads, to drop its handle, to
/// end.
const TELL: u8 = b't';
const DROP: u8 = b'd';
const END: u8 = b'e';
/// What must come, comes by then.
const LONGEST: Duration = Duration::from_mins(2);

type Answer = (bool, u64);

/// A worker's ends of the pipes to the test.
struct Duty {
    asked: PipeReader,
    answers: PipeWriter,
}

/// The test's ends.
struct Worker {
    asks: PipeWriter,
    answered: PipeReader,
}

fn pipes() -> (Duty, Worker) {
    let ((asked, asks), (answered, answers)) = (pipe().unwrap(), pipe().unwrap());
    (Duty { asked, answers }, Worker { asks, answered })
}

impl Duty {
    /// Reads by an inherited handle until it is asked to end. Other tests' children have copies of the pipes,
    /// so these do not end.
    fn serve(mut self, store: Handle) -> i32 {
        thread::spawn(|| {
            thread::sleep(2 * LONGEST);
            process::abort();
        });
        let (mut store, mut what) = (Some(store), [0]);
        while what != [END] {
            self.asked.read_exact(&mut what).unwrap();
            store.take_if(|_| what == [DROP]);
            let (is_so, number) = store.as_ref().filter(|_| what == [TELL]).map_or((false, pid()), look);
            self.answers.write_all(&[u8::from(is_so)]).unwrap();
            self.answers.write_all(&number.to_le_bytes()).unwrap();
        }
        0
    }
}

fn pid() -> u64 {
    process::id().into()
}

/// Whether there is an owner, and what there is to read.
fn look(store: &Handle) -> Answer {
    (store.has_owner().unwrap(), get(store, TOLD))
}

impl Worker {
    fn ask(&mut self, what: u8) -> Answer {
        self.asks.write_all(&[what]).unwrap();
        let mut answer = [0; 9];
        self.answered.read_exact(&mut answer).unwrap();
        (answer[0] == 1, u64::from_le_bytes(answer[1..].try_into().unwrap()))
    }

    /// Whether the store has an owner, and what it holds, as the worker sees it.
    fn tell(&mut self) -> Answer {
        self.ask(TELL)
    }

    /// Lets it end, and waits until it has: who inherits it may never ask for its exit code.
    fn dismiss(mut self) {
        let stat = format!("/proc/{}/stat", self.ask(END).1);
        wait_until("the worker's end", || fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z ")));
    }
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < LONGEST, "{what} did not come");
        thread::sleep(Duration::from_millis(1));
    }
}

fn get(store: &Handle, key: u64) -> u64 {
    let value = store.default_table().get(key).unwrap().expect("a key that was put");
    u64::from_le_bytes((*value).try_into().expect("eight bytes"))
}

fn put(store: &Handle, key: u64, value: u64) {
    store.default_table().put(key, value.to_le_bytes()).unwrap();
}

/// The key of a write.
fn key(write: u64) -> u64 {
    1 + write % KEYS
}

/// A process that owns a store that `make` makes, forks a worker, and then writes for ever. The number of the
/// last write that was completed is in the file `written`.
fn owner(written: &Path, make: impl FnOnce() -> Store) -> (Child, Worker) {
    let (duty, worker) = pipes();
    let owner = fork(|| {
        let store = make();
        put(&store, TOLD, 7);
        let _worker = fork(|| duty.serve(store.clone()));
        let file = File::create(written).unwrap();
        for write in 1.. {
            put(&store, key(write), write);
            file.write_all_at(&write.to_le_bytes(), 0).unwrap();
        }
        1
    });
    wait_until("a full turn of writes", || last(written) > 2 * KEYS);
    (owner, worker)
}

/// The number of the last write that was completed.
fn last(written: &Path) -> u64 {
    fs::read(written).ok().and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

fn scratch() -> (TempDir, PathBuf, PathBuf, Options) {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let (store, written) = (scratch.path().join("store"), scratch.path().join("written"));
    let options = Options { region: Some(scratch.path().into()), cleaners: 1, ..Options::with_limit(32 << 20) };
    (scratch, store, written, options)
}

/// Whether another process is told that somebody owns the store.
fn is_busy(path: &Path) -> bool {
    fork(|| i32::from(Store::open(path).err().map(|error| error.kind()) == Some(Kind::Busy))).wait() == Some(1)
}

#[test]
fn a_store_is_free_when_its_owner_is_killed_though_a_worker_lives_on() {
    let (_scratch, path, written, options) = scratch();
    let (owner, mut worker) = owner(&written, || Store::create(&path, &options).unwrap());
    let reader = Store::attach(&path).unwrap();
    assert!(reader.has_owner().unwrap());
    assert_eq!(worker.tell(), (true, 7));
    owner.kill();
    assert!(!reader.has_owner().unwrap());
    assert_eq!(worker.tell(), (false, 7));

    let store = Store::open(&path).unwrap();
    let last = last(&written);
    // The write that was cut short would be to the key of the one a turn before.
    for write in last - KEYS + 2..=last {
        assert_eq!(get(&store, key(write)), write);
    }
    put(&store, TOLD, 8);
    assert_eq!(worker.tell(), (true, 8));
    worker.ask(DROP);
    assert!(is_busy(&path));
    worker.dismiss();
    assert!(is_busy(&path) && reader.has_owner().unwrap());
    put(&store, TOLD, 9);
    drop(store);
    assert_eq!(look(&reader), (false, 9));
}

#[test]
fn a_worker_that_ends_takes_nothing_from_its_living_parent() {
    let (_scratch, path, _, options) = scratch();
    let store = Store::create(&path, &options).unwrap();
    put(&store, TOLD, 7);
    let (duty, mut worker) = pipes();
    let mut pending = Some((*store).clone());
    let child = fork(|| duty.serve(pending.take().unwrap()));
    assert_eq!(worker.tell(), (true, 7));
    worker.ask(DROP);
    assert!(is_busy(&path));
    worker.dismiss();
    assert_eq!(child.wait(), Some(0));
    assert!(is_busy(&path) && store.has_owner().unwrap());
    put(&store, TOLD, 8);
}

#[test]
fn a_worker_knows_whether_a_store_without_a_name_has_its_owner() {
    let (_scratch, _, written, options) = scratch();
    let (owner, mut worker) = owner(&written, || Store::anonymous(&options).unwrap());
    assert_eq!(worker.tell(), (true, 7));
    owner.kill();
    assert_eq!(worker.tell(), (false, 7));
    worker.dismiss();
}

/// The parent need not die to give a store up.
#[test]
fn a_worker_knows_that_its_parent_dropped_the_store() {
    let (_scratch, path, _, options) = scratch();
    for store in [Store::create(&path, &options).unwrap(), Store::anonymous(&options).unwrap()] {
        put(&store, TOLD, 7);
        let (duty, mut worker) = pipes();
        let child = fork(|| duty.serve(store.clone()));
        assert_eq!(worker.tell(), (true, 7));
        drop(store);
        assert_eq!(worker.tell(), (false, 7));
        worker.dismiss();
        assert_eq!(child.wait(), Some(0));
    }
}
