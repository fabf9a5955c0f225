//! Log-structured memory against a twin in a map, against itself, and against other processes.

mod board;
mod caller;
mod calls;
mod commits;
mod damage;
mod full;
mod histories;
mod model;
mod places;
mod processes;
mod refusals;
mod sound;
mod threads;
mod unbacked;
