//! The first 84 bytes of a log. Layout and meaning: `docs/format/sparkey-log.md`, which a test compares with
//! [`LogHeader::FIELDS`].

use super::entry::{EntryKind, Head};
use crate::codec::Compression;
use crate::fault;
use hammerspace_bytes::Field;
use hammerspace_error::Result;

pub(crate) const MAGIC: Field = Field::u32("magic", 0);
pub(crate) const MAJOR_VERSION: Field = Field::u32("major_version", 4);
pub(crate) const MINOR_VERSION: Field = Field::u32("minor_version", 8);
pub(crate) const FILE_IDENTIFIER: Field = Field::u32("file_identifier", 12);
pub(crate) const NUM_PUTS: Field = Field::u64("num_puts", 16);
pub(crate) const NUM_DELETES: Field = Field::u64("num_deletes", 24);
pub(crate) const DATA_END: Field = Field::u64("data_end", 32);
pub(crate) const MAX_KEY_LEN: Field = Field::u64("max_key_len", 40);
pub(crate) const MAX_VALUE_LEN: Field = Field::u64("max_value_len", 48);
pub(crate) const DELETE_SIZE: Field = Field::u64("delete_size", 56);
pub(crate) const COMPRESSION_TYPE: Field = Field::u32("compression_type", 64);
pub(crate) const COMPRESSION_BLOCK_SIZE: Field = Field::u32("compression_block_size", 68);
pub(crate) const PUT_SIZE: Field = Field::u64("put_size", 72);
pub(crate) const MAX_ENTRIES_PER_BLOCK: Field = Field::u32("max_entries_per_block", 80);

/// What a log says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogHeader {
    /// Drawn at random when the log is created, kept by appends, copied by its index.
    pub file_identifier: u32,
    /// Puts ever appended, overwritten ones included.
    pub num_puts: u64,
    /// Deletes ever appended.
    pub num_deletes: u64,
    /// Offset one past the last valid byte; whatever follows it is ignored.
    pub data_end: u64,
    /// Longest key of any put; ours also counts the keys of deletes, other writers do not.
    pub max_key_len: u64,
    /// Longest value of any put.
    pub max_value_len: u64,
    /// Encoded bytes of all deletes, before compression.
    pub delete_size: u64,
    /// How the entries are packed.
    pub compression: Compression,
    /// Most bytes that a block decodes to. Means nothing in an uncompressed log.
    pub block_size: u32,
    /// Encoded bytes of all puts, before compression.
    pub put_size: u64,
    /// Most entries that start in one block. Means nothing in an uncompressed log.
    pub max_entries_per_block: u32,
}

impl LogHeader {
    /// Bytes of a header, and the offset of the first entry.
    pub const SIZE: usize = 84;

    /// What the first four bytes spell.
    pub const MAGIC: u32 = 0x49b3_9c95;

    /// The major version that we read and write.
    pub const MAJOR_VERSION: u32 = 1;

    /// The minor version that we write, and the newest that we read.
    pub const MINOR_VERSION: u32 = 0;

    /// The layout, in file order.
    pub const FIELDS: [Field; 14] = [
        MAGIC,
        MAJOR_VERSION,
        MINOR_VERSION,
        FILE_IDENTIFIER,
        NUM_PUTS,
        NUM_DELETES,
        DATA_END,
        MAX_KEY_LEN,
        MAX_VALUE_LEN,
        DELETE_SIZE,
        COMPRESSION_TYPE,
        COMPRESSION_BLOCK_SIZE,
        PUT_SIZE,
        MAX_ENTRIES_PER_BLOCK,
    ];

    /// The header of a log without entries.
    pub(crate) fn empty(file_identifier: u32, compression: Compression, block_size: u32) -> Self {
        Self {
            file_identifier,
            num_puts: 0,
            num_deletes: 0,
            data_end: Self::SIZE as u64,
            max_key_len: 0,
            max_value_len: 0,
            delete_size: 0,
            compression,
            block_size,
            put_size: 0,
            max_entries_per_block: 0,
        }
    }

