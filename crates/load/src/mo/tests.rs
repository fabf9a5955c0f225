use crate::tests::{gives, pairs, refuses};
use crate::{Format, Options};
use hammerspace_error::Kind;

const MO: Format = Format::Mo;
const HEADER: (&[u8], &[u8]) = (b"", b"Content-Type: text/plain; charset=UTF-8\n");

/// A `.mo` of revision 0.0 without a hash table.
fn written(pairs: &[(&[u8], &[u8])], number: impl Fn(u32) -> [u8; 4]) -> Vec<u8> {
    let count = pairs.len() as u32;
    let mut file: Vec<u8> = [0x9504_12de, 0, count, 28, 28 + 8 * count, 0, 0].map(&number).concat();
    let mut text = Vec::new();
    let text_at = 28 + 16 * count;
    for string in pairs.iter().map(|pair| pair.0).chain(pairs.iter().map(|pair| pair.1)) {
        file.extend([string.len() as u32, text_at + text.len() as u32].map(&number).concat());
        text.extend_from_slice(string);
        text.push(0);
    }
    file.extend(text);
    file
}

#[test]
fn the_compiled_sample_gives_the_pairs_of_its_source() {
    let sorted = |format, bytes| {
        let mut pairs = pairs(format, &Options { catalogue_header: true, ..Options::default() }, bytes).unwrap();
        pairs.sort();
        pairs
    };
    assert_eq!(
        sorted(MO, include_bytes!("../../tests/sample.mo")),
        sorted(Format::Po, include_bytes!("../../tests/sample.po"))
    );
}

#[test]
fn both_byte_orders_are_read() {
    let strings: [(&[u8], &[u8]); 3] = [HEADER, (b"menu\x04file\0files", b"Datei\0Dateien"), (b"empty", b"")];
    for file in [written(&strings, u32::to_le_bytes), written(&strings, u32::to_be_bytes)] {
        gives(MO, file, &[("menu\x04file", "Datei\0Dateien"), ("empty", "")]);
    }
    gives(MO, written(&[], u32::to_le_bytes), &[]);
}

#[test]
fn the_charset_is_the_headers() {
    let latin_2: (&[u8], &[u8]) = (b"", b"charset=ISO-8859-2\n");
    gives(MO, written(&[(b"a", b"\xb1"), latin_2], u32::to_le_bytes), &[("a", "ą")]);
    let error = refuses(MO, written(&[HEADER, (b"a", b"\xb1")], u32::to_le_bytes), "not UTF-8");
    assert_eq!(error.offset(), Some(28 + 8));
}

#[test]
fn what_points_nowhere_is_refused_with_its_offset() {
    let file = written(&[HEADER, (b"key", b"value")], u32::to_le_bytes);
    let with = |at: usize, value: u32| {
        let mut file = file.clone();
        file[at..at + 4].copy_from_slice(&value.to_le_bytes());
        file
    };
    assert_eq!(refuses(MO, &file[..file.len() - 1], "past the end").offset(), Some(file.len() as u64 - 6));
    assert_eq!(refuses(MO, with(0, 0), "magic").offset(), Some(0));
    assert_eq!(refuses(MO, with(4, 2 << 16), "revision 2.0").kind(), Kind::Unsupported);
    refuses(MO, with(4, 1), "past the end");
    for at in [8, 12, 16, 28, 32, 36, 40] {
        refuses(MO, with(at, u32::MAX), "past the end");
    }
    refuses(MO, with(36, 2), "without a NUL");
}

#[test]
fn overlapping_strings_are_no_bomb() {
    let (count, len) = (1000_u32, 10_000_u32);
    let table = |offset| (0..count).flat_map(move |_| [len, offset].map(u32::to_le_bytes)).flatten();
    let text_at = 28 + 16 * count;
    let mut file = [0x9504_12de, 0, count, 28, 28 + 8 * count, 0, 0].map(u32::to_le_bytes).concat();
    file.extend(table(text_at).chain(table(text_at)));
    file.extend(vec![b'a'; len as usize]);
    file.push(0);
    refuses(MO, file, "unfold");
}

#[test]
fn composed_strings_are_no_bomb_either() {
    // One descriptor of a thousand segments, and a thousand strings that all are it.
    let (count, segments) = (1000_u32, 1000_u32);
    let (table, descriptor) = (48, 48 + 4 * count);
    let name_table = descriptor + 4 + 8 * segments;
    let name = name_table + 8;
    let mut file = vec![0x9504_12de, 1, 0, 0, 0, 0, 0, 1, name_table, count, table, table];
    file.extend(vec![descriptor; count as usize]);
    file.push(name);
    file.extend([0, 0].repeat(segments as usize - 1));
    file.extend([5, u32::MAX, 5, name]);
    let mut file: Vec<u8> = file.into_iter().flat_map(u32::to_le_bytes).collect();
    file.extend(b"PRId\0");
    refuses(MO, file, "unfold");
}
