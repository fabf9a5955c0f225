"""Striping beside pyarrow, unstriping beside DuckDB, some fields beside all, and by day beside one file.

Usage: bench.py SCRATCH [--small]

Prints rows as JSON for the bench program. `HAMMERSPACE` names the command.
"""

import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import time

import duckdb

PROGRAM = os.environ["HAMMERSPACE"]
SCRATCH = pathlib.Path(sys.argv[1]) / "stripe"
SMALL = "--small" in sys.argv
BYTES, ROUNDS = (2_000_000, 1) if SMALL else (1_000_000_000, 3)

SCHEMA = """message event {
  required binary id (STRING);
  required binary ts (STRING);
  required int64 campaign;
  required group user {
    required int64 id;
    required group geo { required binary state (STRING); required binary city (STRING); optional double lat; optional double lon; }
    optional binary agent (STRING);
  }
  repeated group imps {
    required int64 ad;
    required double cost;
    required binary url (STRING);
    optional boolean seen;
    repeated binary tags (STRING);
  }
}"""

STATES = [a + b for a in "ABCDEFGHIJ" for b in "KLMNO"]

PYARROW = """
import sys, time, pyarrow.json, pyarrow.parquet
options = pyarrow.json.ReadOptions(block_size=16 << 20)
start = time.perf_counter()
pyarrow.parquet.write_table(pyarrow.json.read_json(sys.argv[1], options), sys.argv[2])
print(time.perf_counter() - start)
"""

DUCKDB = """
import sys, time, duckdb
start = time.perf_counter()
duckdb.connect().execute(f"COPY (SELECT * FROM read_parquet('{sys.argv[1]}')) TO '{sys.argv[2]}' (FORMAT json)")
print(time.perf_counter() - start)
"""


def generate(path):
    """Nested events of 30 days and 50 states, out of order, about 800 bytes each."""
    rng = random.Random(7)
    size = 0
    with open(path, "w") as file:
        while size < BYTES:
            some = "".join(event(rng) for _ in range(1000))
            size += file.write(some)


def event(rng):
    user, day = rng.randrange(10**7), rng.randrange(1, 31)
    made = {
        "id": f"{rng.getrandbits(96):024x}",
        "ts": f"2011-06-{day:02}T{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}Z",
        "campaign": rng.randrange(500),
        "user": {
            "id": user,
            "geo": {"state": STATES[user % 50], "city": f"city {user % 4999}", "lat": round(rng.uniform(-90, 90), 5), "lon": round(rng.uniform(-180, 180), 5)},
            "agent": f"Mozilla/5.0 (X11; Linux x86_64; rv:{user % 97}.0) Gecko/20100101 Firefox/{user % 97}.0",
        },
        "imps": [impression(rng) for _ in range(rng.randrange(1, 5))],
    }
    return json.dumps(made, separators=(",", ":")) + "\n"


def impression(rng):
    ad = rng.randrange(20_000)
    made = {"ad": ad, "cost": rng.randrange(1, 10**6) / 10**4, "url": f"https://ads.example.com/{ad % 300}/creative/{ad}.html?slot={rng.randrange(10**6)}"}
    if rng.random() < 0.8:
        made["seen"] = rng.random() < 0.5
    made["tags"] = [f"tag{rng.randrange(40)}" for _ in range(rng.randrange(1, 4))]
    return made


def ours(*words, output=None):
    """Seconds that a run of the command takes."""
    for path in (output, ) if output else ():
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    start = time.perf_counter()
    subprocess.run([PROGRAM, *map(str, words)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def theirs(program, *words):
    """Seconds that a peer says it took, so that starting Python does not count."""
    done = subprocess.run([sys.executable, "-c", program, *map(str, words)], check=True, capture_output=True, text=True)
    return float(done.stdout.splitlines()[-1])


def in_turn(*works):
    times = [[work() for work in works] for _ in range(ROUNDS)]
    return [statistics.median(column) for column in zip(*times)]


def main():
    SCRATCH.mkdir(exist_ok=True)
    lines, schema, one = SCRATCH / "events.ndjson", SCRATCH / "event.schema", SCRATCH / "one.parquet"
    back, days, peer, some = SCRATCH / "back.ndjson", SCRATCH / "days", SCRATCH / "peer.parquet", SCRATCH / "some.ndjson"
    schema.write_text(SCHEMA)
    generate(lines)
    few = "campaign,user.geo.state,user.geo.city"
    stripe = ["stripe", "--schema", schema, lines, "-o"]
    striped, pyarrow, by_day = in_turn(
        lambda: ours(*stripe, one, output=one),
        lambda: theirs(PYARROW, lines, peer),
        lambda: ours(*stripe, days, "--by", "day(ts)", output=days),
    )
    whole, fields, peers = in_turn(
        lambda: ours("unstripe", one, "-o", back, output=back),
        lambda: ours("unstripe", "--fields", few, one, "-o", some, output=some),
        lambda: theirs(DUCKDB, one, SCRATCH / "duck.json"),
    )
    check(lines, back, days)
    if not SMALL:
        print(f"three fields are {share(one, few):.1%} of the bytes", file=sys.stderr)
    report([
        ("striping 1 GB of nested JSON", striped, pyarrow, "pyarrow", "<= 1.5"),
        ("striping it by day, 30 days of 50 states", by_day, striped, "one file", "<= 1.3"),
        ("unstriping everything", whole, peers, "DuckDB", "<= 1.5"),
        ("unstriping three fields of few bytes, of everything", fields, whole, "all fields", "<= 0.125"),
    ])


def share(path, fields):
    """What these columns have of all bytes of a file's columns."""
    query = f"SELECT path_in_schema, sum(total_uncompressed_size) FROM parquet_metadata('{path}') GROUP BY ALL"
    sizes = {name.replace(", ", "."): int(size) for name, size in duckdb.connect().execute(query).fetchall()}
    return sum(sizes[name] for name in fields.split(",")) / sum(sizes.values())


def check(lines, back, days):
    """What came back is what went in, and each day's file has that day's records."""
    with open(lines) as one, open(back) as other:
        for at, (expected, found) in enumerate(zip(one, other, strict=True)):
            if at % (1 if SMALL else 97) == 0:
                assert json.loads(expected) == json.loads(found), at
    assert len(list(days.glob("2011-06-*.parquet"))) == 30


def report(rows):
    names = ("name", "ours", "peer", "peer_name", "goal")
    print(json.dumps([dict(zip(names, row), unit="s") | ({"goal": None} if SMALL else {}) for row in rows]))


main()
