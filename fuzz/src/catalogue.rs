//! gettext's two formats, written in the plainest way.

use crate::accepted;
use hammerspace_error::Result;
use hammerspace_load::{Options, Sink};

/// One of the readers under test.
pub(crate) type Reader = dyn Fn(&[u8], &Options, &mut Sink) -> Result<()>;

pub(crate) type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// All pairs, if the reader accepts the bytes. It must not make more than `factor` bytes of each.
pub(crate) fn pairs(read: &Reader, bytes: &[u8], factor: usize) -> Option<Pairs> {
    let mut pairs = Pairs::new();
    let mut total = 0;
    let read = read(bytes, &Options::default(), &mut |key, value| {
        for text in [key, value] {
            assert!(str::from_utf8(text).is_ok(), "not UTF-8: {}", text.escape_ascii());
            total += text.len();
        }
        pairs.push((key.to_vec(), value.to_vec()));
        Ok(())
    });
    assert!(total <= factor * bytes.len(), "{total} bytes out of {}", bytes.len());
    accepted(read).map(|()| pairs)
}

/// A `.mo` of revision 0.0, without a hash table.
pub(crate) fn write_mo(pairs: &Pairs) -> Vec<u8> {
    let count = pairs.len() as u32;
    let mut file = [0x9504_12de, 0, count, 28, 28 + 8 * count, 0, 0].map(u32::to_le_bytes).concat();
    let mut text = Vec::new();
    for string in pairs.iter().map(|pair| &pair.0).chain(pairs.iter().map(|pair| &pair.1)) {
        let offset = 28 + 16 * count + text.len() as u32;
        file.extend([string.len() as u32, offset].map(u32::to_le_bytes).concat());
        text.extend([string, &b"\0"[..]].concat());
    }
    file.extend(text);
    file
}

/// A `.po` without a header, so in UTF-8.
pub(crate) fn print_po(pairs: &Pairs) -> Vec<u8> {
    let mut po = Vec::new();
    for (key, value) in pairs {
        let id = match key.iter().position(|byte| *byte == END_OF_CONTEXT) {
            Some(end) => {
                string(&mut po, "msgctxt", &key[..end]);
                &key[end + 1..]
            }
            None => key,
        };
        string(&mut po, "msgid", id);
        if value.contains(&0) {
            string(&mut po, "msgid_plural", b"");
            for (form, text) in value.split(|byte| *byte == 0).enumerate() {
                string(&mut po, &format!("msgstr[{form}]"), text);
            }
        } else {
            string(&mut po, "msgstr", value);
        }
    }
    po
}

/// Whether a `.po` can hold the pair: a translation that is not empty, and no separator that is not one.
pub(crate) fn printable((key, value): &(Vec<u8>, Vec<u8>)) -> bool {
    let parts = |text: &[u8]| text.split(|byte| *byte == END_OF_CONTEXT).count();
    parts(key) <= 2 && parts(value) == 1 && value.first().is_some_and(|byte| *byte != 0)
}

const END_OF_CONTEXT: u8 = 4;

fn string(po: &mut Vec<u8>, word: &str, text: &[u8]) {
    po.extend([word.as_bytes(), b" \""].concat());
    for byte in text {
        match byte {
            b'"' | b'\\' => po.extend([b'\\', *byte]),
            b'\n' => po.extend(b"\\n"),
            byte => po.push(*byte),
        }
    }
    po.extend(b"\"\n");
}
