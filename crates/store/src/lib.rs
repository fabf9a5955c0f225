//! Stores: tables of keys and values that one process changes all the time, and any process reads.
//!
//! ```text
//! Store ── tables by name ──► Table ── key ──► record: value of some kind, version, expiry
//!   │                           │
//!   └── catalogue               └── get, scan: any process        put, merge, delete, expire: the owner
//! ```
//!
//! What is here is what records mean: which table they belong to, what kind their values are and how such
//! values merge, when they end. Where they lie, how they are found, and how readers never see half of one, is
//! the business of `hammerspace-memory`.
//!
//! What always holds:
//! 1. **A handle follows its table's name.** Whether it still has the right number is one load for each verb,
//!    made where a drop would have to wait for it (`table.rs`). So nothing is written to a table that is
//!    gone, and nothing read from another.
//! 2. **The list of tables is one record.** It changes as a whole, and readers see it as it was or as it is
//!    (`catalogue.rs`).
//! 3. **What a value is never changes behind its back.** Merging a kind into a value of another is an error
//!    and changes nothing.
//!
//! All verbs take `&self`; handles are `Send` and `Sync`.
#![forbid(unsafe_code)]

mod batch;
mod catalogue;
mod catalogue_lock;
mod condition;
mod counting;
mod durable;
mod expiry;
mod kind;
mod opening;
mod operation;
mod piece;
mod scan;
mod sets;
mod store;
mod sync;
mod table;
mod universe;
mod value;
mod write;

pub use batch::{Batch, BatchOutcome};
pub use catalogue::{TableInfo, TableOptions};
pub use condition::{Condition, Outcome};
pub use durable::{LogInfo, log_info};
pub use hammerspace_disklog::{Durability, Extent};
pub use hammerspace_error::{Error, Kind, Result};
pub use hammerspace_memory::{
    Cursor, KEY_LEN_MAX, Key, Options, OwnedKey, RegionInfo, RegionState, Report, Usage, VALUE_LEN_MAX, regions,
};
pub use hammerspace_sketch::{hll, set};
pub use kind::ValueKind;
pub use operation::{Operation, Request};
pub use scan::Scan;
pub use sets::Sets;
pub use store::{DEFAULT_TABLE, Store};
pub use table::Table;
pub use universe::Universe;
pub use value::{Entry, Meta, Value};
pub use write::{Merged, Put, Reply};
