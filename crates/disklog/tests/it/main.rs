//! The log as its callers see it.

mod faults;
mod histories;
