//! Options, as a struct of numbers of which 0 is the default.

use std::num::NonZero;
use std::time::Duration;

use hammerspace::sparkey::{LogOptions, ShardKeys as TheirKeys};
use hammerspace::{Compression as Theirs, Result};

use crate::error::invalid;

/// What a power cut may take.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum Durability {
    /// Nothing that was published. The default.
    Full = 0,
    /// Whatever the kernel had not written yet: for data that can be loaded again.
    None = 1,
}

/// How entries are packed.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum Compression {
    /// As in the version that a writer starts from; new ones are not compressed.
    Default = 0,
    /// Not compressed: values are slices of the mapped file.
    None = 1,
    /// Blocks of snappy.
    Snappy = 2,
    /// Blocks of zstd.
    Zstd = 3,
}

/// How the pages of the files come into memory, and whether they stay.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum Paging {
    /// When they are touched, with a few around them. The default.
    OnDemand = 0,
    /// When they are touched, and alone: for files larger than memory.
    Random = 1,
    /// The kernel starts to read the files, in the background.
    Prefetch = 2,
    /// All before opening returns.
    Populate = 3,
    /// The same, and they stay; needs the right to lock so much memory.
    Lock = 4,
    /// A private copy in huge pages, which is not shared with other processes.
    HugePages = 5,
}

/// What the keys of shards are hashed as.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum ShardKeys {
    /// Bytes. Scio asks for these shards by Array[Byte].
    Bytes = 0,
    /// Strings in UTF-8, as Scala hashes them. Scio asks for these by String.
    Strings = 1,
}

/// What making an index may take. All zeros are the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Effort {
    /// Bytes of memory; what does not fit goes to a file without a name, beside the index. 0: 256 MiB, which is enough for 100
    /// million keys.
    pub memory: u64,
    /// Threads. 0: as many as the machine runs at once.
    pub threads: u32,
}

impl Effort {
    pub(crate) fn to_ours(given: Option<&Self>) -> hammerspace::Effort {
        let mut effort = hammerspace::Effort::default();
        let Some(given) = given else { return effort };
        if given.memory != 0 {
            effort.memory = given.memory;
        }
        effort.threads = NonZero::new(given.threads as usize);
        effort
    }
}

/// How a space is opened and written. All zeros are the defaults: `hammerspace_options options = {0};`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Options {
    /// A hammerspace_durability.
    pub durability: u32,
    /// A hammerspace_compression, for new versions.
    pub compression: u32,
    /// Bytes per block of compressed versions, before compression. 0: as before, else 4096.
    pub block_size: u32,
    /// How many versions stay on disk after a publication, the current one included. 0: 1.
    pub keep: u32,
    /// How often hammerspace_space_refresh looks at the directory itself, in milliseconds: for publications that nobody
    /// announces, such as those of the original gem. 0: 100. UINT64_MAX: never.
    pub poll_ms: u64,
    /// A hammerspace_paging, for the versions that are read.
    pub paging: u32,
    /// Open the space also if its current version is damaged: it then reads as empty until it is mended by a replacing
    /// writer, a rollback or a clear.
    pub mend: bool,
    /// Bytes of memory for decoded blocks of compressed versions, shared by the threads of this process. 0: none.
    pub cache_bytes: u64,
    /// For the indexes of new versions.
    pub index: Effort,
}

impl Options {
    pub(crate) fn to_ours(given: Option<&Self>) -> Result<hammerspace::Options> {
        let mut options = hammerspace::Options::new();
        let Some(given) = given else { return Ok(options) };
        options = options.durability(durability(given.durability)?).paging(paging(given.paging)?);
        options = options.cache_bytes(given.cache_bytes as usize).effort(Effort::to_ours(Some(&given.index)));
        if let Some(compression) = compression(given.compression)? {
            options = options.compression(compression);
        }
        if given.block_size != 0 {
            options = options.block_size(given.block_size);
        }
        if given.keep != 0 {
            options = options.keep(given.keep as usize);
        }
        options = match given.poll_ms {
            0 => options,
            u64::MAX => options.poll(Duration::MAX),
            millis => options.poll(Duration::from_millis(millis)),
        };
        Ok(if given.mend { options.mend() } else { options })
    }
}

/// The options of a log.
pub(crate) fn log_options(given: u32, block_size: u32) -> Result<LogOptions> {
    let mut options = LogOptions::default();
    options.compression = compression(given)?.unwrap_or(options.compression);
    if block_size != 0 {
        options.block_size = block_size;
    }
    Ok(options)
}

fn durability(given: u32) -> Result<hammerspace::Durability> {
    match given {
        given if given == Durability::Full as u32 => Ok(hammerspace::Durability::Full),
        given if given == Durability::None as u32 => Ok(hammerspace::Durability::None),
        other => Err(invalid(format!("{other} is no hammerspace_durability"))),
    }
}

pub(crate) fn paging(given: u32) -> Result<hammerspace::Paging> {
    use hammerspace::Paging as Ours;
    match given {
        given if given == Paging::OnDemand as u32 => Ok(Ours::OnDemand),
        given if given == Paging::Random as u32 => Ok(Ours::Random),
        given if given == Paging::Prefetch as u32 => Ok(Ours::Prefetch),
        given if given == Paging::Populate as u32 => Ok(Ours::Populate),
        given if given == Paging::Lock as u32 => Ok(Ours::Lock),
        given if given == Paging::HugePages as u32 => Ok(Ours::HugePages),
        other => Err(invalid(format!("{other} is no hammerspace_paging"))),
    }
}

pub(crate) fn shard_keys(given: u32) -> Result<TheirKeys> {
    match given {
        given if given == ShardKeys::Bytes as u32 => Ok(TheirKeys::Bytes),
        given if given == ShardKeys::Strings as u32 => Ok(TheirKeys::Strings),
        other => Err(invalid(format!("{other} is no hammerspace_shard_keys"))),
    }
}

/// `None` for the default.
fn compression(given: u32) -> Result<Option<Theirs>> {
    match given {
        given if given == Compression::Default as u32 => Ok(None),
        given if given == Compression::None as u32 => Ok(Some(Theirs::None)),
        given if given == Compression::Snappy as u32 => Ok(Some(Theirs::Snappy)),
        given if given == Compression::Zstd as u32 => Ok(Some(Theirs::Zstd)),
        other => Err(invalid(format!("{other} is no hammerspace_compression"))),
    }
}

/// The number of a compression.
pub(crate) fn number_of(compression: Theirs) -> u32 {
    let ours = match compression {
        Theirs::None => Compression::None,
        Theirs::Snappy => Compression::Snappy,
        Theirs::Zstd => Compression::Zstd,
    };
    ours as u32
}
