//! The `hammerspace` command.
fn main() {}
