"""What mypy makes of the package: never run, only checked."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_type

import hammerspace
from hammerspace.django import Refresh
from hammerspace.gettext import translation
from hammerspace.web import WSGIRefresh

space = hammerspace.open("words", create=True, keep=2, compression="zstd")
assert_type(space, hammerspace.Space[str])
assert_type(space["a"], str)
assert_type(space[b"a"], bytes)
assert_type(space.get("a"), str | None)
assert_type(space.get(b"a"), bytes | None)
assert_type(space.get("a", 7), str | int)
assert_type(space.get("a", raw=True), memoryview | None)
assert_type(space.get(b"a", raw=True), memoryview | None)
assert_type(space.get("a", 7, raw=True), memoryview | int)
assert_type(space.get("a", raw=False), str | None)
assert_type(space.get(b"a", 7, raw=False), bytes | int)
raw = len(space) > 7
assert_type(space.get("a", raw=raw), str | memoryview | None)
assert_type(space.snapshot().get("a", b"", raw=True), memoryview | bytes)
assert_type(space.get_many(["a"]), list[str | None])
assert_type(space.get_many([b"a"], 7), list[bytes | int])
assert_type(list(space), list[str])
assert_type(list(space.items()), list[tuple[str, str]])
assert_type(list(space.as_bytes().items()), list[tuple[bytes, bytes]])
assert_type(space.snapshot(), hammerspace.Snapshot[str])
assert_type(space.refresh(), bool)
assert_type(space.versions()[0].number, int | None)

with space.writer() as w:
    assert_type(w, hammerspace.Writer[str])
    w["a"] = "1"
    w[b"a"] = b"1"
    assert_type(list(w), list[str])
    w["a"] = 1  # type: ignore[assignment]
    w[1] = "a"  # type: ignore[index]

space[1]  # type: ignore[type-var]
hammerspace.open("words", compression="lz4")  # type: ignore[arg-type]


def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    return [translation(space, ["de", "en"]).gettext("house").encode()]


WSGIRefresh(app, space)


class RefreshWords(Refresh):
    spaces = (space,)


class RefreshNumbers(Refresh):
    spaces = (7,)  # type: ignore[assignment]
