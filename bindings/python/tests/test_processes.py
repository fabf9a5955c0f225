"""Forks, spawned processes, and threads."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from conftest import Publish, in_child

import hammerspace
from hammerspace import Space


def test_canary_a_child_that_fails_is_noticed() -> None:
    def fail() -> None:
        raise AssertionError("as it should")

    with pytest.raises(AssertionError):
        in_child(fail)


def test_a_child_reads_on_and_writes_on_its_own(space: Space[str]) -> None:
    space.load({"a": "1"})
    view, items, pending = space.get("a", raw=True), iter(space.items()), space.writer()
    pending["a"] = "parent"

    def child() -> None:
        assert space["a"] == "1" and view == b"1" and list(items) == [("a", "1")]
        for use in [pending.publish, lambda: pending.update({str(n): "x" * 1000 for n in range(3000)})]:
            with pytest.raises(hammerspace.InvalidError):
                use()
        space.load({"a": "child"})

    in_child(child)
    assert space["a"] == "1" and space.refresh() and space["a"] == "child"
    pending.publish()
    assert space["a"] == "parent"


def test_preforked_workers_see_what_is_published(space: Space[str], path: Path) -> None:
    """As a forking server has it: opened before, refreshed in each worker."""
    space.load({"n": "0"})
    (read, write), children = os.pipe(), []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            os.close(write)
            os.read(read, 1)  # The parent closes it.
            os._exit(0 if space.refresh() and space["n"] == "1" else 1)
        children.append(child)
    hammerspace.open(path, durability="none").load({"n": "1"})
    os.close(write)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    os.close(read)


def looked_up(space: Space[str], keys: list[str]) -> list[str | None]:
    return space.get_many(keys)


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_multiprocessing(space: Space[str], method: str) -> None:
    space.load({str(n): str(n * n) for n in range(1000)})
    with multiprocessing.get_context(method).Pool(2) as pool:
        results = pool.starmap(looked_up, [(space, [str(n), "x"]) for n in range(20)])
    assert results == [[str(n * n), None] for n in range(20)]


def read_one(space: Space[str]) -> None:
    assert dict(space) == {"a": "1"}


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_a_space_with_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: Any) -> None:
    """The directory that a program is in changes before its workers start, as in daemons."""
    monkeypatch.chdir(tmp_path)
    space = hammerspace.open("words", create=True, durability="none")
    space.load({"a": "1"})
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    worker = multiprocessing.get_context(method).Process(target=read_one, args=(space,))
    worker.start()
    worker.join(60)
    assert worker.exitcode == 0


def test_threads_share_a_handle_while_it_is_refreshed(space: Space[str], publish: Publish) -> None:
    """What one call gives is of one version, whoever refreshes meanwhile."""
    keys = [f"key {n}" for n in range(100)]
    publish(dict.fromkeys(keys, "0"))
    space.refresh()
    done = threading.Event()

    def read() -> int:
        seen = set()
        while not done.is_set():
            values = space.get_many(keys)
            assert len(set(values)) == 1, "a mix of versions"
            assert len(set(space.values())) == 1, "a mix of versions"
            snapshot = space.snapshot()
            assert {snapshot[keys[0]]} == set(snapshot.values())
            seen.add(values[0])
        return len(seen)

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        try:
            for n in range(1, 40):
                publish(dict.fromkeys(keys, str(n)))
                space.refresh()
        finally:
            done.set()
        assert all(reader.result() > 0 for reader in readers)
    assert space[keys[7]] == "39"


def test_threads_share_a_writer(space: Space[str]) -> None:
    with space.writer() as w, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: w.update({f"{n} {m}": str(m) for m in range(500)}), range(4)))
        assert len(w) == 2000
    assert len(space) == 2000 and space["3 499"] == "499"


@pytest.fixture
def switching_often() -> Iterator[None]:
    """As good as no lock, where the interpreter has one: threads change places wherever they may."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def all_at_once(*works: Callable[[], Any], threads_each: int = 3) -> list[list[Any]]:
    """Runs each in several threads, all at once; gives what they give, or raises what one of them raises."""
    start = threading.Barrier(len(works) * threads_each)

    def run(work: Callable[[], Any]) -> Any:
        start.wait(60)
        return work()

    with ThreadPoolExecutor(len(works) * threads_each) as pool:
        running = [[pool.submit(run, work) for _ in range(threads_each)] for work in works]
        return [[thread.result(60) for thread in threads] for threads in running]


@pytest.mark.usefixtures("switching_often")
def test_threads_share_an_iterator(space: Space[str]) -> None:
    """Each pair is given once, to one of them, in order."""
    pairs = {f"key {n}": f"välue {n}" for n in range(3000)}
    space.load(pairs)
    for give, expected in [(space.items, list(pairs.items())), (space.keys, list(pairs)), (space.values, list(pairs.values()))]:
        shared: Iterator[Any] = iter(give())
        (shares,) = all_at_once(lambda: list(shared))
        assert sorted(chain(*shares)) == sorted(expected)
        assert all(share == sorted(share, key=expected.index) for share in shares)


