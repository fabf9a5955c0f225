//! The first 112 bytes of an index. Layout and meaning: `docs/format/sparkey-index.md`, which a test compares with
//! [`IndexHeader::FIELDS`].

use crate::LogHeader;
use crate::fault;
use hammerspace_bytes::{Field, murmur3};
use hammerspace_error::Result;

pub(crate) const MAGIC: Field = Field::u32("magic", 0);
pub(crate) const MAJOR_VERSION: Field = Field::u32("major_version", 4);
pub(crate) const MINOR_VERSION: Field = Field::u32("minor_version", 8);
pub(crate) const FILE_IDENTIFIER: Field = Field::u32("file_identifier", 12);
pub(crate) const HASH_SEED: Field = Field::u32("hash_seed", 16);
pub(crate) const DATA_END: Field = Field::u64("data_end", 20);
pub(crate) const MAX_KEY_LEN: Field = Field::u64("max_key_len", 28);
pub(crate) const MAX_VALUE_LEN: Field = Field::u64("max_value_len", 36);
pub(crate) const NUM_PUTS: Field = Field::u64("num_puts", 44);
pub(crate) const GARBAGE_SIZE: Field = Field::u64("garbage_size", 52);
pub(crate) const NUM_ENTRIES: Field = Field::u64("num_entries", 60);
pub(crate) const ADDRESS_SIZE: Field = Field::u32("address_size", 68);
pub(crate) const HASH_SIZE: Field = Field::u32("hash_size", 72);
pub(crate) const HASH_CAPACITY: Field = Field::u64("hash_capacity", 76);
pub(crate) const MAX_DISPLACEMENT: Field = Field::u64("max_displacement", 84);
pub(crate) const ENTRY_BLOCK_BITS: Field = Field::u32("entry_block_bits", 92);
pub(crate) const HASH_COLLISIONS: Field = Field::u64("hash_collisions", 96);
pub(crate) const TOTAL_DISPLACEMENT: Field = Field::u64("total_displacement", 104);

/// Bytes of a hash in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HashSize {
    /// `MurmurHash3_x86_32`.
    Four,
    /// The first half of `MurmurHash3_x64_128`.
    Eight,
}

impl HashSize {
    /// The size as a number of bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// The hash of `key`.
    #[inline]
    pub fn hash(self, key: &[u8], seed: u32) -> u64 {
        match self {
            Self::Four => murmur3::x86_32(key, seed).into(),
            Self::Eight => murmur3::x64_128_low(key, seed),
        }
    }
}

/// What an index says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexHeader {
    /// 0 or 1, with one layout; writers write 1.
    pub minor_version: u32,
    /// That of its log.
    pub file_identifier: u32,
    /// Seed of the hash function.
    pub hash_seed: u32,
    /// The log's `data_end` when the index was made: entries from here on are not in it.
    pub data_end: u64,
    /// Copied from the log.
    pub max_key_len: u64,
    /// Copied from the log.
    pub max_value_len: u64,
    /// Copied from the log.
    pub num_puts: u64,
    /// Encoded bytes of dead puts and of all deletes (Java's writer leaves the deletes out). Nothing depends on it.
    pub garbage_size: u64,
    /// Live keys, which is to say occupied slots.
    pub num_entries: u64,
    /// Bytes of an address in a slot: 4 or 8.
    pub address_size: u32,
    /// Bytes of a hash in a slot, and the function that makes it.
    pub hash_size: HashSize,
    /// Slots, at least one.
    pub hash_capacity: u64,
    /// How far the farthest key lies from its wanted slot.
    pub max_displacement: u64,
    /// Low bits of an address that count entries within a block, 0 to 31.
    pub entry_block_bits: u32,
    /// Slots whose hash equals that of the slot before, roughly: see the format page.
    pub hash_collisions: u64,
    /// Sum of all displacements.
    pub total_displacement: u64,
}

impl IndexHeader {
    /// Bytes of a header, and the offset of the first slot.
    pub const SIZE: usize = 112;

    /// What the first four bytes spell.
    pub const MAGIC: u32 = 0x9a11_318f;

    /// The major version that we read and write.
    pub const MAJOR_VERSION: u32 = 1;

    /// The minor version that we write, and the newest that we read.
    pub const MINOR_VERSION: u32 = 1;

