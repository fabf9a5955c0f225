//! Files by value: merged as they are, and never lost.

use std::fmt::Write;

use hammerspace_split::{By, Kind, OnExisting, Options as Split, Split as Run};
use hammerspace_stripe::{Files, Options, Reader, Schema, stripe_by};

fn write(dir: &std::path::Path, schema: &str, lines: &str, memory: usize) -> hammerspace_split::Result<()> {
    let (schema, options) = (Schema::parse(schema).unwrap(), Options { memory, ..Options::default() });
    let by: By = "day(ts)".parse().unwrap();
    let run = Run::begin(dir, Split { on_existing: OnExisting::Merge, open_max: 2, ..Split::new("parquet") })?;
    let mut files = Files::new(run, &schema, &options);
    stripe_by(lines.as_bytes(), &by, &schema, &options, |striped| files.append(&striped.tag, striped.group))?;
    files.commit().map(drop)
}

fn read(path: &std::path::Path) -> Vec<String> {
    let (reader, mut lines) = (Reader::open(path).unwrap(), Vec::new());
    let keep = |some: &[u8]| {
        lines.extend_from_slice(some);
        Ok(())
    };
    reader.unstripe(&[0, 1], 1, keep).unwrap();
    String::from_utf8(lines).unwrap().lines().map(String::from).collect()
}

const SCHEMA: &str = "message event { required binary ts (STRING); required int64 id; }";

#[test]
fn a_day_has_all_its_records_in_order_after_each_run() {
    let dir = tempfile::tempdir().unwrap();
    let (mut days, mut id) = (vec![Vec::new(); 5], 0);
    for memory in [1 << 14, 1 << 28, 1 << 16] {
        let mut lines = String::new();
        for _ in 0..2000 {
            id += 1;
            let day = id * 7 % 5;
            let line = format!("{{\"ts\":\"2011-06-0{}T00:00:00Z\",\"id\":{id}}}", day + 1);
            writeln!(lines, "{line}").unwrap();
            days[day].push(line);
        }
        write(dir.path(), SCHEMA, &lines, memory).unwrap();
        for (day, expected) in days.iter().enumerate() {
            assert_eq!(read(&dir.path().join(format!("2011-06-0{}.parquet", day + 1))), *expected);
        }
    }
}

#[test]
fn what_has_another_schema_is_not_merged_with() {
    let dir = tempfile::tempdir().unwrap();
    let line = "{\"ts\":\"2011-06-01\",\"id\":1}\n";
    write(dir.path(), SCHEMA, line, 1 << 20).unwrap();
    let other = "message event { required binary ts (STRING); optional int64 id; }";
    let error = write(dir.path(), other, line, 1 << 20).unwrap_err();
    assert_eq!(error.kind(), Kind::Invalid);
    assert!(error.path().unwrap().ends_with("2011-06-01.parquet"), "{error}");
    assert_eq!(read(&dir.path().join("2011-06-01.parquet")).len(), 1);
}
