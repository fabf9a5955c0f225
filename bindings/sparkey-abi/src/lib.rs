//! `libsparkey.so.0`: the functions of Spotify's `sparkey.h`, over our own code. Programs that were built for Spotify's library
//! run on this one as they are; `docs/guide/libsparkey.md` says how to put it there and where it differs.
//!
//! ```text
//! C program ── include/sparkey/sparkey.h ──▶ log_writer, log_reader, log_iter, hash, names, murmur
//!                                                 │ Outcome                  ▲ handle: all that is unsafe
//!                                                 ▼
//!                                            code: what C returns
//! ```
//! What always holds:
//! 1. **C's structures are our types.** `sparkey_logreader` is a `Log<Map>`, `sparkey_hashreader` a `Table<Map, Map>`,
//!    `sparkey_logiter` a `Cursor`, `sparkey_logwriter` a `LogWriter<File>`. C sees pointers to them and nothing of what is in them.
//! 2. **All unsafe code is in `handle`.** The functions take pointers in wrappers that only C can make; what C has to promise
//!    about each is said there, once.
//! 3. **No panic leaves.** One would be a fault of ours; C gets an internal error for it.
//! 4. **A null pointer is an answer, not a crash**: of something closed, of a name that is not there, of nothing to do.
//! 5. Readers may be used by several threads at once; iterators and writers belong to one thread at a time.

mod code;
mod handle;
mod hash;
mod log_iter;
mod log_reader;
mod log_writer;
mod murmur;
mod names;
