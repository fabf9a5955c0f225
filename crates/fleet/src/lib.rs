//! Spaces beyond one machine: published to an object store once, followed everywhere.
//!
//! ```text
//! push ──▶ URL/parts/<day>/<sha256>        pieces of the log, uploaded first, never changed
//!      └─▶ URL/versions/<number>.json      the commit: put if absent, so exactly one push wins a number
//!                     │
//! follow ◀────────────┘  asks for number+1; fetches the pieces it lacks into SPACE/fleet.next; checks each
//!                        by its hash; builds the index; verifies both; then one rename makes it current
//! ```
//! Format page: `docs/format/fleet.md`. What always holds:
//!
//! 1. A number is taken once, and the next one only by a push that saw it, so history is linear.
//! 2. A manifest is written after all parts that it names, so a follower never waits for a part.
//! 3. A version becomes current only after its parts match their hashes and its log and index verify.
//! 4. A part is removed only when no push can still name it ([`gc()`]).
//! 5. Only [`Space::adopt`](hammerspace_space::Space::adopt) changes the local space.
#![forbid(unsafe_code)]

mod catalogue;
mod fetch;
mod follow;
mod gc;
mod layout;
mod local;
mod manifest;
mod probe;
mod push;
mod remote;
mod report;

pub use follow::{Follow, Follower, Polled, State};
pub use gc::{Collected, GRACE_MIN, gc};
pub use manifest::{Activation, Manifest, Standing, TableManifest};
pub use probe::probe;
pub use push::{Push, Pushed, push, rollback};
pub use remote::{Fleet, run};
pub use report::{Report, Status, activate, status};

pub use hammerspace_error::{Error, Kind, Result};
