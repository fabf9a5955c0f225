//! Our readers on what others wrote. For `.po` and `.mo` that is GNU gettext itself: `msgfmt` compiles what we read,
//! `msgunfmt` prints it back.
//!
//! The tools are those of the Debian packages `gettext` and `python3-yaml`. Without them these tests fail: there is nothing to
//! compare with.

mod catalogue;
mod gettext;
mod translations;
mod yaml;

use catalogue::Rng;
use gettext::{Endianness, msgfmt, msgunfmt};
use hammerspace_load::{Format, Options, read};

const SAMPLE: &[u8] = include_bytes!("../sample.po");
const OPTIONS: Options =
    Options { header_row: false, delimiter: None, key_column: None, value_columns: Vec::new(), catalogue_header: true };

type Pair = (Vec<u8>, Vec<u8>);

/// All pairs in the order of their keys, as no format but `.mo` has an order.
fn pairs(format: Format, bytes: &[u8]) -> hammerspace_error::Result<Vec<Pair>> {
    let mut pairs = Vec::new();
    read(format, bytes, &OPTIONS, &mut |key, value| {
        pairs.push((key.to_vec(), value.to_vec()));
        Ok(())
    })?;
    pairs.sort();
    Ok(pairs)
}

/// Every way from a `.po` to pairs, with gettext and without, leads to the same ones; says which does not.
fn agree(ours: &[u8], theirs: &[u8]) -> Result<(), String> {
    let expected = pairs(Format::Po, ours).map_err(|error| format!("our .po reader: {error}"))?;
    let check = |way: &str, format, bytes: &[u8]| match pairs(format, bytes) {
        Ok(found) if found == expected => Ok(()),
        Ok(found) => Err(format!("{way}: {}", first_difference(&expected, &found))),
        Err(error) => Err(format!("{way}: {error}")),
    };
    for endianness in [Endianness::Little, Endianness::Big] {
        let compiled = msgfmt(theirs, endianness)?;
        check(&format!("msgfmt, {endianness:?}"), Format::Mo, &compiled)?;
        check("msgfmt, msgunfmt", Format::Po, &msgunfmt(&compiled)?)?;
    }
    Ok(())
}

fn first_difference(ours: &[Pair], theirs: &[Pair]) -> String {
    let at = ours.iter().zip(theirs).position(|(a, b)| a != b).unwrap_or(ours.len().min(theirs.len()));
    let shown = |pairs: &[Pair]| match pairs.get(at) {
        Some((key, value)) => format!("{} = {}", key.escape_ascii(), value.escape_ascii()),
        None => "nothing".into(),
    };
    format!("we have {} where gettext has {}", shown(ours), shown(theirs))
}

#[test]
fn the_sample_reads_as_gettext_compiles_it() {
    agree(SAMPLE, SAMPLE).unwrap();
}

#[test]
fn random_catalogues_read_as_gettext_compiles_them() {
    for charset in ["UTF-8", "ISO-8859-1", "SHIFT_JIS"] {
        for seed in 0..8 {
            let catalogue = catalogue::random(&mut Rng(seed), charset);
            if let Err(difference) = agree(&catalogue, &catalogue) {
                panic!("seed {seed}, {charset}: {difference}");
            }
        }
    }
}

/// What gettext refuses, we refuse; the module names the exceptions.
#[test]
fn what_is_malformed_is_malformed_for_both() {
    for text in [
        "msgid \"a\nmsgstr \"b\"",
        "msgid \"a\"\nmsgstr \"b",
        "msgid \"a\"\n\nmsgid \"b\"\nmsgstr \"\"",
        "msgid \"a\"\n# between\nmsgstr \"b\"",
        "msgid \"a\"\nmsgctxt \"c\"\nmsgstr \"b\"",
        "msgid\nmsgstr \"b\"",
        "msgid \"a\"\nmsgstr[0] \"b\"",
        "msgid \"a\"\nmsgid_plural \"as\"\nmsgstr \"b\"",
        "msgid \"a\"\nmsgid_plural \"as\"\nmsgstr[1] \"b\"",
        "msgid \"a\"\nmsgid_plural \"as\"\nmsgstr[0] \"b\"\nmsgstr[2] \"c\"",
        "msgid \"a\"\nmsgstr \"\\q\"",
        "msgid \"a\"\nmsgstr \"\\xg\"",
        "msgid \"a\"\nmsgstr \"b\\4\"",
        "msgstr \"a\"",
        "msgid \"a\"",
        ";",
    ] {
        assert!(msgfmt(text.as_bytes(), Endianness::Little).is_err(), "gettext accepts {text}");
        assert!(pairs(Format::Po, text.as_bytes()).is_err(), "we accept {text}");
    }
}

/// A comparison that does not see one entry turned fuzzy, or one letter, sees nothing.
#[test]
fn canary_a_different_catalogue_is_noticed() {
    let sample = str::from_utf8(SAMPLE).unwrap();
    for (from, to) in [("#: src/menu.c:7", "#, fuzzy"), ("letzte", "Letzte"), ("msgctxt \"menu\"\n", "")] {
        assert!(sample.contains(from));
        agree(sample.replace(from, to).as_bytes(), SAMPLE).unwrap_err();
    }
}
