//! CSV files of values, plain or gzipped.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use csv::StringRecord;
use flate2::read::GzDecoder;
use hammerspace_sketch::hll::{Hll, HllBuf};

/// The rows of a file, without the names of its columns.
pub(crate) fn rows(path: &Path, delimiter: u8) -> Vec<StringRecord> {
    let file = BufReader::new(File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
    let is_gzipped = path.extension().is_some_and(|extension| extension == "gz");
    let text: Box<dyn Read> = if is_gzipped { Box::new(GzDecoder::new(file)) } else { Box::new(file) };
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(text);
    reader.records().map(|row| row.unwrap_or_else(|error| panic!("{}: {error}", path.display()))).collect()
}

/// The bytes that `\x` and hexadecimal digits stand for.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    let digits = text.strip_prefix("\\x").unwrap_or_else(|| panic!("{text} does not begin with \\x"));
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("a byte in hexadecimal");
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// The value that the text stands for, as it is.
pub(crate) fn parsed<T>(text: &str, look: impl FnOnce(Hll) -> T) -> T {
    let bytes = bytes(text);
    look(Hll::parse(&bytes).unwrap_or_else(|error| panic!("{text}: {error}")))
}

/// The value that the text stands for, written by our rule.
pub(crate) fn read(text: &str) -> HllBuf {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Whether two estimates are the same, up to how the logarithm rounds. PostgreSQL's NaN is our infinity.
pub(crate) fn is_close(ours: f64, theirs: f64) -> bool {
    if theirs.is_finite() { (ours - theirs).abs() <= 1e-12 * theirs.abs().max(1.0) } else { ours.is_infinite() }
}
