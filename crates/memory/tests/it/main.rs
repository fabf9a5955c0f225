//! Log-structured memory against a twin in a map, against itself, and against other processes.

mod board;
mod damage;
mod model;
mod processes;
mod refusals;
mod threads;
