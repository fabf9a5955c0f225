//! HyperLogLog held against other implementations' values, a plain model, and damage; sets against plain sets.

mod accuracy;
mod damage;
mod golden;
mod laws;
mod model;
mod page;

mod rows;
mod sets;
mod upstream;
