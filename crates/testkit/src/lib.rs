//! What the suites share. Never part of the product.
#![forbid(unsafe_code)]

pub mod agreement;
pub mod c;
pub mod checked;
pub mod disk;
pub mod golden;
pub mod history;
pub mod page;
pub mod register;
pub mod setting;
pub mod spec;
