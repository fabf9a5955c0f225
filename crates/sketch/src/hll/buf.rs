//! A value that changes: hashes and other values fold into its bytes.

use hammerspace_error::Result;

use super::header::{self, HEADER_LEN};
use super::params::merged;
use super::{Body, Hll, Kind, Params, Register, explicit, full, sparse};

/// A value of its own bytes, always written by PostgreSQL's rule.
///
/// It is the fold that a store needs: `open` the old bytes, `add` or `union`, and take the new bytes if that
/// says `true`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HllBuf {
    bytes: Vec<u8>,
}

/// From so many hashes on, one merge costs less than as many insertions.
const MERGE_MIN: usize = 16;

impl HllBuf {
    /// An EMPTY value.
    pub fn new(params: Params) -> Self {
        Self { bytes: header::write(Kind::Empty, params).into() }
    }

    /// An UNDEFINED value, which absorbs whatever is added.
    pub fn undefined(params: Params) -> Self {
        Self { bytes: header::write(Kind::Undefined, params).into() }
    }

    /// Reads a value by any writer, checks it ([`Hll::parse`]), and writes it by our rule.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        Hll::parse(bytes).map(|hll| Self::from(&hll))
    }

    /// Goes on with the bytes of an `HllBuf`, in constant time. Bytes from elsewhere need
    /// [`read`](Self::read): on others, later answers may be wrong, but nothing panics.
    pub fn open(bytes: Vec<u8>) -> Result<Self> {
        Hll::open(&bytes)?;
        Ok(Self { bytes })
    }

    /// The value, to be read.
    #[inline]
    pub fn as_hll(&self) -> Hll<'_> {
        Hll::open(&self.bytes).unwrap_or_else(|_| {
            // Bytes that were opened unchecked can come to this by a change.
            let (_, params) = header::read(&self.bytes).expect("no change touches the header");
            Hll { params, body: Body::Empty }
        })
    }

    /// The value's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The value's bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Adds one hash. Whether that changed the value: constant time for FULL, else at most one move of its
    /// bytes.
    ///
    /// A value may grow to [`Params::full_len`] bytes, or to 8 bytes for each of [`Params::explicit_max`]
    /// hashes.
    pub fn add(&mut self, hash: u64) -> bool {
        let hll = self.as_hll();
        let (params, new) = (hll.params, hll.params.register(hash));
        match (hll.body, new) {
            (Body::Full(_), Some(new)) => full::raise(&mut self.bytes, params, new),
            (Body::Full(_) | Body::Sparse(_), None) | (Body::Undefined, _) => false,
            (Body::Sparse(words), Some(new)) => match words.search(new.index) {
                Ok(number) if words.rank(new.index) < new.rank => {
                    sparse::set(&mut self.bytes, params, number, new);
                    true
                }
                Ok(_) => false,
                Err(number) => self.insert_word(params, number, words.len(), new),
            },
            (Body::Explicit(list), _) => match list.search(hash) {
                Ok(_) => false,
                Err(number) if (list.len() as u64) < params.explicit_max() => {
                    explicit::insert(&mut self.bytes, number, hash);
                    true
                }
                Err(_) => self.merge(&[hash]),
            },
            (Body::Empty, _) => self.merge(&[hash]),
        }
    }

    /// Adds many hashes, in any order. Whether that changed the value.
    pub fn add_many(&mut self, hashes: &[u64]) -> bool {
        match self.as_hll().kind() {
            Kind::Empty | Kind::Explicit | Kind::Sparse if hashes.len() >= MERGE_MIN => self.merge(hashes),
            _ => hashes.iter().fold(false, |changed, hash| self.add(*hash) | changed),
        }
    }

    /// Adds all elements of another set. Whether that changed the value. The parameters remain; `Invalid` if
    /// `log2m` or `regwidth` of the other differ.
    pub fn union(&mut self, other: &Hll) -> Result<bool> {
        let params = self.as_hll().params;
        params.check_unites(other.params)?;
        Ok(match (self.as_hll().kind(), other.body) {
            (Kind::Undefined, _) | (_, Body::Empty) => false,
            (_, Body::Undefined) => self.replace(Self::undefined(params)),
            (_, Body::Explicit(list)) => self.add_many(&list.iter().collect::<Vec<_>>()),
            (Kind::Full, Body::Full(registers)) => full::raise_all(&mut self.bytes, registers),
            (Kind::Full, Body::Sparse(words)) => {
                words.iter().fold(false, |changed, new| full::raise(&mut self.bytes, params, new) | changed)
            }
            (_, Body::Sparse(_) | Body::Full(_)) => self.merge_registers(other.registers()),
        })
    }

    fn insert_word(&mut self, params: Params, number: usize, len: usize, new: Register) -> bool {
        if !params.is_sparse(len as u64 + 1) {
            return self.merge_registers(vec![new]);
        }
        sparse::insert(&mut self.bytes, params, number, len, new);
        true
    }

    /// Decodes, adds, and encodes: for many hashes, and wherever the kind may change.
    fn merge(&mut self, hashes: &[u64]) -> bool {
        let new = with_hashes(&self.as_hll(), hashes);
        self.replace(new)
    }

    fn merge_registers(&mut self, new: Vec<Register>) -> bool {
        let new = with_registers(&self.as_hll(), new);
        self.replace(new)
    }

    /// Whether the new bytes differ from the old ones.
    fn replace(&mut self, new: Self) -> bool {
        let changed = *self != new;
        *self = new;
        changed
    }
}

