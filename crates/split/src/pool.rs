//! Files that are written, of which only so many are open.

use std::collections::HashMap;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use hammerspace_error::Result;
use hammerspace_os::{Dir, File};

/// A directory's files, each written from front to back. The one that was written the longest ago is closed when another
/// is to be opened and there is no room.
pub(crate) struct Pool {
    dir: Dir,
    open: HashMap<String, Open>,
    open_max: usize,
    turn: u64,
}

struct Open {
    file: File,
    turn: u64,
}

/// A file that is written, whether it is open or not.
#[derive(Clone)]
pub struct Staged {
    pool: Arc<Mutex<Pool>>,
    name: String,
}

impl Pool {
    pub(crate) fn new(dir: Dir, open_max: usize) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self { dir, open: HashMap::new(), open_max: open_max.max(1), turn: 0 }))
    }

    /// The file, open at its end.
    fn file(&mut self, name: &str) -> Result<&mut File> {
        self.turn += 1;
        if !self.open.contains_key(name) {
            if self.open.len() >= self.open_max {
                let coldest = self.open.iter().min_by_key(|(_, open)| open.turn).map(|(name, _)| name.clone());
                coldest.and_then(|name| self.open.remove(&name));
            }
            let file = match self.dir.open_file_to_write(name)? {
                Some(mut file) => {
                    file.seek(SeekFrom::End(0))
                        .map_err(|error| hammerspace_error::Error::io("go to the end", error))?;
                    file
                }
                None => self.dir.create_file(name)?,
            };
            self.open.insert(name.to_owned(), Open { file, turn: self.turn });
        }
        let open = self.open.get_mut(name).expect("it is open");
        open.turn = self.turn;
        Ok(&mut open.file)
    }

    /// Makes a file durable and closes it.
    fn finish(&mut self, name: &str) -> Result<()> {
        self.file(name)?.sync()?;
        self.open.remove(name);
        Ok(())
    }
}

impl Staged {
    pub(crate) fn new(pool: Arc<Mutex<Pool>>, name: String) -> Self {
        Self { pool, name }
    }

    /// Makes it durable.
    pub(crate) fn finish(&self) -> Result<()> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).finish(&self.name)
    }
}

impl Write for Staged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        pool.file(&self.name).map_err(io::Error::other)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_files_are_open_and_each_is_whole() {
        let scratch = tempfile::tempdir().unwrap();
        let pool = Pool::new(Dir::open(scratch.path()).unwrap(), 3);
        for round in 0..4 {
            for name in 0..10 {
                let mut file = Staged::new(Arc::clone(&pool), name.to_string());
                file.write_all(format!("{round} of {name}\n").as_bytes()).unwrap();
                assert!(pool.lock().unwrap().open.len() <= 3);
            }
        }
        for name in 0..10 {
            let text = std::fs::read_to_string(scratch.path().join(name.to_string())).unwrap();
            let lines: Vec<String> = (0..4).map(|round| format!("{round} of {name}")).collect();
            assert_eq!(text, lines.join("\n") + "\n");
        }
    }
}
