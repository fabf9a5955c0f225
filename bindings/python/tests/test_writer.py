"""Writing: a private mapping until it is published."""

from __future__ import annotations

import gc
import math
import resource
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import hammerspace
from hammerspace import Space


def directories(path: Path) -> int:
    return sum(entry.is_dir() and not entry.is_symlink() for entry in path.iterdir())


def test_a_block_publishes_where_it_ends(space: Space[str], path: Path) -> None:
    reader = hammerspace.open(path)
    with space.writer() as w:
        w["color"] = "red"
        w[b"raw"] = b"\xff"
        assert "color" not in space and not reader.refresh()
    assert space["color"] == "red", "who publishes moves on"
    assert "color" not in reader and reader.refresh() and reader[b"raw"] == b"\xff"


def test_a_block_that_raises_publishes_nothing(space: Space[str], path: Path) -> None:
    space.load({"color": "red"})
    with pytest.raises(ZeroDivisionError), space.writer() as w:
        w["color"] = "blue"
        1 / 0
    assert space["color"] == "red" and not space.refresh() and directories(path) == 1


def test_a_writer_sees_what_it_did(space: Space[str]) -> None:
    space.load({"a": "1", "b": "2", "c": "3"})
    w = space.writer()
    w["a"] = "9"
    del w["b"]
    w["d"] = "4"
    assert list(w) == ["c", "a", "d"] and len(w) == 3 and dict(w) == {"c": "3", "a": "9", "d": "4"}
    assert w["a"] == "9" and w[b"a"] == b"9" and w["c"] == "3" and "b" not in w and w.get("b", "x") == "x"
    w["b"] = "5"
    w["b"] = "6"
    assert list(w.items()) == [("c", "3"), ("a", "9"), ("d", "4"), ("b", "6")] and len(w) == 4
    with pytest.raises(KeyError) as error:
        del w["x"]
    assert error.value.args == ("x",)
    assert dict(space) == {"a": "1", "b": "2", "c": "3"}
    assert w.publish() == 2
    assert list(space.items()) == [("c", "3"), ("a", "9"), ("d", "4"), ("b", "6")]


def test_a_replacement_and_a_cleared_writer_start_from_nothing(space: Space[str]) -> None:
    space.load({"a": "1"})
    with space.writer(replace=True) as w:
        assert len(w) == 0 and "a" not in w
        w["b"] = "2"
    assert dict(space) == {"b": "2"}
    with space.writer() as w:
        w["c"] = "3"
        w.clear()
        assert len(w) == 0 and list(w) == []
        w["d"] = "4"
    assert dict(space) == {"d": "4"}


def test_a_writer_that_has_ended(space: Space[str], path: Path) -> None:
    with space.writer() as w:
        w["a"] = "1"
        assert w.publish() == 1
    assert space.version == 1, "not published twice"
    for use in [lambda: w["a"], lambda: w.publish(), lambda: len(w), lambda: list(w), lambda: w.update(a="2")]:
        with pytest.raises(hammerspace.InvalidError, match="take a new one"):
            use()
    w.discard()
    abandoned = space.writer()
    abandoned["a"] = "2"
    assert directories(path) == 2
    del abandoned
    gc.collect()
    assert directories(path) == 1 and space["a"] == "1"


def test_what_is_no_string_is_refused_and_changes_nothing(space: Space[str]) -> None:
    w = space.writer()
    w["a"] = "1"
    for key, value in [("a", 1), (1, "a"), ("a", None), (None, "a"), ("a", "\ud800"), ("\ud800", "a"), ("a", ["b"])]:
        with pytest.raises((TypeError, UnicodeEncodeError)):
            w[key] = value
    assert dict(w) == {"a": "1"}


def test_a_key_that_no_file_can_hold_is_not_found(space: Space[str]) -> None:
    space.load({"a": "1"})
    w = space.writer()
    assert "\ud800" not in w and w.get("\ud800") is None and w.pop("\ud800", "x") == "x"
    for use in [w.__getitem__, w.__delitem__, w.pop]:
        with pytest.raises(KeyError) as error:
            use("\ud800")
        assert error.value.args == ("\ud800",)
    with pytest.raises(UnicodeEncodeError):
        w["\ud800"] = "1"
    with pytest.raises(UnicodeEncodeError):
        w.setdefault("\ud800", "1")
    for wrong in [1, None]:
        for use in [w.__getitem__, w.__delitem__, w.__contains__, w.get]:
            with pytest.raises(TypeError, match="str or bytes"):
                use(wrong)
    w.discard()
    for use in [w.__getitem__, w.__delitem__, w.__contains__]:
        with pytest.raises(hammerspace.InvalidError, match="take a new one"):
            use("\ud800")


