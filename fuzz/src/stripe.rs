//! Striped columns: a schema and lines of it. Damaged files are a test of the crate: its library panics on some, which a
//! fuzzer takes for an end where a reader makes an error of it.

use std::io::Write;

use hammerspace_error::Result;
use hammerspace_os::File;
use hammerspace_stripe::{Options, Reader, Schema, Writer, stripe_all};

/// Checks on `data`: a schema, a line `--`, and lines of JSON.
pub fn check(data: &[u8]) {
    check_reader(&lines, data);
}

/// How a file's records are put together.
pub(crate) type Lines = dyn Fn(&Reader) -> Result<Vec<u8>>;

pub(crate) fn check_reader(lines: &Lines, data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some((schema, text)) = text.split_once("\n--\n") else { return };
    let Ok(schema) = Schema::parse(schema) else { return };
    let first = through_a_file(lines, &schema, text.as_bytes());
    let again = through_a_file(lines, &Schema::parse(&schema.text()).expect("what is printed is a schema"), &first);
    assert!(first == again, "what came back does not come back: {}", String::from_utf8_lossy(&first));
}

fn open(data: &[u8]) -> Result<Reader> {
    let mut file = File::without_name("fuzz")?;
    file.write_all(data).expect("memory takes it");
    Reader::new(file)
}

pub(crate) fn lines(reader: &Reader) -> Result<Vec<u8>> {
    let leaves: Vec<usize> = (0..reader.schema().leaves().len()).collect();
    let mut lines = Vec::new();
    reader.unstripe(&leaves, 1, |some| {
        lines.extend_from_slice(some);
        Ok(())
    })?;
    Ok(lines)
}

/// Those of the lines that fit, striped and put together again.
fn through_a_file(lines: &Lines, schema: &Schema, text: &[u8]) -> Vec<u8> {
    let options = Options { workers: 1, ..Options::default() };
    let mut writer = Writer::new(Vec::new(), schema, &options).expect("memory takes it");
    let striped = stripe_all(text, schema, &options, |striped| writer.append(striped.group));
    striped.expect("lines that do not fit are no error");
    let rows = writer.rows();
    let file = writer.finish().expect("memory takes it");
    let reader = open(&file).expect("it is ours");
    let lines = lines(&reader).expect("it is ours");
    assert_eq!(lines.iter().filter(|byte| **byte == b'\n').count() as u64, rows, "a line for each record");
    lines
}
