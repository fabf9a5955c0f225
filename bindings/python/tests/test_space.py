"""Reading: text and bytes, snapshots, views, pickles."""

from __future__ import annotations

import copy
import gc
import io
import math
import os
import pickle
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Publish

import hammerspace
from hammerspace import Space


def test_text_for_text_and_bytes_for_bytes(space: Space[str]) -> None:
    space.load({"é": "ü", b"\xff": b"\xfe", "🎨": "🟥" * 200, "ascii": "x" * 1000, "": ""})
    assert space["é"] == "ü" and space["é".encode()] == "ü".encode()
    assert space.get("é") == "ü" and space.get("é".encode()) == "ü".encode()
    assert space.get_many(["é", "🎨"]) == ["ü", "🟥" * 200]
    assert space.get_many([b"\xff", b"ascii"]) == [b"\xfe", b"x" * 1000]
    assert space["ascii"] == "x" * 1000 and space[""] == "" and space[b""] == b""
    assert "é" in space and b"\xff" in space and "e" not in space


@pytest.mark.parametrize("characters", ["a", "é", "ÿ", "Ā", "ж", "ࠀ", "色", "\uffff", "🎨", "aé色🎨"])
@pytest.mark.parametrize("length", [1, 2, 127, 128, 170, 171, 255, 256, 257, 511, 512, 513, 2000])
def test_text_of_all_widths_and_lengths(space: Space[str], characters: str, length: int) -> None:
    text = characters * length
    space.load({text: text})
    assert space[text] == text and next(iter(space)) == text
    assert space[text].isascii() == text.isascii(), "stored as narrow as Python stores it"


