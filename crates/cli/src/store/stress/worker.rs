//! The processes that are killed: an owner that writes from two threads, readers that believe nothing.

use std::io::{self, Read};
use std::path::Path;
use std::process;
use std::thread;

use fastrand::Rng;
use hammerspace::Store;
use hammerspace::store::{Options, Table};
use hammerspace_error::Result;

use super::board::Board;
use super::{Role, TABLES, values};
use crate::exit::Outcome;

/// Threads of an owner; each has keys of its own.
const WRITERS: u64 = 2;
/// Bytes of memory for each key: so the store becomes three quarters full.
const BYTES_PER_KEY: u64 = 1150;

/// A store, and what is known of its keys.
pub(super) struct Work {
    pub(super) store: Store,
    tables: Vec<Table>,
    board: Board,
}

impl Work {
    /// That of a store whose board is in this directory.
    pub(super) fn on(store: Store, board: &Path) -> Result<Self> {
        let board = Board::open(board, keys(&store))?;
        Self::with(store, board)
    }

    /// The same, with a board that is made first.
    pub(super) fn begin(store: Store, board: &Path) -> Result<Self> {
        let board = Board::create(board, TABLES.len(), keys(&store))?;
        Self::with(store, board)
    }

    fn with(store: Store, board: Board) -> Result<Self> {
        let tables = TABLES.iter().map(|name| store.table(name)).collect::<Result<_>>()?;
        Ok(Self { store, tables, board })
    }

    /// Makes the next change of a key.
    pub(super) fn change(&self, place: (usize, u64)) -> Result<()> {
        self.board.change(place, |change| values::make(&self.tables[place.0], place.1, change))
    }

    fn write(&self, seed: u64, writer: u64) -> Result<()> {
        let mut rng = Rng::with_seed(seed ^ writer);
        loop {
            let key = rng.u64(..self.board.keys() / WRITERS) * WRITERS + writer;
            self.change((rng.usize(..self.tables.len()), key))?;
        }
    }

    fn own(&self, seed: u64) -> Result<()> {
        thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || self.write(seed, writer))).collect();
            writers.into_iter().try_for_each(|writer| writer.join().expect("no writer panics"))
        })
    }

    fn read(&self, seed: u64) -> Result<()> {
        let mut rng = Rng::with_seed(seed);
        loop {
            let place = (rng.usize(..self.tables.len()), rng.u64(..self.board.keys()));
            self.board.look(place, &self.tables[place.0])?;
        }
    }

    /// Looks at every key when its writer is dead: what was done is there, and what was begun is, or is not.
    pub(super) fn settle(&self) -> Result<()> {
        let places = (0..self.tables.len()).flat_map(|table| (0..self.board.keys()).map(move |key| (table, key)));
        places.into_iter().try_for_each(|place| self.board.settle(place, &self.tables[place.0]))
    }
}

fn keys(store: &Store) -> u64 {
    store.usage().limit / BYTES_PER_KEY / TABLES.len() as u64
}

pub(super) fn run(role: Role, path: &Path, board: &Path, seed: u64) -> Result<Outcome> {
    thread::spawn(|| {
        // The end of the input is the end of whoever started us.
        io::stdin().lock().read_to_end(&mut Vec::new()).ok();
        process::exit(0);
    });
    match role {
        Role::Owner => {
            // Records of all lengths take the place of dead ones, as the short ones otherwise do where memory is scarce.
            let options = Options { least_hole: 0, ..Options::with_limit(0) };
            Work::on(Store::open_with(path, &options)?, board)?.own(seed)?;
        }
        Role::Reader => Work::on(Store::attach(path)?, board)?.read(seed)?,
    }
    Ok(Outcome::Found)
}
