//! What must hold while versions change: no request sees two versions, no read misses its key.
//!
//! The first version has the values as they came. Each later one has all of them with a mark at their end, the number of
//! the publication, so that every single value tells what version it is of:
//!
//! ```text
//! Neuseeland   Neuseeland\x1f1   Neuseeland\x1f2   …
//! ```

use hammerspace_error::Result;
use serde::{Deserialize, Serialize};

/// Unit separator: in no text that people read.
const MARK: u8 = 0x1f;

/// `value` as it is in a version.
pub(super) fn marked(value: &[u8], version: u64) -> Vec<u8> {
    let mut marked = split(value).0.to_vec();
    marked.push(MARK);
    marked.extend_from_slice(version.to_string().as_bytes());
    marked
}

/// The value as it came, and its version.
fn split(value: &[u8]) -> (&[u8], u64) {
    let marked = value.iter().rposition(|byte| *byte == MARK).and_then(|at| {
        let number = str::from_utf8(&value[at + 1..]).ok()?.parse().ok()?;
        Some((&value[..at], number))
    });
    marked.unwrap_or((value, 0))
}

/// What a worker has seen.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Tally {
    pub(super) reads: u64,
    /// Requests with values of more than one version, or of an older one than the request before.
    pub(super) mixed: u64,
    /// Reads that did not find their key.
    pub(super) missed: u64,
    /// The newest version seen.
    pub(super) version: u64,
}

impl Tally {
    /// Counts the answers to one request. Gives the version, if no request saw it before.
    pub(super) fn count<V: AsRef<[u8]>>(
        &mut self,
        answers: impl Iterator<Item = Result<Option<V>>>,
    ) -> Result<Option<u64>> {
        let (mut oldest, mut newest) = (u64::MAX, 0);
        for answer in answers {
            self.reads += 1;
            let Some(value) = answer? else {
                self.missed += 1;
                continue;
            };
            let (_, version) = split(value.as_ref());
            (oldest, newest) = (oldest.min(version), newest.max(version));
        }
        if oldest < self.version.max(newest) {
            self.mixed += 1;
        }
        let is_new = newest > self.version;
        self.version = self.version.max(newest);
        Ok(is_new.then_some(newest))
    }

    /// Both together.
    pub(super) fn and(self, other: &Self) -> Self {
        Self {
            reads: self.reads + other.reads,
            mixed: self.mixed + other.mixed,
            missed: self.missed + other.missed,
            version: self.version.max(other.version),
        }
    }
}

#[cfg(test)]
mod tests {
    use hammerspace::Space;

    use super::super::data_source::{DataSource, Source};
    use super::*;

    fn count(tally: &mut Tally, answers: &[Option<&str>]) -> Option<u64> {
        tally.count(answers.iter().copied().map(Ok)).unwrap()
    }

    #[test]
    fn every_value_tells_its_version() {
        let second = marked(&marked("Neuseeland".as_bytes(), 1), 22);
        assert_eq!(split(&second), (&b"Neuseeland"[..], 22));
        for plain in ["", "x", "x\u{1f}", "x\u{1f}y"] {
            assert_eq!(split(plain.as_bytes()), (plain.as_bytes(), 0));
        }
    }

    #[test]
    fn a_version_is_news_once() {
        let mut tally = Tally::default();
        let news: Vec<Option<u64>> = ["a", "b\u{1f}1", "c\u{1f}1", "d\u{1f}3"]
            .map(|value| count(&mut tally, &[Some(value), Some(value)]))
            .into();
        assert_eq!(news, [None, Some(1), None, Some(3)]);
        assert_eq!((tally.reads, tally.mixed, tally.missed, tally.version), (8, 0, 0, 3));
    }

    #[test]
    fn canary_a_mix_and_a_step_back_are_noticed() {
        let mut tally = Tally::default();
        count(&mut tally, &[Some("a"), Some("b\u{1f}1")]);
        assert_eq!(tally.mixed, 1, "old and new in one request");
        count(&mut tally, &[Some("a\u{1f}2"), Some("b\u{1f}1")]);
        assert_eq!(tally.mixed, 2, "new and old in one request");
        count(&mut tally, &[Some("a\u{1f}1"), Some("b\u{1f}1")]);
        assert_eq!(tally.mixed, 3, "back to an older version");
        count(&mut tally, &[Some("a\u{1f}2"), None]);
        assert_eq!((tally.mixed, tally.missed), (3, 1), "a key that is gone");
    }

    /// A space that was changed key by key, as no publication does it, and lost one key: what a worker must notice when it
    /// reads the very way it does in the demo.
    #[test]
    fn canary_a_version_half_made_is_noticed() {
        let scratch = tempfile::tempdir().unwrap();
        let mut writer = Space::create(scratch.path()).unwrap().writer().unwrap();
        for number in 0..19_u64 {
            writer.put(format!("key {number}"), marked(b"value", 1 + number % 2)).unwrap();
        }
        writer.publish().unwrap();

        let data = DataSource::open(&Source::Space(scratch.path().into())).unwrap();
        let version = data.newest().unwrap();
        let mut tally = Tally::default();
        tally.count((0..20).map(|number| version.get(format!("key {number}").as_bytes()))).unwrap();
        assert_eq!((tally.reads, tally.mixed, tally.missed), (20, 1, 1));
    }
}