@pytest.mark.usefixtures("switching_often")
def test_threads_change_a_list_of_keys_while_it_is_asked_for(space: Space[str]) -> None:
    space.load({str(n): str(n) for n in range(100)})
    keys: list[str] = []

    def change() -> None:
        for n in range(1500):
            keys.extend(str(n % 100) for n in range(n, n + 5))
            del keys[: len(keys) // 2]

    def ask() -> None:
        for _ in range(1500):
            assert None not in space.get_many(keys)

    all_at_once(change, ask)


@pytest.mark.usefixtures("switching_often")
def test_threads_do_everything_to_a_handle(space: Space[str]) -> None:
    """What they meet is a version, whole, or nothing; and a writer is published once."""
    words = [str(n) for n in range(50)]
    space.load(dict.fromkeys(words, "0"))
    writer = space.writer()

    def read() -> None:
        for n in range(150):
            key = words[n % 50]
            value, view, snapshot = space.get(key), space.get(key, raw=True), space.snapshot()
            assert value is None or value.isdecimal()
            assert view is None or bytes(view).isdigit()
            assert len(set(snapshot.values())) == (1 if key in snapshot else 0)
            assert snapshot.get(key) == snapshot.get_many([key])[0] and len(snapshot) in (0, 50)
            space.refresh()

    def write() -> None:
        for n in range(10):
            space.load(dict.fromkeys(words, str(n)))
            assert pickle.loads(pickle.dumps(space)).path == space.path

    def clear() -> None:
        for _ in range(5):
            space.clear()

    def publish() -> bool:
        try:
            writer.update(dict.fromkeys(words, "9"))
            writer.publish()
            return True
        except hammerspace.InvalidError:
            return False

    *_, published = all_at_once(read, write, clear, publish)
    assert sum(published) == 1


def test_an_iterator_is_used_by_what_its_own_step_collects(space: Space[str]) -> None:
    """Where a tuple is made, Python may collect garbage, and run what that has to say."""
    space.load({"0": "x", "1": "x"})
    taken: list[tuple[str, str]] = []

    class Garbage:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            taken.append(next(items))

    def child() -> None:
        signal.alarm(20)  # Ends the child, should it wait for itself.
        kept = [(n, n) for n in range(5000)]  # So that none is left to be used again.
        gc.disable()
        Garbage()
        gc.set_threshold(1)
        gc.enable()
        taken.append(next(items))
        gc.collect()
        assert sorted(taken) == [("0", "x"), ("1", "x")], kept

    items = iter(space.items())
    in_child(child)


# Without one, how far the other thread gets is the scheduler's doing alone: where it puts both on one processor, that is nowhere.
with_the_lock = pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="there is no lock to keep")


def others_run_during(work: Callable[[], Any]) -> bool:
    """Whether another thread gets the interpreter's lock while this runs, which takes some milliseconds in native code."""
    ticks, done = [0], threading.Event()

    def tick() -> None:
        while not done.wait(0.0005):
            ticks[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    before = ticks[0]
    work()
    during = ticks[0] - before
    done.set()
    thread.join()
    return during > 2


@with_the_lock
def test_publishing_lets_other_threads_run(space: Space[str]) -> None:
    """Opening, publishing and loading give up the interpreter's lock where they wait for the disk."""
    w = space.writer()
    w.update({str(n): "x" * 100 for n in range(200_000)})
    assert others_run_during(w.publish), "it kept the lock"


@with_the_lock
def test_refreshing_lets_other_threads_run(path: Path, publish: Publish) -> None:
    """Where there is a version to open; with this paging it is copied."""
    space = hammerspace.open(path, create=True, paging="huge-pages")
    publish({str(n): "x" * 1_000_000 for n in range(100)})
    assert others_run_during(space.refresh), "it kept the lock"
    assert len(space) == 100


@with_the_lock
def test_clearing_a_writer_lets_other_threads_run(space: Space[str]) -> None:
    """What was pending goes from disk and from memory; nothing of it is left."""
    w = space.writer()
    w.update({str(n): "x" * 100 for n in range(200_000)})
    assert len(w) == 200_000
    assert others_run_during(w.clear), "it kept the lock"
    assert len(w) == 0


@with_the_lock
def test_canary_what_keeps_the_interpreter_s_lock_is_noticed(space: Space[str]) -> None:
    space.load({"large": "x" * 100_000_000})
    assert not others_run_during(lambda: space["large"]), "a lookup keeps it"


def test_it_does_not_ask_for_the_interpreter_s_lock() -> None:
    """What the module says of itself to interpreters without one, which would take theirs back into use."""
    source = Path(__file__).parents[1] / "src/lib.rs"
    assert "#[pymodule(gil_used = false)]" in source.read_text()
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        alone = "import hammerspace, sys; sys.exit(sys._is_gil_enabled())"
        subprocess.run([sys.executable, "-W", "error", "-c", alone], check=True)
