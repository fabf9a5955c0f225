//! `.yaml`: what was read, written again as YAML or as JSON, gives the same pairs.

use hammerspace_error::Result;
use hammerspace_load::{Format, Options, Sink, yaml};

use crate::catalogue::{Reader, pairs};
use crate::document::{UNFOLDING, flat, print_json, print_yaml};
use crate::{i18n, json};

/// Checks the readers on `data`.
pub fn check(data: &[u8]) {
    check_reader(&read, data);
    i18n::check(Format::Yaml, data);
}

pub(crate) fn read(bytes: &[u8], _options: &Options, sink: &mut Sink) -> Result<()> {
    yaml::read(bytes, sink)
}

pub(crate) fn check_reader(read: &Reader, data: &[u8]) {
    let Some(read_first) = pairs(read, data, UNFOLDING) else { return };
    let flat = Some(flat(&read_first));
    assert_eq!(pairs(read, &print_yaml(&read_first), 1), flat, "printed and read again");
    assert_eq!(pairs(&json::read, &print_json(&read_first), 1), flat, "printed as JSON and read");
}
