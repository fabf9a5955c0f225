//! The programs that Hammerspace is measured beside and exchanges files with, behind safe handles.
//!
//! Nothing that is shipped depends on this crate: it wants the peers' own dependencies (`libsnappy-dev`, `libdb5.3-dev`,
//! `libkyotocabinet-dev`, `librocksdb-dev`), and calls into their code as they publish it, faults included.
//!
//! - [`glibc`]: its allocator, asked for what is free.
//! - [`libsparkey`]: Spotify's C library, as the crate `sparkey-sys` carries it. It predates zstd.
//! - [`stores`]: what else keeps keys and values in memory, behind one trait.

pub mod glibc;
pub mod libsparkey;
pub mod stores;
