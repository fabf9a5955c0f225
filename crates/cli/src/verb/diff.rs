//! `hammerspace diff SPACE [OTHER]`: which keys two versions do not agree on.

use std::path::{Path, PathBuf};

use clap::Args;
use hammerspace::{Error, Kind, Snapshot, Space};
use hammerspace_error::Result;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::exit::Outcome;
use crate::output::{Output, text_or_base64};

/// Print how two versions differ, of one space or of two
///
/// A line is `-`, the key and the old value, or `+`, the key and the new one, divided by tabs; a changed value is two lines.
/// First come the keys of the new version, in its order, then those that are gone. The exit code is 1 where there is a
/// difference.
#[derive(Args)]
#[command(
    after_help = "Example: hammerspace diff words --from 3\n         hammerspace diff words words.new --keys-only"
)]
pub(crate) struct Diff {
    /// The directory of the space
    space: PathBuf,
    /// The directory of another space, to compare with
    other: Option<PathBuf>,
    /// The old version's number [default: of two spaces, the first one's current version; of one, the version before]
    #[arg(long, value_name = "N")]
    from: Option<u64>,
    /// The new version's number [default: the current version]
    #[arg(long, value_name = "N")]
    to: Option<u64>,
    /// Leave the values out; then a changed key is one line, `~` and the key
    #[arg(long)]
    keys_only: bool,
}

/// A key that two versions do not agree on, and its values in both.
struct Difference<'a> {
    key: &'a [u8],
    old: Option<&'a [u8]>,
    new: Option<&'a [u8]>,
}

impl Diff {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let to = Space::open(self.other.as_ref().unwrap_or(&self.space))?;
        let from = Space::open(&self.space)?;
        if let Some(number) = self.to {
            go_to(&to, number)?;
        }
        if let Some(number) = self.old(&to)? {
            go_to(&from, number)?;
        }
        let is_same = self.print(&from.snapshot(), &to.snapshot(), out)?;
        Ok(if is_same { Outcome::Found } else { Outcome::NotFound })
    }

    /// The number of the old version; `None` where that is the current one.
    fn old(&self, to: &Space) -> Result<Option<u64>> {
        if self.from.is_some() || self.other.is_some() {
            return Ok(self.from);
        }
        let new = to.snapshot().number().unwrap_or(u64::MAX);
        let older = to.versions()?.into_iter().filter_map(|version| version.number).find(|number| *number < new);
        older.map(Some).ok_or_else(|| missing(&self.space, "no version before it on disk"))
    }

    /// Prints what differs, and says whether nothing does. Reads both versions once, and keeps nothing of them.
    fn print(&self, from: &Snapshot, to: &Snapshot, out: &mut Output) -> Result<bool> {
        let mut is_same = true;
        let mut tell = |difference: &Difference| {
            is_same = false;
            self.line(difference, out)
        };
        for pair in to {
            let (key, new) = pair?;
            let old = from.get(&key)?;
            if old.as_deref() != Some(&*new) {
                tell(&Difference { key: &key, old: old.as_deref(), new: Some(&new) })?;
            }
        }
        for pair in from {
            let (key, old) = pair?;
            if !to.contains(&key)? {
                tell(&Difference { key: &key, old: Some(&old), new: None })?;
            }
        }
        Ok(is_same)
    }

    fn line(&self, difference: &Difference, out: &mut Output) -> Result<()> {
        let Difference { key, old, new } = *difference;
        if out.json() {
            return out.object(&Told { difference, keys_only: self.keys_only });
        }
        if self.keys_only {
            return out.bytes(&[difference.sign(), b"\t", key, b"\n"].concat());
        }
        let lines = [(b"-", old), (b"+", new)];
        for (sign, value) in lines.into_iter().filter_map(|(sign, value)| Some((sign, value?))) {
            out.bytes(&[sign, &b"\t"[..], key, b"\t", value, b"\n"].concat())?;
        }
        Ok(())
    }
}

fn go_to(space: &Space, number: u64) -> Result<()> {
    if space.go_to(number)? { Ok(()) } else { Err(missing(space.path(), &format!("no version {number} on disk"))) }
}

fn missing(space: &Path, what: &str) -> Error {
    Error::new(Kind::Missing, format!("there is {what}"))
        .file(space)
        .remedy("`versions` lists them; publish with `keep` above 1 to have some")
}

impl Difference<'_> {
    fn sign(&self) -> &'static [u8] {
        match (self.old, self.new) {
            (None, _) => b"+",
            (_, None) => b"-",
            _ => b"~",
        }
    }

    fn change(&self) -> &'static str {
        match (self.old, self.new) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        }
    }
}

/// A difference as an object.
struct Told<'a> {
    difference: &'a Difference<'a>,
    keys_only: bool,
}

impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        let Difference { key, old, new } = *self.difference;
        map.serialize_entry("change", self.difference.change())?;
        text_or_base64(&mut map, ["key", "key_base64"], key)?;
        for (names, value) in [(["old", "old_base64"], old), (["new", "new_base64"], new)] {
            if let Some(value) = value.filter(|_| !self.keys_only) {
                text_or_base64(&mut map, names, value)?;
            }
        }
        map.end()
    }
}
