//! Whether each value in parts has its parts, and each part its value.
//!
//! ```text
//! record:  number, length ──►  | part 0, full | part 1, full | … | the last, as long as is left, or longer |
//! ```
//!
//! Which parts of a number there are is not kept, only how many bytes they have and where the last of them
//! ends: no two are alike and none is longer than full, so these are equal only if all before the last are
//! there and full. That takes memory in proportion to values.
//!
//! The last part may be longer than its record says: an owner died while it appended.

use std::collections::BTreeMap;

use crate::parts::large::{PART_LEN, PARTS, noted, part_of};
use crate::record::Record;
use crate::record::key::OwnedKey;
use crate::recover::verify::Report;
use crate::region::Region;
use crate::write::change::Old;

/// The values in parts, by their numbers.
#[derive(Default)]
pub(super) struct Parted(BTreeMap<u64, Value>);

#[derive(Default)]
struct Value {
    /// How long it is, by the record that names it.
    named: Option<u64>,
    /// Bytes of its parts.
    bytes: u64,
    /// Where the last of them ends.
    end: u64,
}

impl Parted {
    /// Takes note of a record, if it is a part or has some.
    pub(super) fn note(&mut self, region: &Region, record: Record, report: &mut Report) {
        if record.header.table() == PARTS.number {
            return self.note_part(region, record, report);
        }
        let Some(large) = (Old { region, record }).large() else { return };
        if self.0.entry(large.id).or_default().named.replace(large.len).is_some() {
            report
                .fault(|| format!("the record at {} has the parts of number {} of another", record.address, large.id));
        }
    }

    fn note_part(&mut self, region: &Region, record: Record, report: &mut Report) {
        let OwnedKey::Bytes(key) = record.key(region) else { return report.fault(|| no_part(record)) };
        let Some((id, part)) = part_of(&key) else { return report.fault(|| no_part(record)) };
        let (value, len) = (self.0.entry(id).or_default(), record.header.value_len() as u64);
        value.bytes += len;
        value.end = value.end.max(part.saturating_mul(PART_LEN).saturating_add(len));
    }

    /// Compares what is named with what is there. Nothing is being written or removed, so none of it may be
    /// noted as such.
    pub(super) fn compare(self, region: &Region, report: &mut Report) {
        for (id, value) in self.0 {
            if let Some(finding) = value.finding() {
                report.fault(|| format!("{finding}, of number {id}"));
            }
        }
        for id in noted(region) {
            report.fault(|| format!("parts of number {id:#x} are noted as being written or removed, and nobody does"));
        }
    }
}

fn no_part(record: Record) -> String {
    format!("the record at {} is among parts of values, and has no key of theirs", record.address)
}

impl Value {
    fn finding(self) -> Option<String> {
        let Self { named, bytes, end } = self;
        let parts = |len: u64| len.div_ceil(PART_LEN);
        match named {
            None => Some(format!("no record names parts of {bytes} bytes")),
            Some(len) if bytes != end || end < len => {
                Some(format!("a value of {len} bytes has parts of {bytes} bytes, the last of which ends at {end}"))
            }
            Some(len) if parts(end) > parts(len) => {
                Some(format!("a value of {len} bytes has a part beyond it, which ends at {end}"))
            }
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::large::part_key;
    use crate::record::key::Key;
    use crate::region::PENDING;
    use crate::sound::Memory;
    use crate::testing::fixture::small;
    use crate::write::change::{Change, PartsRef};
    use crate::write::update::TableId;

    const TABLE: TableId = TableId { number: 1, is_versioned: true };
    const LEN: usize = 2 * PART_LEN as usize + 100;

    /// A store with one value in three parts, of number 1.
    fn parted() -> Memory {
        let memory = small(32, 4096);
        memory.put(TABLE, Key::Integer(7), &[1; LEN]).unwrap();
        assert_eq!(memory.verify().findings, Vec::<String>::new());
        memory
    }

    /// What is said of it once somebody has tampered with it.
    fn findings(tamper: impl FnOnce(&Memory)) -> Vec<String> {
        let memory = parted().broken();
        tamper(&memory);
        memory.verify().findings
    }

    fn put_part(memory: &Memory, key: &[u8], len: usize) {
        memory.put(PARTS, Key::Bytes(key), &vec![1; len]).unwrap();
    }

    fn remove(memory: &Memory, table: TableId, key: Key<'_>) {
        memory.update(table, key, |_| Change::Delete).unwrap();
    }

    #[test]
    fn a_value_without_a_part_is_found() {
        for part in 0..3 {
            let found = findings(|memory| remove(memory, PARTS, Key::Bytes(&part_key(1, part))));
            assert!(found.len() == 1 && found[0].contains("a value of 2100 bytes has parts of"), "{found:?}");
        }
    }

    #[test]
    fn a_part_that_is_too_short_is_found() {
        for (part, len) in [(0, PART_LEN as usize - 1), (1, PART_LEN as usize - 1), (2, 99)] {
            let found = findings(|memory| put_part(memory, &part_key(1, part), len));
            assert!(found.len() == 1 && found[0].contains("a value of 2100 bytes has parts of"), "{found:?}");
        }
    }

    #[test]
    fn a_part_of_no_value_is_found() {
        let one = |tamper: &dyn Fn(&Memory)| findings(tamper).pop().expect("something is wrong");
        assert_eq!(
            one(&|memory| put_part(memory, &part_key(9, 0), 50)),
            "no record names parts of 50 bytes, of number 9"
        );
        assert!(one(&|memory| put_part(memory, &part_key(1, 3), 50)).contains("ends at 3050"), "a gap before it");
        let beyond = |memory: &Memory| {
            put_part(memory, &part_key(1, 2), PART_LEN as usize);
            put_part(memory, &part_key(1, 3), 50);
        };
        assert!(one(&beyond).contains("a part beyond it, which ends at 3050"));
        assert!(one(&|memory| put_part(memory, b"a part nobody names", 50)).contains("no key of theirs"));
        let integer = |memory: &Memory| drop(memory.put(PARTS, Key::Integer(1), b""));
        assert!(one(&integer).contains("no key of theirs"));
    }

    /// As when an owner died while it appended.
    #[test]
    fn a_last_part_that_is_longer_is_none_the_worse() {
        let memory = parted();
        put_part(&memory, &part_key(1, 2), 150);
        assert_eq!(memory.verify().findings, Vec::<String>::new());
    }

    #[test]
    fn parts_of_two_values_are_found() {
        let parts = PartsRef { id: 1, len: LEN as u64 };
        let two = findings(|memory| {
            let put = |_: Option<&Old<'_>>| Change::Put { kind: 0, value: parts.into(), expiry: None };
            memory.update(TABLE, Key::Integer(8), put).unwrap();
        });
        assert!(two.len() == 1 && two[0].contains("has the parts of number 1 of another"), "{two:?}");
    }

    /// There are 64 notes, and whoever finds all of them taken waits.
    #[test]
    fn a_note_that_stays_is_found() {
        let noted = findings(|memory| memory.view().region.store(PENDING + 16, 1));
        assert!(noted.len() == 1 && noted[0].contains("nobody does"), "{noted:?}");
    }
}
