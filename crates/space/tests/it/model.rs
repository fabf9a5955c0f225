//! Is it still a hash map? Random histories of several writers and readers, beside a twin.

use std::path::Path;

use fastrand::Rng;
use hammerspace_space::{Compression, Snapshot, Space, Writer};

use crate::support::{Twin, contents, quick, scratch, version_dirs};

/// A handle and what it should hold, a writer and what it would publish.
struct World {
    readers: Vec<(Space, Twin)>,
    writers: Vec<(Writer, Twin)>,
    pinned: Vec<(Snapshot, Twin)>,
    /// What is current, and what was before it.
    current: Twin,
    history: Vec<Twin>,
    rng: Rng,
}

const KEEP: usize = 3;

impl World {
    fn new(path: &Path, rng: Rng) -> Self {
        let compressions = [Compression::None, Compression::Snappy, Compression::Zstd];
        let open = |n: usize| quick().keep(KEEP).compression(compressions[n]).block_size(64).create(path).unwrap();
        let readers = (0..3).map(|n| (open(n), Twin::new())).collect();
        let empty = Twin::new();
        Self { readers, writers: Vec::new(), pinned: Vec::new(), current: empty, history: Vec::new(), rng }
    }

    fn step(&mut self) {
        match self.rng.u8(..100) {
            0..8 => self.start(),
            8..45 => self.write(),
            45..55 => self.publish(),
            55..58 => self.abandon(),
            58..59 => self.clear(),
            59..62 => self.roll_back(),
            62..75 => self.refresh(),
            75..78 => self.pin(),
            _ => self.check(),
        }
    }

    fn start(&mut self) {
        let (space, _) = self.rng.choice(&self.readers).unwrap();
        let started = if self.rng.bool() {
            (space.writer().unwrap(), self.current.clone())
        } else {
            (space.replace().unwrap(), Twin::new())
        };
        self.writers.push(started);
        self.writers.truncate(4);
    }

    fn write(&mut self) {
        let key = vec![self.rng.u8(b'a'..=b'h'); self.rng.usize(..4)];
        let value = vec![self.rng.u8(..); self.rng.usize(..200)];
        let is_delete = self.rng.u8(..4) == 0;
        let Some((writer, twin)) = self.rng.choice(&mut self.writers) else { return };
        if is_delete {
            writer.delete(&key).unwrap();
            twin.remove(&key);
        } else {
            writer.put(&key, &value).unwrap();
            twin.insert(key, value);
        }
    }

    fn publish(&mut self) {
        if self.writers.is_empty() {
            return;
        }
        let (writer, twin) = self.writers.swap_remove(self.rng.usize(..self.writers.len()));
        writer.publish().unwrap();
        let replaced = std::mem::replace(&mut self.current, twin);
        self.history.push(replaced);
    }

    fn abandon(&mut self) {
        self.writers.pop();
    }

    fn clear(&mut self) {
        self.readers[0].0.clear().unwrap();
        self.current.clear();
        self.history.clear();
    }

    fn roll_back(&mut self) {
        let space = &self.readers[0].0;
        let older = space.versions().unwrap().iter().skip_while(|version| !version.is_current).count();
        if older > 1 {
            space.rollback(None).unwrap();
            self.current = self.history.pop().expect("the twin remembers at least as much");
        } else {
            assert!(space.rollback(None).is_err());
        }
    }

    fn refresh(&mut self) {
        let current = self.current.clone();
        let (space, twin) = self.rng.choice(&mut self.readers).unwrap();
        space.refresh().unwrap();
        *twin = current;
    }

    fn pin(&mut self) {
        let (space, twin) = self.rng.choice(&self.readers).unwrap();
        self.pinned.push((space.snapshot(), twin.clone()));
    }

    fn check(&mut self) {
        let (space, twin) = self.rng.choice(&self.readers).unwrap();
        assert_eq!(contents(&space.snapshot()).unwrap(), *twin);
        if let Some((snapshot, twin)) = self.rng.choice(&self.pinned) {
            assert_eq!(contents(snapshot).unwrap(), *twin, "a snapshot does not change");
        }
        let key = vec![self.rng.u8(b'a'..=b'h'); self.rng.usize(..4)];
        assert_eq!(space.get(&key).unwrap().as_deref(), twin.get(&key).map(Vec::as_slice));
    }
}

fn run(seed: u64, steps: usize, fault: impl Fn(&mut World, usize)) {
    println!("seed {seed}");
    let scratch = scratch();
    let mut world = World::new(scratch.path(), Rng::with_seed(seed));
    for step in 0..steps {
        world.step();
        fault(&mut world, step);
    }
    let on_disk = version_dirs(scratch.path()).len();
    assert!(on_disk <= 2 * KEEP + world.writers.len(), "{on_disk} directories");
}

#[test]
fn random_histories_agree_with_a_map() {
    let first = Rng::new().u64(..);
    for seed in first..first + 12 {
        run(seed, 600, |_, _| ());
    }
}

#[test]
#[should_panic(expected = "assertion")]
fn canary_a_lost_write_is_noticed() {
    run(7, 600, |world, step| {
        if step == 300 {
            let lost = world.current.keys().next().cloned();
            world.readers.iter_mut().for_each(|(_, twin)| drop(lost.as_ref().map(|key| twin.remove(key))));
            world.current.insert(b"never written".to_vec(), Vec::new());
        }
    });
}
