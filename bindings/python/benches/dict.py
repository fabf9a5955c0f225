"""The package beside Python's own dict: ``dict.py SCRATCH [--small]`` prints rows as JSON.

The data is that of ``hammerspace demo --full``: what LibreOffice says in 33 languages. We and the dict take turns, and the
medians of the rounds count; LMDB too, which is what Python has for maps that processes share. Keys are looked up in three ways:

* made anew, as a program makes them from what it was asked: the dict hashes and compares them;
* kept by the program, as literals are: their hash is known, and the dict compares them with its own;
* the dict's own objects, which are equal by being the same: as cheap as a dict can be asked, and as only those ask who have
  their keys from it.
"""

from __future__ import annotations

import gettext
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lmdb

import hammerspace

SMALL = "--small" in sys.argv
ROUNDS, LOOKUPS = (3, 2_000) if SMALL else (9, 200_000)
BATCH, WORKERS = 100, 8
CATALOGUES = "hammerspace/libreoffice-l10n/usr/lib/libreoffice/program/resource"


def pairs() -> Iterator[tuple[str, str]]:
    """Locale, catalogue and message, and what it is in the language."""
    if SMALL:
        yield from ((f"de.small.message {n}", f"Nachricht {n} ü") for n in range(1000))
        return
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    found = sorted((Path(cache) / CATALOGUES).glob("*/LC_MESSAGES/*.mo"))
    if not found:
        sys.exit("the data is not there: `cargo xtask bench python` fetches it")
    for file in found:
        prefix = f"{file.parent.parent.name}.{file.stem}."
        with file.open("rb") as opened:
            catalogue: dict[Any, str] = gettext.GNUTranslations(opened)._catalog
        for key, value in catalogue.items():
            yield prefix + (key if isinstance(key, str) else f"{key[0]} {key[1]}"), value


def each(mapping: Any, keys: list[str]) -> None:
    for key in keys:
        mapping[key]


def anew(mapping: Any, keys: list[bytes]) -> None:
    for key in keys:
        mapping[key.decode()]


def each_of_lmdb(get: Any, keys: list[str]) -> None:
    for key in keys:
        get(key.encode()).decode()


def anew_of_lmdb(get: Any, keys: list[bytes]) -> None:
    for key in keys:
        get(key).decode()


def within(mapping: Any, keys: list[str]) -> None:
    for key in keys:
        key in mapping


def one_by_one(mapping: Any, batches: list[list[str]]) -> None:
    for batch in batches:
        [mapping[key] for key in batch]


def at_once(mapping: Any, batches: list[list[str]]) -> None:
    for batch in batches:
        mapping.get_many(batch)


def anew_one_by_one(mapping: Any, batches: list[list[bytes]]) -> None:
    for batch in batches:
        [mapping[key.decode()] for key in batch]


def anew_at_once(mapping: Any, batches: list[list[bytes]]) -> None:
    for batch in batches:
        mapping.get_many([key.decode() for key in batch])


def iterate(mapping: Any, _: Any) -> None:
    for _key, _value in mapping.items():
        pass


def batches(keys: list[Any]) -> list[list[Any]]:
    return [keys[at : at + BATCH] for at in range(0, len(keys), BATCH)]


Work = Callable[[Any, Any], None]


def in_lmdb(pairs: dict[str, str], place: Path) -> lmdb.Environment:
    """The same in LMDB, but for keys that are too long for it."""
    environment = lmdb.open(str(place), map_size=1 << 30, sync=False)
    with environment.begin(write=True) as transaction:
        for key, value in sorted((key.encode(), value.encode()) for key, value in pairs.items()):
            if len(key) <= environment.max_key_size():
                transaction.put(key, value)
    return environment


