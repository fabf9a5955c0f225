//! How many bytes a file may unfold to.
//!
//! Two formats let a few bytes stand for many: strings of a `.mo` may overlap, and every leaf of a nested JSON document
//! repeats its parents' names. A small file could so keep us busy for hours. Each reader therefore spends from a budget
//! that is a fixed multiple of its input, well above what honest files need.

use hammerspace_error::{Error, Kind, Result};

pub(crate) struct Budget {
    left: usize,
    total: usize,
}

impl Budget {
    /// `factor` bytes out for each byte in.
    pub(crate) fn new(input_len: usize, factor: usize) -> Self {
        let total = input_len.saturating_mul(factor);
        Self { left: total, total }
    }

    /// Takes `bytes` off, if there are so many left.
    pub(crate) fn spend(&mut self, bytes: usize) -> Result<()> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| {
            Error::new(Kind::Corrupt, format!("its keys and values unfold to more than {} bytes", self.total)).remedy(
                "such a file is broken or made to do harm; if it is neither, split it or give its parts shorter names",
            )
        })?;
        Ok(())
    }
}