    /// The layout, in file order.
    pub const FIELDS: [Field; 18] = [
        MAGIC,
        MAJOR_VERSION,
        MINOR_VERSION,
        FILE_IDENTIFIER,
        HASH_SEED,
        DATA_END,
        MAX_KEY_LEN,
        MAX_VALUE_LEN,
        NUM_PUTS,
        GARBAGE_SIZE,
        NUM_ENTRIES,
        ADDRESS_SIZE,
        HASH_SIZE,
        HASH_CAPACITY,
        MAX_DISPLACEMENT,
        ENTRY_BLOCK_BITS,
        HASH_COLLISIONS,
        TOTAL_DISPLACEMENT,
    ];

    /// Bytes of a slot: 8, 12 or 16.
    pub fn slot_size(&self) -> usize {
        self.hash_size.bytes() + self.address_size as usize
    }

    /// Bytes of header and table together: the length of the file, unless somebody added to it.
    pub fn file_len(&self) -> u64 {
        self.hash_capacity.saturating_mul(self.slot_size() as u64).saturating_add(Self::SIZE as u64)
    }

    /// Reads the header at the start of `bytes`, which may go on behind it. Refuses what contradicts itself; whether
    /// the table fits the file is for [`Index::open`](crate::Index::open) to see.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let Some(bytes) = bytes.first_chunk::<{ Self::SIZE }>() else {
            return Err(fault::index(bytes.len(), format!("the index ends within its {}-byte header", Self::SIZE)));
        };
        let minor_version = check_version(bytes)?;
        let hash_size = match HASH_SIZE.get(bytes) {
            4 => HashSize::Four,
            8 => HashSize::Eight,
            other => return Err(fault::index(HASH_SIZE.offset, format!("hash_size {other} is neither 4 nor 8"))),
        };
        let header = Self {
            minor_version,
            file_identifier: FILE_IDENTIFIER.get(bytes) as u32,
            hash_seed: HASH_SEED.get(bytes) as u32,
            data_end: DATA_END.get(bytes),
            max_key_len: MAX_KEY_LEN.get(bytes),
            max_value_len: MAX_VALUE_LEN.get(bytes),
            num_puts: NUM_PUTS.get(bytes),
            garbage_size: GARBAGE_SIZE.get(bytes),
            num_entries: NUM_ENTRIES.get(bytes),
            address_size: ADDRESS_SIZE.get(bytes) as u32,
            hash_size,
            hash_capacity: HASH_CAPACITY.get(bytes),
            max_displacement: MAX_DISPLACEMENT.get(bytes),
            entry_block_bits: ENTRY_BLOCK_BITS.get(bytes) as u32,
            hash_collisions: HASH_COLLISIONS.get(bytes),
            total_displacement: TOTAL_DISPLACEMENT.get(bytes),
        };
        header.check()?;
        Ok(header)
    }

    /// The 112 bytes that [`parse`](Self::parse) reads.
    pub fn encode(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        for (field, value) in [
            (MAGIC, Self::MAGIC.into()),
            (MAJOR_VERSION, Self::MAJOR_VERSION.into()),
            (MINOR_VERSION, self.minor_version.into()),
            (FILE_IDENTIFIER, self.file_identifier.into()),
            (HASH_SEED, self.hash_seed.into()),
            (DATA_END, self.data_end),
            (MAX_KEY_LEN, self.max_key_len),
            (MAX_VALUE_LEN, self.max_value_len),
            (NUM_PUTS, self.num_puts),
            (GARBAGE_SIZE, self.garbage_size),
            (NUM_ENTRIES, self.num_entries),
            (ADDRESS_SIZE, self.address_size.into()),
            (HASH_SIZE, self.hash_size.bytes() as u64),
            (HASH_CAPACITY, self.hash_capacity),
            (MAX_DISPLACEMENT, self.max_displacement),
            (ENTRY_BLOCK_BITS, self.entry_block_bits.into()),
            (HASH_COLLISIONS, self.hash_collisions),
            (TOTAL_DISPLACEMENT, self.total_displacement),
        ] {
            field.set(&mut bytes, value);
        }
        bytes
    }

    /// What must hold between the fields of any index; field, whether it holds, what it would have to be.
    fn check(&self) -> Result<()> {
        let entries = self.num_entries;
        for (field, value, holds, must) in [
            (DATA_END, self.data_end, self.data_end >= LogHeader::SIZE as u64, "84 or more"),
            (ADDRESS_SIZE, self.address_size.into(), matches!(self.address_size, 4 | 8), "4 or 8"),
            (HASH_CAPACITY, self.hash_capacity, self.hash_capacity > 0, "1 or more"),
            (ENTRY_BLOCK_BITS, self.entry_block_bits.into(), self.entry_block_bits <= 31, "31 or less"),
            (NUM_ENTRIES, entries, entries <= self.num_puts, "no more than num_puts"),
            (NUM_ENTRIES, entries, entries <= self.hash_capacity, "no more than hash_capacity"),
            (MAX_DISPLACEMENT, self.max_displacement, self.max_displacement <= entries, "no more than num_entries"),
            (HASH_COLLISIONS, self.hash_collisions, self.hash_collisions <= entries, "no more than num_entries"),
        ] {
            if !holds {
                return Err(fault::index(field.offset, format!("{} is {value}, but must be {must}", field.name)));
            }
        }
        Ok(())
    }
}

