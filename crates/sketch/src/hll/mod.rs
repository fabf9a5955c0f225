//! HyperLogLog (Flajolet et al., 2007): how many distinct elements a set has, within about 2 %, in 1.3 KB.
//!
//! The bytes follow version 1 of Aggregate Knowledge's storage format (`docs/format/hll.md`), so
//! postgresql-hll, java-hll and js-hll read them.
//!
//! ```text
//!             add, union                     add, union                 add, union
//!   EMPTY ──────────────────▶ EXPLICIT ─────────────────▶ SPARSE ─────────────────▶ FULL        UNDEFINED absorbs all
//!   header                    sorted hashes               (index, rank) words       m ranks
//! ```
//!
//! [`Hll`] reads a value where it lies; [`HllBuf`] owns one and changes it. A value never sees elements, only
//! 64-bit hashes of them ([`hash`] has PostgreSQL's).
//!
//! What always holds:
//! 1. The bytes of an [`HllBuf`] are a function of its parameters and its content alone, by PostgreSQL's
//!    rule. So a union is commutative, associative and idempotent on bytes, and two equal sets have equal
//!    bytes.
//! 2. An [`HllBuf`] only grows: a list becomes registers and SPARSE becomes FULL, never the reverse.
//! 3. A change that leaves the bytes as they were returns `false`. In a FULL value, `add` reads and writes
//!    one register.
//! 4. [`Hll::parse`] takes time and memory in proportion to the bytes, whatever size their header claims.
//!
//! ```
//! use hammerspace_sketch::hll::{Hll, HllBuf, Params, hash};
//!
//! let mut monday = HllBuf::new(Params::default());
//! let mut tuesday = HllBuf::new(Params::default());
//! for user in 0..60_000 {
//!     monday.add(hash::bigint(user, 0));
//!     tuesday.add(hash::bigint(user + 30_000, 0));
//! }
//! let both = monday.union(&tuesday.as_hll())?;
//! assert!(both, "the union has users that Monday had not");
//! let estimate = Hll::parse(monday.as_bytes())?.estimate().expect("it is defined");
//! assert!((estimate / 90_000.0 - 1.0).abs() < 0.05);
//! # Ok::<(), hammerspace_error::Error>(())
//! ```

mod bits;
mod buf;
mod estimate;
mod explicit;
mod full;
pub mod hash;
mod header;
mod params;
mod sparse;
mod text;

use hammerspace_error::Result;

pub use buf::HllBuf;
pub use estimate::{Overlap, intersection};
pub use header::{FIELDS, Kind};
pub use params::Params;

use explicit::Explicit;
use full::Full;
use header::{HEADER_LEN, corrupt};
use sparse::Sparse;

/// A value where it lies. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Hll<'a> {
    params: Params,
    body: Body<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Body<'a> {
    Undefined,
    Empty,
    Explicit(Explicit<'a>),
    Sparse(Sparse<'a>),
    Full(Full<'a>),
}

impl<'a> Hll<'a> {
    /// Reads a value from anywhere and checks every byte: linear in the bytes, constant for FULL.
    ///
    /// Accepts what the writers of this format write. Refuses disorder, duplicates, lengths that do not fit
    /// the header, ranks of 0 in a SPARSE value, and padding that is not zero: `Corrupt`, with the offset. A
    /// later schema version is `Unsupported`.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let hll = Self::open(bytes)?;
        match hll.body {
            Body::Explicit(list) => list.verify()?,
            Body::Sparse(words) => words.verify()?,
            Body::Undefined | Body::Empty | Body::Full(_) => {}
        }
        Ok(hll)
    }

    /// Reads a value that was checked before: looks at the header and the length alone, in constant time. On
    /// bytes that [`parse`](Self::parse) would refuse, answers are wrong, but nothing panics.
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        let (kind, params) = header::read(bytes)?;
        let body = &bytes[HEADER_LEN..];
        let body = match kind {
            Kind::Undefined | Kind::Empty if !body.is_empty() => {
                let finding = format!("an {} HLL of {} bytes; it has {HEADER_LEN}", kind.name(), bytes.len());
                return Err(corrupt(finding).at(HEADER_LEN as u64));
            }
            Kind::Undefined => Body::Undefined,
            Kind::Empty => Body::Empty,
            Kind::Explicit => Body::Explicit(Explicit::open(body)?),
            Kind::Sparse => Body::Sparse(Sparse::open(body, params)?),
            Kind::Full => Body::Full(Full::open(body, params)?),
        };
        Ok(Self { params, body })
    }

    /// Its parameters.
    pub fn params(&self) -> Params {
        self.params
    }

    /// In which way it is written.
    pub fn kind(&self) -> Kind {
        match self.body {
            Body::Undefined => Kind::Undefined,
            Body::Empty => Kind::Empty,
            Body::Explicit(_) => Kind::Explicit,
            Body::Sparse(_) => Kind::Sparse,
            Body::Full(_) => Kind::Full,
        }
    }

    /// Whether to add this hash would change nothing. Constant time for FULL, logarithmic for EXPLICIT and
    /// SPARSE.
    pub fn absorbs(&self, hash: u64) -> bool {
        match (self.body, self.params.register(hash)) {
            (Body::Empty, _) => false,
            (Body::Explicit(list), _) => list.search(hash).is_ok(),
            (Body::Undefined, _) | (_, None) => true,
            (Body::Sparse(words), Some(new)) => words.rank(new.index) >= new.rank,
            (Body::Full(registers), Some(new)) => registers.rank(new.index) >= new.rank,
        }
    }

    /// The hashes of an EXPLICIT or EMPTY value, in ascending order as signed numbers; `None` for the others,
    /// which have forgotten them.
    pub fn hashes(&self) -> Option<impl Iterator<Item = u64> + use<'a>> {
        self.list().map(Explicit::iter)
    }

    fn list(&self) -> Option<Explicit<'a>> {
        match self.body {
            Body::Empty => Some(Explicit::EMPTY),
            Body::Explicit(list) => Some(list),
            _ => None,
        }
    }

    /// The registers that are not zero, in ascending order of their indices; those that its hashes lead to,
    /// if it is EXPLICIT.
    fn registers(&self) -> Vec<Register> {
        match self.body {
            Body::Undefined | Body::Empty => Vec::new(),
            Body::Explicit(list) => self.params.registers_of(list.iter()),
            Body::Sparse(words) => words.iter().collect(),
            Body::Full(registers) => registers.iter().collect(),
        }
    }
}

/// One register that is not zero. The order is that of the indices, then of the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Register {
    index: u32,
    rank: u8,
}