def test_what_is_no_text_says_so(space: Space[str]) -> None:
    for value in [b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80", b"\xe9" * 600]:
        space.load({"key": value})
        with pytest.raises(UnicodeDecodeError):
            space["key"]
        with pytest.raises(UnicodeDecodeError):
            list(space.values())
        assert space[b"key"] == value
        assert list(space.as_bytes().values()) == [value]


def test_keys_that_no_file_can_hold(space: Space[str]) -> None:
    space.load({"a": "1"})
    assert "\ud800" not in space and space.get("\ud800") is None
    assert space.get("\ud800", raw=True) is None and "\ud800" not in space.keys() and ("\ud800", "1") not in space.items()
    for reading in [space, space.snapshot()]:
        with pytest.raises(KeyError):
            reading["\ud800"]
        assert reading.get_many(["\ud800", "a", "x", "\udfff"]) == [None, "1", None, None]
        assert reading.get_many(["a", "b\ud800"], 7) == ["1", 7]
    with pytest.raises(UnicodeEncodeError):
        space.load({"\ud800": "1"})
    for wrong in [1, None, 1.5, ("a",), ["a"], bytearray(b"a")]:
        for lookup in [space.__getitem__, space.__contains__, space.get, lambda key: space.get_many([key])]:
            with pytest.raises(TypeError, match="str or bytes"):
                lookup(wrong)


def test_an_empty_key_is_not_taken_for_one_that_no_file_can_hold(space: Space[str]) -> None:
    space.load({"": b"\xff"})
    assert space.get_many(["\ud800"], "default") == ["default"]
    assert space.get_many([b"", "\ud800"]) == [b"\xff", None]


def test_subclasses_of_str_and_bytes_are_keys(space: Space[str]) -> None:
    class Text(str):
        __slots__ = ()

    class Raw(bytes):
        __slots__ = ()

    space.load({Text("a"): Text("1")})
    assert space[Text("a")] == "1" and type(space[Text("a")]) is str
    assert space[Raw(b"a")] == b"1" and type(space[Raw(b"a")]) is bytes


def test_a_missing_key_is_the_error_s_argument(space: Space[str]) -> None:
    for key in ["missing", b"missing", ""]:
        with pytest.raises(KeyError) as error:
            space[key]
        assert error.value.args == (key,)


def test_defaults(space: Space[str]) -> None:
    space.load({"a": ""})
    assert space.get("a", "b") == "" and space.get("x", "b") == "b" and space.get("x") is None
    assert space.get("x", 7) == 7 and space.get("x", default=7) == 7
    assert space.get_many(["a", "x"], 7) == ["", 7]
    assert space.get_many(key for key in "xa") == [None, ""]


def test_iterating(space: Space[str], publish: Publish) -> None:
    pairs = {f"key {n}": f"välue {n}" for n in range(1000)}
    publish(pairs)
    space.refresh()
    assert list(space) == list(space.keys()) == list(pairs)
    assert list(space.values()) == list(pairs.values())
    assert list(space.items()) == list(pairs.items())
    assert list(space.as_bytes()) == [key.encode() for key in pairs]
    assert list(space.as_bytes().as_text()) == list(pairs)
    assert len(space) == len(space.keys()) == len(space.values()) == 1000
    assert "key 7" in space.keys() and ("key 7", "välue 7") in space.items() and "välue 7" in space.values()
    assert space.keys() & {"key 1", "x"} == {"key 1"}


def test_an_iteration_stays_in_its_version_and_may_be_left(space: Space[str], publish: Publish) -> None:
    publish({"a": "1", "b": "2"})
    space.refresh()
    items = iter(space.items())
    assert next(items) == ("a", "1")
    publish({"c": "3"})
    assert space.refresh() and list(space) == ["c"]
    assert list(items) == [("b", "2")] and list(items) == []
    for _ in space:
        break


def test_looking_for_a_value_stays_in_its_version(space: Space[str], publish: Publish) -> None:
    """A value that is asked whether it is the one refreshes meanwhile."""
    old, new = {"a": "1", "b": "2", "c": "3"}, {"c": "2"}

    class Refreshing:
        def __init__(self) -> None:
            self.seen: list[object] = []

        def __eq__(self, other: object) -> bool:
            if not self.seen:
                publish(new)
                assert space.refresh()
            self.seen.append(other)
            return False

    publish(old)
    space.refresh()
    asked = Refreshing()
    assert asked not in space.values()
    assert asked.seen == ["1", "2", "3"]
    assert "2" in space.values() and "3" not in space.values()


def test_a_snapshot_stays(space: Space[str], publish: Publish) -> None:
    publish({"a": "1"})
    space.refresh()
    snapshot = space.snapshot()
    publish({"a": "2", "b": "2"})
    assert space.refresh() and space["a"] == "2"
    assert snapshot["a"] == "1" and dict(snapshot) == {"a": "1"} and len(snapshot) == 1
    assert snapshot.version == 1 and space.version == 2
    assert snapshot.get("a", raw=True) == b"1" and snapshot.get_many(["a", "b"]) == ["1", None]
    del space
    assert snapshot["a"] == "1"
    with pytest.raises(hammerspace.InvalidError, match="stays as it is"):
        snapshot.refresh()


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_raw_is_a_view_that_pins_its_version(path: Path, publish: Publish, compression: Any) -> None:
    space = hammerspace.open(path, create=True, compression=compression, durability="none")
    space.load({"a": "é" * 100, "empty": ""})
    view = space.get("a", raw=True)
    assert isinstance(view, memoryview) and view.readonly and view.format == "B" and view.itemsize == 1
    assert view.nbytes == len(view) == 200 and view.shape == (200,) and view.strides == (1,) and view.contiguous
    assert space.get("x", raw=True) is None and space.get("empty", raw=True) == b""
    publish({"other": "1"})
    assert space.refresh() and "a" not in space
    space.clear()
    del space
    gc.collect()
    assert view == ("é" * 100).encode() and str(view[2:4], "utf-8") == "é" and bytes(view[::2]) == b"\xc3" * 100
    with pytest.raises(TypeError):
        view[0] = 1
    with pytest.raises((TypeError, BufferError)):
        io.BytesIO(b"1").readinto(view.obj)
    exporter = type(view.obj)
    for make in [exporter, lambda: object.__new__(exporter)]:
        with pytest.raises(TypeError):
            make()  # Nobody else makes one: it would hold nothing.


def test_raw_copies_nothing(path: Path) -> None:
    space = hammerspace.open(path, create=True, durability="none")
    # Kept, for free-threaded interpreters hold freed memory a while: a copy could have it, and add nothing to what is resident.
    large = b"x" * (64 << 20)
    space.load({"large": large})
    before = resident_private()
    view = space.get("large", raw=True)
    assert view is not None and view[-1] == ord("x") and len(view) == 64 << 20
    assert resident_private() - before < 8 << 20
    copied = space[b"large"]
    assert len(copied) == len(large) and resident_private() - before > 32 << 20, "or this measures nothing"


def resident_private() -> int:
    fields = Path("/proc/self/status").read_text().split()
    return int(fields[fields.index("RssAnon:") + 1]) << 10


def test_nothing_is_left_behind(space: Space[str]) -> None:
    def round_trip() -> tuple[int, int]:
        for _ in range(50):
            space.load({"a": "1", "b": "2"})
            space.get("a", raw=True)
            next(iter(space.items()))
            space.snapshot()
            space.writer().discard()
        gc.collect()
        return len(Path("/proc/self/maps").read_text().splitlines()), len(os.listdir("/proc/self/fd"))

    mappings, descriptors = round_trip()
    more_mappings, more_descriptors = round_trip()
    assert more_mappings < mappings + 25 and more_descriptors < descriptors + 25
    kept = [(space.load({"a": "1"}), space.get("a", raw=True)) for _ in range(50)]
    assert len(Path("/proc/self/maps").read_text().splitlines()) > more_mappings + 25, f"or this measures nothing: {kept}"


def test_a_pickle_is_path_and_version(path: Path) -> None:
    space = hammerspace.open(path, create=True, keep=2, durability="none")
    space.load({"a": "1"})
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        loaded = pickle.loads(pickle.dumps(space, protocol))
        assert type(loaded) is Space and loaded == space and loaded.version == 1 and loaded.path == str(path)
    dumped, as_bytes = pickle.dumps(space), pickle.dumps(space.as_bytes())
    assert len(dumped) < 1000
    space.load({"a": "2"})
    loaded = pickle.loads(dumped)
    assert loaded["a"] == "1" and loaded.version == 1, "the version is kept"
    assert loaded.refresh() and loaded["a"] == "2"
    assert list(pickle.loads(as_bytes)) == [b"a"]
    space.load({"a": "3"})
    assert pickle.loads(dumped)["a"] == "3", "the version is gone"
    assert copy.copy(space)["a"] == "3" and copy.deepcopy(space)["a"] == "3"


class Words(Space[str]):
    """A class of one's own, which opens in a way of its own."""

    def __new__(cls, path: Path, language: str) -> Words:
        self = super().__new__(cls, path, create=True, durability="none")
        self.language = language
        return self

    def __init__(self, path: Path, language: str) -> None:
        assert not hasattr(self, "opened"), "once only"
        self.opened = True


def test_a_space_of_a_subclass_stays_one(path: Path) -> None:
    words = Words(path, "de")
    words.load({"a": "1"})
    for again in [copy.copy(words), copy.deepcopy(words), pickle.loads(pickle.dumps(words)), words.as_bytes().as_text()]:
        assert type(again) is Words and again.language == "de" and dict(again) == {"a": "1"}
    for as_bytes in [words.as_bytes(), copy.copy(words.as_bytes())]:
        assert type(as_bytes) is Words and dict(as_bytes) == {b"a": b"1"}


def test_a_relative_path_is_that_of_where_it_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("here")
    monkeypatch.chdir(tmp_path / "there")
    hammerspace.open("words", create=True, durability="none").load({"a": "another space"})
    monkeypatch.chdir(tmp_path / "here")
    space = hammerspace.open("../link/words", create=True, durability="none")
    space.load({"a": "1"})
    shared, dumped = space.as_bytes(), pickle.dumps(space)
    for elsewhere in [tmp_path, tmp_path / "there"]:
        monkeypatch.chdir(elsewhere)
        for again in [pickle.loads(dumped), pickle.loads(pickle.dumps(space)), copy.copy(space), copy.deepcopy(space)]:
            assert dict(again) == {"a": "1"} and again.path == space.path
        assert dict(pickle.loads(pickle.dumps(shared))) == {b"a": b"1"}
    assert space.path == shared.path == f"{tmp_path}/here/../link/words", "links are left alone"
    assert repr(space.path) in repr(space)
    assert space.load({"a": "2"}) and hammerspace.open(tmp_path / "here/words")["a"] == "2"


def test_a_path_that_no_directory_is_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for where it is needed only, and what is wrong is said as ever."""
    space = hammerspace.open(tmp_path / "space", create=True)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert hammerspace.open(tmp_path / "space") == space
    for path in ["", "words"]:
        with pytest.raises(hammerspace.MissingError):
            hammerspace.open(path)


def test_a_pickle_of_what_is_gone(path: Path) -> None:
    dumped = pickle.dumps(hammerspace.open(path, create=True))
    os.remove(path / "hammerspace.lock")
    path.rmdir()
    with pytest.raises(hammerspace.MissingError):
        pickle.loads(dumped)


def test_versions_and_going_back(path: Path) -> None:
    space = hammerspace.open(path, create=True, keep=3, durability="none")
    assert space.version is None and space.versions() == []
    for n in range(4):
        assert space.load({"n": str(n)}) == n + 1
    assert [version.number for version in space.versions()] == [4, 3, 2]
    newest = space.versions()[0]
    assert newest.is_current and newest.entries == 1 and newest.bytes > 0 and newest.published > 1.7e9
    assert (path / newest.uid).is_dir()
    assert space.rollback() == 3 and space["n"] == "2"
    assert space.rollback(2) == 2 and space["n"] == "1"
    with pytest.raises(hammerspace.MissingError):
        space.rollback(1)
    for none in [0, -1, 1 << 64]:
        with pytest.raises(hammerspace.InvalidError, match=f"number cannot be {none}"):
            space.rollback(none)
    space.clear()
    assert len(space) == 0 and space.versions() == []


def test_options(path: Path) -> None:
    hammerspace.open(path, create=True, poll=math.inf, cache_bytes=1 << 20, block_size=512, compression="zstd").load({"a": "1"})
    for paging in ["on-demand", "random", "prefetch", "populate", "huge-pages"]:
        assert hammerspace.open(path, paging=paging)["a"] == "1"
    assert hammerspace.open(str(path))["a"] == hammerspace.open(path)["a"] == "1"
    with pytest.raises(TypeError):
        hammerspace.open(path, colour="red")
    with pytest.raises(TypeError, match="colour"):
        Space(path, colour="red")


@pytest.mark.parametrize(
    ("option", "may_be", "impossible", "of_another_type"),
    [
        ("keep", "a number from 1 on", [0, -1, 1 << 64], ["2", 1.5]),
        ("block_size", "a number of bytes", [-1, 1 << 64], ["4096"]),
        ("cache_bytes", "a number of bytes", [-1, 1 << 64], ["1"]),
        ("compression", "one of none, snappy, zstd", ["lz4"], [1, b"zstd"]),
        ("durability", "one of full, none", ["some"], [False]),
        ("poll", "a number of seconds, or math.inf", [-1.0, math.nan, 1e300], ["1"]),
        ("paging", "one of on-demand, random, ", ["often"], [1]),
        ("create", "True or False", [], [1, "yes"]),
        ("mend", "True or False", [], [0]),
    ],
)
def test_options_that_cannot_be(
    path: Path, option: str, may_be: str, impossible: list[Any], of_another_type: list[Any]
) -> None:
    for kind, values in [(hammerspace.InvalidError, impossible), (TypeError, of_another_type)]:
        for value in values:
            with pytest.raises(kind) as caught:
                hammerspace.open(path, **{"create": True, option: value})
            assert str(caught.value).startswith(f"{option} cannot be {value!r}; it is {may_be}")
    assert not path.exists()


def test_it_says_what_it_is(space: Space[str], path: Path) -> None:
    space.load({"a": "1"})
    assert repr(space) == f"<hammerspace.Space {str(path)!r}, version 1, 1 keys>"
    assert repr(space.snapshot()) == "<hammerspace.Snapshot of version 1, 1 keys>"
    assert space.path == str(path)
    with pytest.raises(TypeError):
        hash(space)


def test_a_handle_follows_its_path(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a link that a deployment turns; from wherever the process goes."""
    (path / "elsewhere").mkdir(parents=True)
    monkeypatch.chdir(path)
    for release in ["old", "new"]:
        hammerspace.open(f"{release}/words", create=True, durability="none").load({"release": release})
    os.symlink("old", "now")
    space = hammerspace.open("now/words")
    before = space.path
    monkeypatch.chdir("elsewhere")
    os.symlink("new", path / "next")
    os.rename(path / "next", path / "now")
    for _ in range(500):
        if space.refresh():
            break
        assert space["release"] == "old"
        time.sleep(0.01)
    assert space["release"] == "new" and space.path == before
    os.rename(path / "new", path / "newer")
    (path / "new").mkdir()
    with pytest.raises(hammerspace.MissingError):
        space.load({"release": "lost"})
    assert space["release"] == "new"
    os.rename(path / "newer" / "words", path / "new" / "words")
    space.load({"release": "found"})
    assert space["release"] == "found" == hammerspace.open(path / "new/words")["release"]
