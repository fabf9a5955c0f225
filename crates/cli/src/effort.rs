//! What the verbs that index a log may take.

use std::num::NonZero;

use bytesize::ByteSize;
use clap::Args;
use hammerspace_sparkey::Effort;

#[derive(Args)]
pub(crate) struct Indexing {
    /// Memory for making an index, beyond the log itself: a number of bytes, or with a unit such as 64MiB. What does not fit
    /// goes to a scratch file: beside the index, or, to verify one, where TMPDIR says
    #[arg(long, value_name = "SIZE", default_value_t = ByteSize(Effort::MEMORY))]
    memory: ByteSize,
    /// Threads for making an index [default: as many as the machine runs at once]
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<NonZero<usize>>,
}

/// Reads a number of threads, of which none would do nothing.
pub(crate) fn threads(given: &str) -> std::result::Result<NonZero<usize>, String> {
    let number: usize = given.parse().map_err(|_| "give a whole number".to_owned())?;
    NonZero::new(number)
        .ok_or_else(|| "at least one thread has to do the work; without the option, all cores do".into())
}

impl Indexing {
    /// The same, as the builder takes it.
    pub(crate) fn effort(&self) -> Effort {
        Effort { memory: self.memory.as_u64(), threads: self.threads }
    }
}
