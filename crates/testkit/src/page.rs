//! Format pages as data: the tables and the annotated hex of `docs/format/*.md`, for tests that hold them against code.
//!
//! A page's sections start at `#` headings. Within one, a table whose first three columns are `offset`, `size` and `field`
//! lists the fields of a header, and a block fenced as `hex` holds bytes:
//!
//! ```text
//! 00: 68 6d 72 73   the offset in hex, the bytes, and after two spaces or more whatever explains them
//! ```
//! Everything here panics with words where a page is not like that: it is a test that reads it.

use hammerspace_bytes::Field;

/// The fields that the table under `heading` lists, in its order.
pub fn fields(page: &'static str, heading: &str) -> Vec<Field> {
    let (columns, rows) = table(page, heading);
    assert_eq!(columns[..3], ["offset", "size", "field"], "the columns under {heading:?}");
    rows.iter().map(|row| field(row)).collect()
}

/// The cells of the table under `heading`, row by row, without the names of the columns.
pub fn rows<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    table(page, heading).1
}

/// The names of the columns, and the rows.
fn table<'a>(page: &'a str, heading: &str) -> (Vec<&'a str>, Vec<Vec<&'a str>>) {
    let lines = section(page, heading).lines().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
    let mut rows = lines.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let columns = rows.next().unwrap_or_else(|| panic!("no table under {heading:?}"));
    (columns, rows.skip(1).collect())
}

fn field(row: &[&'static str]) -> Field {
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{text:?} is no number, in row {row:?}"));
    Field { name: row[2].trim_matches('`'), offset: number(row[0]), size: number(row[1]) }
}

/// The bytes that the first `hex` block under `heading` spells out, which must begin at offset 0 and leave no gap.
pub fn hex(page: &str, heading: &str) -> Vec<u8> {
    let block = section(page, heading).split("```hex\n").nth(1).unwrap_or_else(|| panic!("no hex under {heading:?}"));
    let mut bytes = Vec::new();
    for line in block.lines().take_while(|line| *line != "```").filter(|line| !line.trim().is_empty()) {
        let (offset, rest) = line.trim().split_once(": ").unwrap_or_else(|| panic!("no offset in {line:?}"));
        assert_eq!(usize::from_str_radix(offset, 16), Ok(bytes.len()), "the offset of {line:?}");
        let spelled = rest.split("  ").next().unwrap_or_default();
        bytes.extend(
            spelled.split(' ').map(|byte| {
                u8::from_str_radix(byte, 16).unwrap_or_else(|_| panic!("{byte:?} is no byte, in {line:?}"))
            }),
        );
    }
    bytes
}

/// What stands between a heading of these words and the next heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let is_heading = |line: &str| line.starts_with('#');
    let mut at = 0;
    let mut start = None;
    for line in page.split_inclusive('\n') {
        match start {
            None if is_heading(line) && line.trim_start_matches('#').trim() == heading => start = Some(at + line.len()),
            Some(start) if is_heading(line) => return &page[start..at],
            _ => {}
        }
        at += line.len();
    }
    &page[start.unwrap_or_else(|| panic!("no heading {heading:?}"))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Page\n\n| a | b |\n\n## Header\n\n| offset | size | field | meaning |\n|---:|---:|---|---|\n\
        | 0 | 4 | magic | `x` |\n| 4 | 8 | `end` | y |\n\n```hex\n00: 01 02   two\n02: ff\n```\n\n## Next\n| 1 | 2 | z |\n";

    #[test]
    fn a_page_is_read_section_by_section() {
        assert_eq!(fields(PAGE, "Header"), [Field::u32("magic", 0), Field::u64("end", 4)]);
        assert_eq!(hex(PAGE, "Header"), [1, 2, 0xff]);
        assert_eq!(rows(PAGE, "Header")[1], ["4", "8", "`end`", "y"]);
    }

    #[test]
    #[should_panic(expected = "the offset of")]
    fn a_gap_in_the_hex_is_noticed() {
        hex(&PAGE.replace("02: ", "03: "), "Header");
    }

    #[test]
    #[should_panic(expected = "no heading")]
    fn a_section_that_is_gone_is_noticed() {
        fields(PAGE, "Footer");
    }
}