    /// Reads the header at the start of `bytes`, which may go on behind it. Refuses what contradicts itself; whether
    /// the file is as long as it says is for [`Log::open`](crate::Log::open) to see.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let Some(bytes) = bytes.first_chunk::<{ Self::SIZE }>() else {
            return Err(fault::log(bytes.len(), format!("the log ends within its {}-byte header", Self::SIZE)));
        };
        check_version(bytes)?;
        let code = COMPRESSION_TYPE.get(bytes) as u32;
        let compression = Compression::from_code(code).ok_or_else(|| {
            fault::newer(COMPRESSION_TYPE.offset, format!("compression type {code} is none of 0, 1 and 2"))
        })?;
        let header = Self {
            file_identifier: FILE_IDENTIFIER.get(bytes) as u32,
            num_puts: NUM_PUTS.get(bytes),
            num_deletes: NUM_DELETES.get(bytes),
            data_end: DATA_END.get(bytes),
            max_key_len: MAX_KEY_LEN.get(bytes),
            max_value_len: MAX_VALUE_LEN.get(bytes),
            delete_size: DELETE_SIZE.get(bytes),
            compression,
            block_size: COMPRESSION_BLOCK_SIZE.get(bytes) as u32,
            put_size: PUT_SIZE.get(bytes),
            max_entries_per_block: MAX_ENTRIES_PER_BLOCK.get(bytes) as u32,
        };
        header.check_counts()?;
        Ok(header)
    }

    /// Encoded bytes of an average put, if the header is right.
    pub(crate) fn mean_put(&self) -> u64 {
        self.put_size / self.num_puts.max(1)
    }

    /// The 84 bytes that [`parse`](Self::parse) reads.
    pub fn encode(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        for (field, value) in [
            (MAGIC, Self::MAGIC.into()),
            (MAJOR_VERSION, Self::MAJOR_VERSION.into()),
            (MINOR_VERSION, Self::MINOR_VERSION.into()),
            (FILE_IDENTIFIER, self.file_identifier.into()),
            (NUM_PUTS, self.num_puts),
            (NUM_DELETES, self.num_deletes),
            (DATA_END, self.data_end),
            (MAX_KEY_LEN, self.max_key_len),
            (MAX_VALUE_LEN, self.max_value_len),
            (DELETE_SIZE, self.delete_size),
            (COMPRESSION_TYPE, self.compression.code().into()),
            (COMPRESSION_BLOCK_SIZE, self.block_size.into()),
            (PUT_SIZE, self.put_size),
            (MAX_ENTRIES_PER_BLOCK, self.max_entries_per_block.into()),
        ] {
            field.set(&mut bytes, value);
        }
        bytes
    }

    /// Whether the log can hold an entry of these lengths: none is longer than the longest.
    #[inline]
    pub(crate) fn admits(&self, head: Head) -> bool {
        match head.kind {
            EntryKind::Put => head.key_len <= self.max_key_len && head.value_len <= self.max_value_len,
            EntryKind::Delete => head.key_len < self.delete_size,
        }
    }

    fn check_counts(&self) -> Result<()> {
        let Some(data_len) = self.data_end.checked_sub(Self::SIZE as u64) else {
            let finding = format!("data_end {} lies within the header", self.data_end);
            return Err(fault::log(DATA_END.offset, finding));
        };
        // An entry takes two bytes or more. Compressed, thousands may share a byte, so there the counts prove nothing.
        let entries = self.num_puts.saturating_add(self.num_deletes);
        if self.compression == Compression::None && entries > data_len / 2 {
            let finding =
                format!("{} puts and {} deletes do not fit {data_len} bytes", self.num_puts, self.num_deletes);
            return Err(fault::log(NUM_PUTS.offset, finding));
        }
        Ok(())
    }
}

fn check_version(bytes: &[u8; LogHeader::SIZE]) -> Result<()> {
    let magic = MAGIC.get(bytes);
    if magic != u64::from(LogHeader::MAGIC) {
        let finding = format!("magic {magic:#010x} is not a Sparkey log's {:#010x}", LogHeader::MAGIC);
        return Err(fault::log(MAGIC.offset, finding).remedy("check that this is a log (.spl) and not another file"));
    }
    let (major, minor) = (MAJOR_VERSION.get(bytes) as u32, MINOR_VERSION.get(bytes) as u32);
    if major == 0 {
        return Err(fault::log(MAJOR_VERSION.offset, "log version 0 never existed"));
    }
    if (major, minor) > (LogHeader::MAJOR_VERSION, LogHeader::MINOR_VERSION) {
        return Err(fault::newer(MAJOR_VERSION.offset, format!("log version {major}.{minor} is newer than 1.0")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hammerspace_error::Kind;

    fn encoded() -> [u8; LogHeader::SIZE] {
        LogHeader::empty(7, Compression::None, 0).encode()
    }

    #[test]
    fn a_header_comes_back_as_it_was_encoded() {
        let header = LogHeader {
            file_identifier: 0xdead_beef,
            num_puts: 3,
            num_deletes: 4,
            data_end: 1 << 40,
            max_key_len: 6,
            max_value_len: 7,
            delete_size: 8,
            compression: Compression::Zstd,
            block_size: 9,
            put_size: 10,
            max_entries_per_block: 11,
        };
        assert_eq!(LogHeader::parse(&header.encode()).unwrap(), header);
    }

    #[test]
    fn fields_lie_back_to_back() {
        let end = LogHeader::FIELDS.iter().fold(0, |end, field| {
            assert_eq!(field.offset, end, "{}", field.name);
            end + field.size
        });
        assert_eq!(end, LogHeader::SIZE);
    }

    #[test]
    fn what_is_newer_is_unsupported_and_what_is_broken_corrupt() {
        for (field, value, kind) in [
            (MAGIC, 1, Kind::Corrupt),
            (MAJOR_VERSION, 0, Kind::Corrupt),
            (MAJOR_VERSION, 2, Kind::Unsupported),
            (MINOR_VERSION, 1, Kind::Unsupported),
            (COMPRESSION_TYPE, 3, Kind::Unsupported),
            (DATA_END, 83, Kind::Corrupt),
            (NUM_PUTS, 1, Kind::Corrupt),
            (NUM_DELETES, u64::MAX, Kind::Corrupt),
        ] {
            let mut bytes = encoded();
            field.set(&mut bytes, value);
            let error = LogHeader::parse(&bytes).unwrap_err();
            assert_eq!(error.kind(), kind, "{} = {value}: {error}", field.name);
            assert!(error.offset().is_some() && error.advice().is_some(), "{error}");
        }
        assert!(LogHeader::parse(&encoded()[..83]).is_err());
    }

    #[test]
    fn counts_past_data_end_are_legal_once_compressed() {
        let mut header = LogHeader::empty(7, Compression::Snappy, 64);
        header.num_deletes = 4000;
        assert_eq!(LogHeader::parse(&header.encode()).unwrap(), header);
    }
}
