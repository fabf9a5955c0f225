"""pyarrow and DuckDB read what `hammerspace stripe` writes, and `unstripe` reads what they write.

Usage: peers.py PROGRAM SCRATCH
"""

import base64
import datetime
import decimal
import json
import pathlib
import random
import subprocess
import sys

import duckdb
import pyarrow
import pyarrow.parquet as parquet

PROGRAM, SCRATCH = (pathlib.Path(word).resolve() for word in sys.argv[1:3])

SCHEMA = """message event {
  required int64 id;
  required int64 ts (TIMESTAMP(MILLIS,true));
  optional int32 day (DATE);
  optional group user { optional binary state (STRING); required double age; optional int32 price (DECIMAL(9,2)); }
  repeated group imp { optional float cost; repeated binary tag (STRING); repeated group place { required int32 x; optional int32 y; } }
  optional group visits (LIST) { repeated group list { optional int64 element; } }
  optional boolean ok;
  optional int64 large (INTEGER(64,false));
}"""


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], check=True, capture_output=True, text=True, cwd=SCRATCH).stdout


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def bare(value):
    """The value without what is null, and without empty lists of repeated fields, which are the same as absent ones."""
    if isinstance(value, dict):
        members = {name: bare(member) for name, member in value.items()}
        return {name: member for name, member in members.items() if member is not None and (member != [] or name == "visits")}
    if isinstance(value, list):
        return [bare(item) for item in value]
    return plain(value)


def plain(value):
    """The value as our JSON has it."""
    if isinstance(value, datetime.datetime):
        utc = value.replace(tzinfo=None).isoformat(timespec="microseconds").rstrip("0").rstrip(".")
        return utc + ("Z" if value.tzinfo else "")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    return value


def events(seed, count):
    rng = random.Random(seed)
    for at in range(count):
        event = {"id": rng.randrange(-(2**63), 2**63), "ts": f"20{rng.randrange(10, 40)}-0{rng.randrange(1, 10)}-11T12:00:{rng.randrange(10, 60)}Z"}
        if rng.random() < 0.8:
            event["day"] = f"{rng.randrange(1900, 2100)}-12-{rng.randrange(10, 31)}"
            event["user"] = {"state": rng.choice(["CA", "\u20ac\"\\\n", ""]), "age": rng.random(), "price": rng.randrange(10**9) / 100}
        if rng.random() < 0.7:
            event["imp"] = [impression(rng) for _ in range(rng.randrange(1, 4))]
        if rng.random() < 0.7:
            event["visits"] = [rng.choice([None, rng.randrange(1000)]) for _ in range(rng.randrange(4))]
        if rng.random() < 0.5:
            event["ok"] = rng.random() < 0.5
            event["large"] = rng.randrange(2**64)
        yield event


def impression(rng):
    made = {"cost": rng.randrange(1000) / 8, "tag": [str(rng.randrange(9)) for _ in range(rng.randrange(3))]}
    made["place"] = [{"x": rng.randrange(100), "y": rng.randrange(100)} for _ in range(rng.randrange(3))]
    return {name: value for name, value in made.items() if value != [] and rng.random() < 0.8}


def ours_is_read_by(name, read):
    for seed, options in enumerate([[], ["--compression", "zstd"], ["--compression", "none", "--memory", "64KiB"]]):
        written = list(events(seed, 3000))
        (SCRATCH / "events.ndjson").write_text("".join(json.dumps(event) + "\n" for event in written))
        run("stripe", "--schema", "event.schema", "events.ndjson", "-o", "ours.parquet", *options)
        expect(f"{name}, seed {seed}", [bare(event) for event in read(SCRATCH / "ours.parquet")], [bare(event) for event in written])
        expect(f"ourselves, seed {seed}", [bare(event) for event in lines(run("unstripe", "ours.parquet"))], [bare(event) for event in written])


def expect(what, found, expected):
    if len(found) != len(expected):
        sys.exit(f"{what}: {len(found)} records instead of {len(expected)}")
    for at, (one, other) in enumerate(zip(found, expected)):
        if one != other:
            sys.exit(f"{what}: record {at} is\n{one}\ninstead of\n{other}")


def read_by_duckdb(path):
    cursor = duckdb.connect().execute("SET TimeZone = 'UTC'").execute(f"SELECT * FROM read_parquet('{path}')")
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row)) for row in cursor.fetchall()]


def merged_days_are_read():
    run("stripe", "--schema", "event.schema", "events.ndjson", "--by", "month(ts)", "-o", "months")
    run("stripe", "--schema", "event.schema", "events.ndjson", "--by", "month(ts)", "-o", "months", "--on-existing", "merge")
    count = len((SCRATCH / "events.ndjson").read_text().splitlines())
    assert parquet.read_table(SCRATCH / "months").num_rows == 2 * count
    total = f"SELECT count(*), count(DISTINCT id) FROM read_parquet('{SCRATCH}/months/*.parquet')"
    assert duckdb.connect().execute(total).fetchone() == (2 * count, count)


