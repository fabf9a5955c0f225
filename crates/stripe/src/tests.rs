//! The papers' examples, as they stand there.

use crate::{Options, Reader, Schema, Striper, Writer, stripe_all};

/// The schema of the Dremel paper's figure 2.
pub(crate) const DOCUMENT: &str = "message Document {
  required int64 DocId;
  optional group Links { repeated int64 Backward; repeated int64 Forward; }
  repeated group Name {
    repeated group Language { required binary Code (STRING); optional binary Country (STRING); }
    optional binary Url (STRING);
  }
}";

/// Its records r1 and r2.
const DOCUMENTS: [&str; 2] = [
    r#"{"DocId":10,"Links":{"Forward":[20,40,60]},"Name":[{"Language":[{"Code":"en-us","Country":"us"},{"Code":"en"}],"Url":"http://A"},{"Url":"http://B"},{"Language":[{"Code":"en-gb","Country":"gb"}]}]}"#,
    r#"{"DocId":20,"Links":{"Backward":[10,30],"Forward":[80]},"Name":[{"Url":"http://C"}]}"#,
];

/// The schema s4 of "Efficient Field-Striped, Nested, Disk-backed Record Storage" (2012).
const EMPLOYEE: &str = "message Employee {
  required int64 EmpId;
  repeated group Dept {
    optional int64 DeptId;
    optional binary Name (STRING);
    repeated group Loc { required binary Building (STRING); repeated int32 Floor; }
  }
}";

/// Records like its r41, r42 and r43: two places without floors, floors, no department, a department without a place.
const EMPLOYEES: [&str; 3] = [
    r#"{"EmpId":41,"Dept":[{"DeptId":1,"Name":"R&D","Loc":[{"Building":"A"},{"Building":"B"}]},{"DeptId":2,"Loc":[{"Building":"C","Floor":[2,3]}]}]}"#,
    r#"{"EmpId":42}"#,
    r#"{"EmpId":43,"Dept":[{"DeptId":3,"Name":"Sales"}]}"#,
];

/// Repetition and definition levels of each leaf.
fn levels(schema: &str, records: &[&str]) -> Vec<(String, Vec<i16>, Vec<i16>)> {
    let schema = Schema::parse(schema).unwrap();
    let mut striper = Striper::new(&schema);
    for record in records {
        striper.json(record.as_bytes()).unwrap().unwrap();
    }
    let columns = striper.into_columns();
    schema.leaves().into_iter().zip(columns).map(|(path, column)| (path, column.reps, column.defs)).collect()
}

/// Through a file, and back with these fields.
fn through_a_file(schema: &str, records: &[&str], fields: &[&str]) -> Vec<String> {
    let schema = Schema::parse(schema).unwrap();
    let options = Options::default();
    let mut writer = Writer::new(tempfile::NamedTempFile::new().unwrap(), &schema, &options).unwrap();
    let lines = records.join("\n");
    stripe_all(lines.as_bytes(), &schema, &options, |striped| {
        assert!(striped.rejects.is_empty());
        writer.append(striped.group)
    })
    .unwrap();
    let file = writer.finish().unwrap();
    let reader = Reader::open(file.path()).unwrap();
    let leaves = reader.schema().select(fields).unwrap();
    let mut lines = Vec::new();
    let keep = |some: &[u8]| {
        lines.extend_from_slice(some);
        Ok(())
    };
    reader.unstripe(&leaves, 1, keep).unwrap();
    String::from_utf8(lines).unwrap().lines().map(String::from).collect()
}

/// Figure 3 of the Dremel paper.
#[test]
fn levels_are_those_of_the_dremel_paper() {
    let expected: [(&str, &[i16], &[i16]); 6] = [
        ("DocId", &[], &[]),
        ("Links.Backward", &[0, 0, 1], &[1, 2, 2]),
        ("Links.Forward", &[0, 1, 1, 0], &[2, 2, 2, 2]),
        ("Name.Language.Code", &[0, 2, 1, 1, 0], &[2, 2, 1, 2, 1]),
        ("Name.Language.Country", &[0, 2, 1, 1, 0], &[3, 2, 1, 3, 1]),
        ("Name.Url", &[0, 1, 1, 0], &[2, 2, 1, 2]),
    ];
    let found = levels(DOCUMENT, &DOCUMENTS);
    let expected: Vec<_> = expected.map(|(path, reps, defs)| (path.to_owned(), reps.to_vec(), defs.to_vec())).into();
    assert_eq!(found, expected);
}

/// The field-stripe paper's stripe of `Dept.Loc.Floor`: `UNSET, rp 2, UNSET, rp 1, 2, rv, 3, pu 1, pu 2`.
#[test]
fn levels_are_those_of_the_field_stripe_paper() {
    let found = levels(EMPLOYEE, &EMPLOYEES);
    let floor = found.iter().find(|(path, ..)| path == "Dept.Loc.Floor").unwrap();
    assert_eq!((&floor.1[..], &floor.2[..]), (&[0, 2, 1, 3, 0, 0][..], &[2, 2, 3, 3, 0, 1][..]));
}

#[test]
fn records_of_both_papers_come_back() {
    let all = ["DocId", "Links", "Name"];
    assert_eq!(through_a_file(DOCUMENT, &DOCUMENTS, &all), DOCUMENTS);
    assert_eq!(through_a_file(EMPLOYEE, &EMPLOYEES, &["EmpId", "Dept"]), EMPLOYEES);
}

/// The Dremel paper's figure 2 shows them as s1 and s2; the field-stripe paper asks for these three fields.
#[test]
fn partial_records_are_those_of_the_papers() {
    let partial = through_a_file(DOCUMENT, &DOCUMENTS, &["DocId", "Name.Language.Country"]);
    let expected = [
        r#"{"DocId":10,"Name":[{"Language":[{"Country":"us"},{}]},{},{"Language":[{"Country":"gb"}]}]}"#,
        r#"{"DocId":20,"Name":[{}]}"#,
    ];
    assert_eq!(partial, expected);
    let partial = through_a_file(EMPLOYEE, &EMPLOYEES, &["EmpId", "Dept.DeptId", "Dept.Loc.Floor"]);
    let expected = [
        r#"{"EmpId":41,"Dept":[{"DeptId":1,"Loc":[{},{}]},{"DeptId":2,"Loc":[{"Floor":[2,3]}]}]}"#,
        r#"{"EmpId":42}"#,
        r#"{"EmpId":43,"Dept":[{"DeptId":3}]}"#,
    ];
    assert_eq!(partial, expected);
}
