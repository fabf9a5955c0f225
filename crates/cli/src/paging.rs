//! `--paging WAY`: how the pages of what is read come into memory.

use std::path::Path;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hammerspace::{Options, Paging, Space};
use hammerspace_error::Result;

/// How a space is opened to be read.
#[derive(Args)]
pub(crate) struct Reading {
    /// How the pages of the files come into memory; `prefetch` helps where they lie on a disk, `random` where they are larger
    /// than memory
    #[arg(long, value_name = "WAY", default_value = Paging::OnDemand.name(), value_parser = ways())]
    paging: Paging,
}

impl Reading {
    pub(crate) fn open(&self, space: &Path) -> Result<Space> {
        Options::new().paging(self.paging).open(space)
    }
}

fn ways() -> impl TypedValueParser<Value = Paging> {
    PossibleValuesParser::new(Paging::ALL.map(Paging::name)).map(|name| {
        let named = Paging::ALL.into_iter().find(|way| way.name() == name);
        named.expect("the parser accepts these names only")
    })
}
