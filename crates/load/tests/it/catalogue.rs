//! Random `.po` files that gettext accepts, in any layout its grammar allows.

use std::fmt::Write;

/// SplitMix64 (Steele, Lea and Flood, 2014): every seed is a good one.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }

    fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A catalogue of 300 entries in `charset`.
pub(crate) fn random(rng: &mut Rng, charset: &str) -> Vec<u8> {
    let mut po = format!("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset={charset}\\n\"\n");
    for serial in 0..300 {
        entry(rng, &mut po, serial, charset);
    }
    let encoding = encoding_rs::Encoding::for_label(charset.as_bytes()).unwrap();
    let (bytes, _, unmappable) = encoding.encode(&po);
    assert!(!unmappable);
    bytes.into_owned()
}

fn entry(rng: &mut Rng, po: &mut String, serial: usize, charset: &str) {
    po.push('\n');
    while rng.one_in(3) {
        let flags = rng.pick(&["# why", "#. fuzzy", "#: src/a.c:7", "#, fuzzy", "#, c-format", "#,no-wrap, fuzzy\r"]);
        writeln!(po, "{flags}").unwrap();
    }
    if rng.one_in(9) {
        writeln!(po, "#~ msgid \"gone {serial}\"\n#~ msgstr \"fort\"").unwrap();
    }
    if rng.one_in(3) {
        string(rng, po, "msgctxt", "", charset);
    }
    // The serial number keeps keys apart, as gettext refuses equal ones.
    string(rng, po, "msgid", &serial.to_string(), charset);
    if rng.one_in(3) {
        string(rng, po, "msgid_plural", "many", charset);
        for form in 0..=rng.below(3) {
            translation(rng, po, &format!("msgstr[{form}]"), charset);
        }
    } else {
        translation(rng, po, "msgstr", charset);
    }
}

/// Empty or not, but never with a line break at its start: gettext wants that of the msgid then, too.
fn translation(rng: &mut Rng, po: &mut String, word: &str, charset: &str) {
    if rng.one_in(4) {
        po.push_str(word);
        po.push_str("\"\"\n");
    } else {
        string(rng, po, word, "x", charset);
    }
}

/// A word and its string, which begins with `start` and ends with a full stop, in pieces and with blanks between.
fn string(rng: &mut Rng, po: &mut String, word: &str, start: &str, charset: &str) {
    const ESCAPED: [&str; 11] = [
        "\\n",
        "\\t",
        "\\\\",
        "\\\"",
        "\\a\\b\\f\\r\\v",
        "\\101",
        "\\7",
        "\\1018",
        "\\x42\"\"",
        "\\x00000043\"\"",
        "\\\n",
    ];
    let beyond_ascii = match charset {
        "UTF-8" => ["\\303\\244", "\\xe2\\x82\\xac\"\"", "😀", "\u{feff}"],
        "SHIFT_JIS" => ["表", "ソ", "ｱ", "能"], // with a backslash for a second byte, all but the third
        _ => ["é", "ß", "Æ", "\u{a0}"],
    };
    write!(po, "{word}{}\"{start}", rng.pick(&["", " ", "\n", "\t \r\n"])).unwrap();
    while !rng.one_in(4) {
        po.push_str(match rng.below(4) {
            0 => rng.pick(&["\"\"", "\" \"", "\"\n\""]),
            1 => rng.pick(&beyond_ascii),
            2 => rng.pick(&ESCAPED),
            _ => rng.pick(&["a", "Zz", " ", "%d", "'", "#", "["]),
        });
    }
    po.push_str(rng.pick(&[".\"", ".\"\n", ".\" "]));
}