def in_turn(works: tuple[Work, Work], mappings: tuple[Any, Any], draw: Callable[[], Any], per: int) -> list[float]:
    """Nanoseconds for one, with fresh keys in each turn: whose keys have just been used finds them in the cache."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for work, mapping, taken in zip(works, mappings, times):
            keys = draw()
            started = time.perf_counter()
            work(mapping, keys)
            taken.append((time.perf_counter() - started) / per * 1e9)
    return [statistics.median(taken) for taken in times]


class Bench:
    def __init__(self, ours: hammerspace.Space[str], theirs: dict[str, str], lmdb: lmdb.Environment) -> None:
        self.ours, self.theirs, self.lmdb = ours, theirs, lmdb
        self.random = random.Random(7)
        self.own = list(theirs)
        self.kept = [key[:1] + key[1:] for key in self.own]
        self.short = [key for key in self.kept if len(key.encode()) <= lmdb.max_key_size()]
        assert {*self.kept} == theirs.keys() and self.kept[0] is not self.own[0], "they are equal, and their hash is known"
        self.rows: list[dict[str, Any]] = []

    def row(self, name: str, unit: str, ours: float, peer: float, goal: str | None = None, to: str = "dict") -> None:
        goal = None if SMALL else goal
        self.rows.append({"name": name, "unit": unit, "ours": ours, "peer": peer, "peer_name": to, "goal": goal})

    def compare(
        self,
        name: str,
        works: tuple[Work, Work],
        draw: Callable[[], Any],
        goal: str | None = None,
        per: int = LOOKUPS,
    ) -> None:
        """Nanoseconds for one."""
        self.row(name, "ns", *in_turn(works, (self.ours, self.theirs), draw, per), goal)

    def compare_lmdb(self, name: str, works: tuple[Work, Work], draw: Callable[[], Any]) -> None:
        with self.lmdb.begin() as transaction:
            self.row(name, "ns", *in_turn(works, (self.ours, transaction.get), draw, LOOKUPS), to="LMDB")

    def draw(self) -> list[str]:
        return self.random.choices(self.own, k=LOOKUPS)

    def draw_anew(self) -> list[bytes]:
        return [key.encode() for key in self.draw()]

    def draw_kept(self) -> list[str]:
        return self.random.choices(self.kept, k=LOOKUPS)

    def lookups(self) -> None:
        self.compare("h[key], keys made anew", (anew, anew), self.draw_anew, "<= 1.3")
        self.compare("h[key], keys kept by the program", (each, each), self.draw_kept, "<= 1.3")
        # Without a goal: see `docs/design/notes.md`.
        self.compare("h[key], the dict's own keys", (each, each), self.draw)
        short = lambda: self.random.choices(self.short, k=LOOKUPS)
        short_anew = lambda: [key.encode() for key in short()]
        self.compare_lmdb("h[key], keys made anew", (anew, anew_of_lmdb), short_anew)
        self.compare_lmdb("h[key], keys kept by the program", (each, each_of_lmdb), short)
        hot = self.own[:: max(1, len(self.own) // 1000)][:1000]
        self.compare("h[key], 1000 hot keys", (each, each), lambda: self.random.choices(hot, k=LOOKUPS))
        self.compare("key in h, present", (within, within), self.draw)
        self.compare("key in h, absent", (within, within), lambda: [key + "?" for key in self.draw()])
        self.compare(
            f"get_many of {BATCH}, keys made anew",
            (anew_at_once, anew_one_by_one),
            lambda: batches(self.draw_anew()),
            "<= 0.6",
        )
        self.compare(
            f"get_many of {BATCH}, keys kept by the program",
            (at_once, one_by_one),
            lambda: batches(self.draw_kept()),
            "<= 0.6",
        )
        self.compare(
            f"get_many of {BATCH}, the dict's own keys",
            (at_once, one_by_one),
            lambda: batches(self.draw()),
            "<= 0.6",
        )
        self.compare("items(), one pair", (iterate, iterate), lambda: None, per=len(self.own))

    def loading(self) -> None:
        def fill(mapping: Any, pairs: Any) -> None:
            mapping.load(pairs) if mapping is self.ours else dict(pairs)

        found = list(self.theirs.items())
        self.compare("load() beside dict(), one pair", (fill, fill), lambda: found, per=len(found))

    def memory(self) -> None:
        """What workers take that were forked after everything was loaded, when each has looked at everything."""
        megabytes = [sum(in_children(lambda: iterate(mapping, None))) / 1e6 for mapping in (self.ours, self.theirs)]
        self.row(f"private memory of {WORKERS} forked workers that read everything", "MB", *megabytes)


def in_children(work: Callable[[], None]) -> list[float]:
    """The private memory that the work costs in each of some forked children, in bytes."""
    grown = []
    for _ in range(WORKERS):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            before = private()
            work()
            os.write(write, str(private() - before).encode())
            os._exit(0)
        os.close(write)
        grown.append(float(os.read(read, 100)))
        os.close(read)
        os.waitpid(child, 0)
    return grown


def private() -> int:
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Private_"))


def main(scratch: str) -> None:
    theirs = dict(pairs())
    ours = hammerspace.open(Path(scratch) / "python", create=True, durability="none")
    ours.load(theirs)
    assert ours.get_many(theirs) == list(theirs.values()) and len(ours) == len(theirs), "they hold the same"
    bench = Bench(ours, theirs, in_lmdb(theirs, Path(scratch) / "lmdb"))
    bench.lookups()
    bench.memory()
    bench.loading()
    print(json.dumps(bench.rows))


if __name__ == "__main__":
    main(sys.argv[1])
