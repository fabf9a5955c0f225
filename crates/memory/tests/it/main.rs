//! Log-structured memory against a twin in a map, and against itself.

mod model;
mod threads;
