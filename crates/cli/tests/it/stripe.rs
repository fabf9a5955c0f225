//! Striped columns and files by value, through the command.

use serde_json::{Value, json};

use crate::ran::Place;

const SCHEMA: &str = "message event {
  required int64 id;
  required binary ts (STRING);
  optional group user { optional binary state (STRING); optional double age; }
  repeated group imp { optional double cost; repeated binary tag (STRING); }
}";

/// Events of three days, out of order.
fn events(count: u32) -> String {
    let event = |at: u32| {
        let (day, state) = (1 + at * 7 % 3, ["CA", "IL", "NY/US", ".x"][at as usize % 4]);
        let mut event = json!({ "id": at, "ts": format!("2011-06-{day:02}T12:00:00Z"), "user": { "state": state } });
        if at.is_multiple_of(3) {
            event["imp"] = json!([{ "cost": f64::from(at) / 4.0, "tag": ["a", "b"] }, {}]);
        }
        event.to_string() + "\n"
    };
    (0..count).map(event).collect()
}

fn parsed(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn place() -> Place {
    let place = Place::new();
    place.write("event.schema", SCHEMA);
    place.write("events.ndjson", events(500));
    place
}

#[test]
fn events_come_back_and_so_do_some_of_their_fields() {
    let place = place();
    let ran = place.run("stripe --schema event.schema events.ndjson -o out.parquet").ends(0);
    assert_eq!(ran.text(), "out.parquet: 500 records\n");
    let back = place.run("unstripe out.parquet").ends(0);
    assert_eq!(parsed(back.text()), parsed(&events(500)));
    let some = place.run("unstripe --fields id,imp.tag out.parquet").ends(0);
    assert!(
        some.text().starts_with("{\"id\":0,\"imp\":[{\"tag\":[\"a\",\"b\"]},{}]}\n{\"id\":1}\n"),
        "{}",
        some.text()
    );
    let refused = place.run("unstripe --fields imp.price out.parquet").ends(4);
    assert!(refused.stderr.contains("`imp.price`") && refused.stderr.contains("imp.cost"), "{}", refused.stderr);
}

#[test]
fn an_inferred_schema_fits_what_it_was_inferred_from() {
    let place = place();
    let schema = place.run("stripe --infer events.ndjson").ends(0);
    place.write("inferred.schema", schema.text());
    place.run("stripe --schema inferred.schema events.ndjson -o out.parquet").ends(0);
    assert_eq!(parsed(place.run("unstripe out.parquet").ends(0).text()), parsed(&events(500)));
    assert_eq!(place.run("unstripe --schema out.parquet").ends(0).text(), schema.text());
}

#[test]
fn what_does_not_fit_is_named_by_its_path_and_set_aside_on_request() {
    let place = place();
    let bad = "{\"id\":1,\"ts\":\"x\",\"imp\":[{},{\"cost\":\"dear\"}]}\n";
    place.write("mixed.ndjson", format!("{{\"id\":0,\"ts\":\"x\"}}\n{bad}{{\"id\":2,\"ts\":\"x\"}}\nno json\n"));
    let refused = place.run("stripe --schema event.schema mixed.ndjson -o out.parquet").ends(2);
    assert!(
        refused.stderr.contains("mixed.ndjson: line 2 does not fit the schema: imp[1].cost: "),
        "{}",
        refused.stderr
    );
    assert!(!place.path().join("out.parquet").exists());

    let ran = place.run("stripe --schema event.schema mixed.ndjson -o out.parquet --rejects bad.ndjson").ends(0);
    assert_eq!(ran.text(), "out.parquet: 2 records\n");
    assert!(ran.stderr.contains("2 lines do not fit"), "{}", ran.stderr);
    assert_eq!(place.read("bad.ndjson"), format!("{bad}no json\n").as_bytes());
    assert_eq!(place.run("unstripe --fields id out.parquet").ends(0).text(), "{\"id\":0}\n{\"id\":2}\n");
}

#[test]
fn a_record_larger_than_memory_passes() {
    let place = place();
    let imps: Vec<Value> =
        (0..60_000_u32).map(|at| json!({ "cost": f64::from(at) + 0.5, "tag": [format!("tag {at}")] })).collect();
    let large = json!({ "id": 1, "ts": "x", "imp": imps }).to_string();
    let lines = format!("{{\"id\":0,\"ts\":\"x\"}}\n{large}\n{{\"id\":2,\"ts\":\"x\"}}\n");
    place.write("large.ndjson", &lines);
    place.run("stripe --schema event.schema --memory 256KiB large.ndjson -o out.parquet").ends(0);
    assert_eq!(parsed(place.run("unstripe out.parquet").ends(0).text()), parsed(&lines));

    let broken = large.replace("\"tag 59999\"", "59999");
    place.write("large.ndjson", format!("{{\"id\":0,\"ts\":\"x\"}}\n{broken}\n"));
    place.run("stripe --schema event.schema --memory 256KiB large.ndjson -o out.parquet --rejects bad").ends(0);
    assert_eq!(place.run("unstripe --fields id out.parquet").ends(0).text(), "{\"id\":0}\n");
    assert_eq!(place.read("bad"), format!("{broken}\n").as_bytes());
}

#[test]
fn by_day_there_is_one_file_each_and_a_second_run_is_merged() {
    let place = place();
    let by_day = "stripe --schema event.schema events.ndjson -o days --by day(ts)";
    let ran = place.run(by_day).ends(0);
    let names = ["2011-06-01", "2011-06-02", "2011-06-03"];
    assert_eq!(ran.text().lines().count(), 3, "{}", ran.text());
    let expected = parsed(&events(500));
    let of_day = |name: &str| {
        let is_of = |event: &&Value| event["ts"].as_str().unwrap().starts_with(name);
        expected.iter().filter(is_of).cloned().collect::<Vec<_>>()
    };
    for name in names {
        let back = place.run(&format!("unstripe days/{name}.parquet")).ends(0);
        assert_eq!(parsed(back.text()), of_day(name));
    }
    let refused = place.run(by_day).ends(2);
    assert!(refused.stderr.contains("--on-existing merge"), "{}", refused.stderr);
    place.run(&format!("{by_day} --on-existing merge")).ends(0);
    let back = place.run("unstripe days/2011-06-02.parquet").ends(0);
    assert_eq!(parsed(back.text()), [of_day(names[1]), of_day(names[1])].concat());
    place.run(&format!("{by_day} --on-existing replace --memory 64KiB --open-files 2")).ends(0);
    let back = place.run("unstripe days/2011-06-02.parquet").ends(0);
    assert_eq!(parsed(back.text()), of_day(names[1]));
}

#[test]
fn values_that_cannot_name_a_file_go_where_the_answer_says() {
    let place = place();
    let ran = place.run("split --by user.state -o states events.ndjson").ends(0);
    let expected = "%2Ex.ndjson: 125 records, of the value \".x\"\nCA.ndjson: 125 records\nIL.ndjson: 125 records\n\
                    NY%2FUS.ndjson: 125 records, of the value \"NY/US\"\n";
    assert_eq!(ran.text(), expected);
    let ran = place.run("split --by user --on-existing merge -o states events.ndjson").ends(0);
    assert_eq!(ran.text(), "_unfit.ndjson: 500 records\n");
}

#[test]
fn a_space_goes_to_columns_and_back() {
    let place = Place::new();
    place.write(
        "pairs.ndjson",
        "{\"key\":\"a\",\"value\":\"1\"}\n{\"key_base64\":\"/w==\",\"value\":\"{\\\"day\\\":\\\"2011-06-20\\\"}\"}\n",
    );
    place.run("load space pairs.ndjson").ends(0);
    place.run("export space --format parquet -o out.parquet").ends(0);
    assert_eq!(place.run("unstripe out.parquet").ends(0).text(), place.run("export space").ends(0).text());
    place.run("load again out.parquet --key-column key --value-column value").ends(0);
    assert_eq!(place.run("export again").ends(0).text(), place.run("export space").ends(0).text());
    place.run("export space --format parquet --text -o text.parquet").ends(2);
    let ran = place.run("export space --format csv --by day(value.day) -o days").ends(0);
    assert_eq!(ran.text(), "2011-06-20.csv: 1 records\n_unfit.csv: 1 records\n");
    let ran = place.run("export space --format parquet --by value.day -o columns").ends(0);
    assert_eq!(ran.text(), "2011-06-20.parquet: 1 records\n_unfit.parquet: 1 records\n");
}

#[test]
fn nested_fields_are_keys_and_values_of_a_space() {
    let place = place();
    place.run("stripe --schema event.schema events.ndjson -o out.parquet").ends(0);
    place.run("load space out.parquet --key-column id --value-column user.state").ends(0);
    assert_eq!(place.run("get space 5").ends(0).text(), "IL");
    place.run("load several out.parquet --key-column ts --value-column id --value-column imp").ends(0);
    assert_eq!(
        place.run("get several 2011-06-01T12:00:00Z").ends(0).text(),
        "{\"id\":498,\"imp\":[{\"cost\":124.5,\"tag\":[\"a\",\"b\"]},{}]}"
    );
    let refused = place.run("load space out.parquet --key-column imp.cost --value-column id").ends(2);
    assert!(refused.stderr.contains("not a single value"), "{}", refused.stderr);
}

#[test]
fn a_table_of_a_store_goes_to_every_format_with_kind_version_and_expiry() {
    let place = Place::new();
    place.run("store create st --limit 64MiB").ends(0);
    place.run("store put st apple red --ttl 1h").ends(0);
    place.run("store incr st 7 --integer 3").ends(0);
    let lines = place.run("store export st").ends(0);
    let mut records = lines.objects();
    records.sort_by_key(|record| record["key"].as_str().unwrap().to_owned());
    assert_eq!(
        (&records[0]["key"], &records[0]["kind"], &records[0]["integer"]),
        (&json!("7"), &json!("add"), &json!(true))
    );
    assert_eq!((&records[1]["value"], &records[1]["kind"]), (&json!("red"), &json!("bytes")));
    assert!(records[1]["expiry"].is_string() && records[1]["version"].is_u64(), "{}", records[1]);

    place.run("store export st --format parquet -o out.parquet").ends(0);
    let mut columns = place.run("unstripe out.parquet").ends(0).objects();
    columns.sort_by_key(|record| record["key"].as_str().unwrap().to_owned());
    for (columns, record) in columns.iter().zip(&mut records) {
        record.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        assert_eq!(columns, record);
    }
    let rows = place.run("store export st --format csv --header-row").ends(0);
    assert!(rows.text().starts_with("key,value,integer,kind,version,expiry\n"), "{}", rows.text());
    assert!(rows.text().contains("7,3,true,add,"), "{}", rows.text());
    assert!(place.run("store export st --format tsv").ends(0).text().contains("apple\tred\tfalse\tbytes\t"));
    let ran = place.run("store export st --by kind -o kinds").ends(0);
    assert_eq!(ran.text(), "add.ndjson: 1 records\nbytes.ndjson: 1 records\n");
}

#[test]
fn as_a_reducer_it_writes_a_file_per_day_and_a_task_that_is_tried_again_counts_once() {
    let place = Place::new();
    let rows = b"2011-06-21,CA,5\n2011-06-20,\"a,b\",3\n2011-06-21,IL,4";
    let split = ["split", "--format", "csv", "--by", "1", "-o", "days", "--on-existing", "merge", "--run", "task_1"];
    place.feed(&place.hammerspace, &split, rows).ends(0);
    let again = place.feed(&place.hammerspace, &split, rows).ends(0);
    assert!(again.text().contains("was here before"), "{}", again.text());
    assert_eq!(place.read("days/2011-06-21.csv"), b"2011-06-21,CA,5\n2011-06-21,IL,4\n");
    assert_eq!(place.read("days/2011-06-20.csv"), b"2011-06-20,\"a,b\",3\n");
}
