//! Log-structured memory against a twin in a map, against itself, and against other processes.

mod board;
mod caller;
mod calls;
mod damage;
mod histories;
mod model;
mod processes;
mod refusals;
mod threads;

use hammerspace_memory::{Memory, Options};
use hammerspace_testkit::checked::Checked;

/// A memory whose invariants are looked at when its test is done with it.
fn sound(memory: Memory) -> Checked<Memory> {
    Checked::new(memory, |memory| assert_eq!(memory.verify().findings, Vec::<String>::new()))
}

/// Such a one, of this process alone.
fn anonymous(options: &Options) -> Checked<Memory> {
    sound(Memory::anonymous(options).unwrap())
}