def table():
    utc = datetime.timezone.utc
    return pyarrow.table({
        "i8": pyarrow.array([1, None, -128], pyarrow.int8()),
        "u64": pyarrow.array([2**64 - 1, None, 0], pyarrow.uint64()),
        "f": pyarrow.array([0.5, None, float("-inf")], pyarrow.float32()),
        "s": pyarrow.array(["a", None, "a"]).dictionary_encode(),
        "b": pyarrow.array([b"\xff\x00", None, b"text"], pyarrow.binary()),
        "d": pyarrow.array([datetime.date(2011, 6, 20), None, datetime.date(1969, 12, 31)]),
        "us": pyarrow.array([datetime.datetime(2011, 6, 20, 1, 2, 3, 4), None, datetime.datetime(1960, 1, 1)], pyarrow.timestamp("us")),
        "tz": pyarrow.array([datetime.datetime(2011, 6, 20, 1, tzinfo=utc), None, None], pyarrow.timestamp("ms", "UTC")),
        "dec": pyarrow.array([decimal.Decimal("12.30"), None, decimal.Decimal("-0.05")], pyarrow.decimal128(9, 2)),
        "wide": pyarrow.array([decimal.Decimal("12345678901234567890.5"), None, None], pyarrow.decimal128(38, 1)),
        "l": pyarrow.array([[1, None], [], None], pyarrow.list_(pyarrow.int64())),
        "ll": pyarrow.array([[[1], [], None], None, [[2, 3]]], pyarrow.list_(pyarrow.list_(pyarrow.int32()))),
        "st": pyarrow.array([{"x": 1, "y": [{"z": "q"}, None]}, None, {"x": None, "y": None}]),
        "m": pyarrow.array([[("k", 1)], [], None], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
    })


EXPECTED = [
    {"i8": 1, "u64": 2**64 - 1, "f": 0.5, "s": "a", "b_base64": base64.b64encode(b"\xff\x00").decode(), "d": "2011-06-20",
     "us": "2011-06-20T01:02:03.000004", "tz": "2011-06-20T01:00:00Z", "dec": 12.30, "wide": "12345678901234567890.5",
     "l": [1, None], "ll": [[1], [], None], "st": {"x": 1, "y": [{"z": "q"}, None]}, "m": [{"key": "k", "value": 1}]},
    {"l": [], "m": []},
    {"i8": -128, "u64": 0, "f": "-Infinity", "s": "a", "b": "text", "d": "1969-12-31", "us": "1960-01-01T00:00:00", "dec": -0.05,
     "ll": [[2, 3]], "st": {}},
]


def theirs_is_read():
    ways = [dict(compression="snappy"), dict(compression="zstd", data_page_version="2.0"), dict(compression="none", use_dictionary=False),
            dict(use_deprecated_int96_timestamps=True), dict(row_group_size=1)]
    for way in ways:
        parquet.write_table(table(), SCRATCH / "theirs.parquet", **way)
        found = lines(run("unstripe", "theirs.parquet"))
        if "use_deprecated_int96_timestamps" in way:
            for record in found:
                record["us"] = record["us"].rstrip("Z") if "us" in record else None
            found = [{name: value for name, value in record.items() if value is not None} for record in found]
        expect(f"pyarrow's, {way}", found, EXPECTED)
        # What they wrote, in our columns again, by their schema.
        (SCRATCH / "theirs.schema").write_text(run("unstripe", "--schema", "theirs.parquet"))
        (SCRATCH / "theirs.ndjson").write_text(run("unstripe", "theirs.parquet"))
        run("stripe", "--schema", "theirs.schema", "theirs.ndjson", "-o", "again.parquet")
        if "use_deprecated_int96_timestamps" not in way:
            expect(f"and back, {way}", parquet.read_table(SCRATCH / "again.parquet").to_pylist(), table().to_pylist())
    query = f"COPY (SELECT * FROM read_json('{SCRATCH}/events.ndjson')) TO '{SCRATCH}/duck.parquet' (FORMAT parquet)"
    duckdb.connect().execute(query)
    found = [bare(event) for event in lines(run("unstripe", "--fields", "imp,visits,ok", "duck.parquet"))]
    wanted = [{name: event[name] for name in ("imp", "visits", "ok") if name in event} for event in lines((SCRATCH / "events.ndjson").read_text())]
    expect("DuckDB's", found, [bare(event) for event in wanted])


def main():
    SCRATCH.mkdir(parents=True, exist_ok=True)
    (SCRATCH / "event.schema").write_text(SCHEMA)
    ours_is_read_by("pyarrow", lambda path: parquet.read_table(path).to_pylist())
    ours_is_read_by("DuckDB", read_by_duckdb)
    merged_days_are_read()
    theirs_is_read()
    print(f"pyarrow {pyarrow.__version__} and DuckDB {duckdb.__version__} agree")


main()
