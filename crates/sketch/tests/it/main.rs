//! HyperLogLog held against other implementations' values, a plain model, and damage.

mod accuracy;
mod damage;
mod golden;
mod laws;
mod model;
mod page;

mod rows;
mod upstream;
