"""Exact sets beside their peer, pyroaring: each reads the Roaring bytes that the other writes.

Called with the command and a directory to work in.
"""

import random
import subprocess
import sys
from pathlib import Path

from pyroaring import BitMap

HAMMERSPACE, SCRATCH = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
IDS = 200_000


def run(*words: str, given: bytes = b"") -> bytes:
    return subprocess.run([HAMMERSPACE, *words], input=given, cwd=SCRATCH, check=True, stdout=subprocess.PIPE).stdout


def lines(ids) -> bytes:
    return "".join(f"{number}\n" for number in ids).encode()


def export(expression: str) -> BitMap:
    return BitMap.deserialize(run("store", "set", "export", "sets", expression))


def check_theirs(name: str, bitmap: BitMap) -> None:
    """What pyroaring writes is the set that it was."""
    count = run("store", "set", "import", "sets", name, given=bitmap.serialize())
    assert int(count) == len(bitmap), name
    # Ids are their own ordinals here. To list nothing is to have found nothing, exit code 1.
    if bitmap:
        assert [int(line) for line in run("store", "set", "list", "sets", name).split()] == list(bitmap), name
    assert export(name) == bitmap, name


def main() -> None:
    rng = random.Random(7)
    run("store", "create", "sets", "--limit", "128MiB", "--region", ".")
    run("store", "set", "add", "sets", "all", "--integer", given=lines(range(IDS)))
    assert export("all") == BitMap(range(IDS))
    ours = {name: BitMap(rng.sample(range(IDS), count)) for name, count in [("few", 50), ("some", 5000), ("many", 120_000)]}
    for name, bitmap in ours.items():
        run("store", "set", "add", "sets", name, "--integer", given=lines(bitmap))
        assert export(name) == bitmap, name
    few, some, many = ours.values()
    assert export("many & some - few") == many & (some - few)
    assert export("many ^ some | few") == (many ^ some) | few
    runs = BitMap(range(1000, 90_000)) | BitMap(range(131_000, 131_100))
    runs.run_optimize()
    for name, bitmap in [("runs", runs), ("none", BitMap()), ("theirs", BitMap(rng.sample(range(IDS), 70_000)))]:
        check_theirs(name, bitmap)
    run("store", "verify", "sets")
    run("store", "remove", "sets")


main()