def test_loading(space: Space[str], path: Path) -> None:
    assert space.load({"a": "1"}) == 1
    assert space.load([("b", "2"), ["c", "3"]]) == 2 and dict(space) == {"b": "2", "c": "3"}
    assert space.load((str(n), str(n * n)) for n in range(10_000)) == 3
    assert len(space) == 10_000 and space["99"] == "9801"
    assert space.load(hammerspace.open(path)) == 4 and len(space) == 10_000, "a space is a mapping, too"

    def broken() -> Iterator[tuple[str, str]]:
        yield "a", "1"
        raise ZeroDivisionError

    for pairs, error in [(broken(), ZeroDivisionError), ([("a", 1)], TypeError), ([("a",)], hammerspace.InvalidError), (7, TypeError)]:
        with pytest.raises(error):
            space.load(pairs)
    assert space.version == 4 and directories(path) == 1


def test_mixed_writers(space: Space[str], path: Path) -> None:
    other = hammerspace.open(path, durability="none")
    one, two = space.writer(), other.writer()
    one["who"], two["who"] = "one", "two"
    one["only"] = "one"
    assert one.publish() == 1 and two.publish() == 2
    assert space.refresh() and dict(space) == {"who": "two"}


def test_bytes_space_gives_bytes(space: Space[str]) -> None:
    with space.as_bytes().writer() as w:
        w[b"a"] = b"\xff"
        assert list(w) == [b"a"]
    assert dict(space.as_bytes()) == {b"a": b"\xff"}


def test_what_a_full_disk_keeps_from_being_published_is_pending_still(space: Space[str], path: Path) -> None:
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        w = space.writer()
        w["color"] = "red" * 1000
        # A file that may not grow is a full disk to whoever writes it.
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, limits[1]))
        for _ in range(2):
            with pytest.raises(hammerspace.FullError):
                w.publish()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert "color" not in space
    w["shape"] = "round"
    w.publish()
    assert dict(space.items()) == {"color": "red" * 1000, "shape": "round"} and directories(path) == 1


def test_updates_in_turn_do_not_lose_each_other(tmp_path: Path) -> None:
    space = hammerspace.open(tmp_path, create=True, durability="none")

    def count(_: int) -> None:
        with hammerspace.open(tmp_path, durability="none").writer(update=True) as w:
            w["count"] = str(int(w.get("count", "0")) + 1)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(40)))
    space.refresh()
    assert space["count"] == "40"


def test_an_update_publishes_nothing_once_another_version_was_published(tmp_path: Path) -> None:
    space = hammerspace.open(tmp_path, create=True, durability="none")
    with pytest.raises(hammerspace.ChangedError), space.writer(update=True) as w:
        w["color"] = "red"
        space.load({"shape": "round"})
    w.discard()
    space.refresh()
    assert dict(space) == {"shape": "round"}
    # From nothing, in turn.
    with space.writer(update=True, replace=True) as w:
        w["color"] = "blue"
    assert dict(space) == {"color": "blue"}


def test_an_update_waits_no_longer_than_its_timeout(tmp_path: Path) -> None:
    space = hammerspace.open(tmp_path, create=True, durability="none")
    with space.writer(update=True) as w:
        w.clear()
        for timeout in (0, 0.25):
            started = time.monotonic()
            with pytest.raises(hammerspace.BusyError, match="this process itself"):
                space.writer(update=True, timeout=timeout)
            assert time.monotonic() - started >= timeout
    with pytest.raises(hammerspace.InvalidError):
        space.writer(update=True, timeout=-1)


def test_signals_interrupt_a_wait(tmp_path: Path) -> None:
    space = hammerspace.open(tmp_path, create=True, durability="none")

    def interrupt(*_: object) -> None:
        raise InterruptedError

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with space.writer(update=True), pytest.raises(InterruptedError):
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            space.writer(update=True, timeout=math.inf)
    finally:
        signal.signal(signal.SIGALRM, before)