/// Gives the minor version.
fn check_version(bytes: &[u8; IndexHeader::SIZE]) -> Result<u32> {
    let magic = MAGIC.get(bytes);
    if magic != u64::from(IndexHeader::MAGIC) {
        let finding = format!("magic {magic:#010x} is not a Sparkey index's {:#010x}", IndexHeader::MAGIC);
        return Err(
            fault::index(MAGIC.offset, finding).remedy("check that this is an index (.spi) and not another file")
        );
    }
    let (major, minor) = (MAJOR_VERSION.get(bytes) as u32, MINOR_VERSION.get(bytes) as u32);
    if major == 0 {
        return Err(fault::index(MAJOR_VERSION.offset, "index version 0 never existed"));
    }
    if (major, minor) > (IndexHeader::MAJOR_VERSION, IndexHeader::MINOR_VERSION) {
        return Err(fault::newer(MAJOR_VERSION.offset, format!("index version {major}.{minor} is newer than 1.1")));
    }
    Ok(minor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hammerspace_error::Kind;

    fn header() -> IndexHeader {
        IndexHeader {
            minor_version: 1,
            file_identifier: 2,
            hash_seed: u32::MAX,
            data_end: 1 << 40,
            max_key_len: 5,
            max_value_len: 6,
            num_puts: 30,
            garbage_size: 8,
            num_entries: 20,
            address_size: 8,
            hash_size: HashSize::Eight,
            hash_capacity: 39,
            max_displacement: 13,
            entry_block_bits: 14,
            hash_collisions: 15,
            total_displacement: 16,
        }
    }

    #[test]
    fn a_header_comes_back_as_it_was_encoded() {
        assert_eq!(IndexHeader::parse(&header().encode()).unwrap(), header());
        assert_eq!(header().slot_size(), 16);
    }

    #[test]
    fn fields_lie_back_to_back() {
        let end = IndexHeader::FIELDS.iter().fold(0, |end, field| {
            assert_eq!(field.offset, end, "{}", field.name);
            end + field.size
        });
        assert_eq!(end, IndexHeader::SIZE);
    }

    #[test]
    fn what_is_newer_is_unsupported_and_what_is_broken_corrupt() {
        for (field, value, kind) in [
            (MAGIC, 1, Kind::Corrupt),
            (MAJOR_VERSION, 0, Kind::Corrupt),
            (MAJOR_VERSION, 2, Kind::Unsupported),
            (MINOR_VERSION, 2, Kind::Unsupported),
            (DATA_END, 83, Kind::Corrupt),
            (ADDRESS_SIZE, 3, Kind::Corrupt),
            (HASH_SIZE, 5, Kind::Corrupt),
            (HASH_CAPACITY, 0, Kind::Corrupt),
            (HASH_CAPACITY, 19, Kind::Corrupt),
            (ENTRY_BLOCK_BITS, 32, Kind::Corrupt),
            (NUM_ENTRIES, 31, Kind::Corrupt),
            (MAX_DISPLACEMENT, 21, Kind::Corrupt),
            (HASH_COLLISIONS, 21, Kind::Corrupt),
        ] {
            let mut bytes = header().encode();
            field.set(&mut bytes, value);
            let error = IndexHeader::parse(&bytes).unwrap_err();
            assert_eq!(error.kind(), kind, "{} = {value}: {error}", field.name);
            assert!(error.offset().is_some() && error.advice().is_some(), "{error}");
        }
        assert!(IndexHeader::parse(&header().encode()[..111]).is_err());
    }
}
