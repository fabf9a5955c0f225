//! Exact sets of 32-bit ordinals, as Roaring bitmaps in pieces, and [`Expression`]s over them.
//!
//! ```text
//! ordinal:  | piece 16 bits | place in the piece 16 bits |        a piece has at most 65,536 ordinals: 8 KiB
//! ```
//! A set is never in memory as a whole: an expression is evaluated piece by piece, and only over pieces that can add to
//! its result. Where pieces come from is the business of a [`Source`].
//!
//! ```
//! use std::borrow::Cow;
//! use hammerspace_error::Result;
//! use hammerspace_sketch::set::{Expression, RoaringBitmap, Source, count};
//!
//! /// Sets of small ordinals, which have one piece.
//! struct Small(Vec<(&'static str, RoaringBitmap)>);
//!
//! impl Source for Small {
//!     fn numbers(&self, _name: &str) -> Result<RoaringBitmap> {
//!         Ok(RoaringBitmap::from_iter([0]))
//!     }
//!     fn piece(&self, name: &str, _number: u16) -> Result<Cow<'_, RoaringBitmap>> {
//!         Ok(self.0.iter().find(|set| set.0 == name).map(|set| Cow::Borrowed(&set.1)).unwrap_or_default())
//!     }
//! }
//!
//! let sets = Small(vec![
//!     ("saw_ad", (0..1000).collect()),
//!     ("bought", (900..1100).collect()),
//!     ("bounced", (950..1000).collect()),
//! ]);
//! assert_eq!(count(&Expression::parse("saw_ad & bought - bounced")?, &sets)?, 50);
//! # Ok::<(), hammerspace_error::Error>(())
//! ```

mod evaluate;
mod expression;

pub use evaluate::{Source, count, pieces};
pub use expression::{Expression, Operator};
/// A piece of a set, or the numbers of its pieces; the crate `roaring`'s.
pub use roaring::RoaringBitmap;