impl From<&Hll<'_>> for HllBuf {
    /// The same set, written by our rule: an overlong list becomes registers, and FULL becomes SPARSE where
    /// that is shorter.
    fn from(hll: &Hll<'_>) -> Self {
        let params = hll.params;
        match hll.body {
            Body::Undefined => Self::undefined(params),
            Body::Empty => Self::new(params),
            Body::Explicit(list) if list.len() == 0 => Self::new(params),
            Body::Explicit(list) => of_hashes(params, list.iter().collect()),
            Body::Full(registers)
                if !params.is_sparse(params.register_count() - u64::from(registers.histogram()[0])) =>
            {
                Self { bytes: [&header::write(Kind::Full, params), registers.body()].concat() }
            }
            Body::Sparse(_) | Body::Full(_) => of_registers(params, &hll.registers()),
        }
    }
}

/// A value and some hashes, at least one.
fn with_hashes(hll: &Hll, hashes: &[u64]) -> HllBuf {
    let new = hashes.iter().copied();
    match hll.hashes() {
        Some(known) => of_hashes(hll.params, known.chain(new).collect()),
        None => with_registers(hll, hll.params.registers_of(new)),
    }
}

fn with_registers(hll: &Hll, new: Vec<Register>) -> HllBuf {
    let both = [hll.registers(), new].concat();
    of_registers(hll.params, &merged(both))
}

/// A value of some hashes, at least one.
fn of_hashes(params: Params, hashes: Vec<u64>) -> HllBuf {
    let hashes = explicit::sorted(hashes);
    if hashes.len() as u64 > params.explicit_max() {
        return of_registers(params, &params.registers_of(hashes.into_iter()));
    }
    let mut bytes = Vec::with_capacity(HEADER_LEN + 8 * hashes.len());
    bytes.extend(header::write(Kind::Explicit, params));
    bytes.extend(hashes.iter().flat_map(|hash| hash.to_be_bytes()));
    HllBuf { bytes }
}

/// A value of registers, in ascending order of their indices, none of them zero.
fn of_registers(params: Params, registers: &[Register]) -> HllBuf {
    let is_sparse = params.is_sparse(registers.len() as u64);
    let bytes = if is_sparse { sparse::encode(params, registers) } else { full::encode(params, registers) };
    HllBuf { bytes }
}
