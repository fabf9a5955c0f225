"""The conformance cases of ``spec/`` over the Python package. ``spec/README.md`` is the page on their language."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import hammerspace

Case = dict[str, Any]
#: What a step gives: bytes, or None for nothing; or the kind of an error.
Outcome = list[bytes | None] | str


class Failed(Exception):
    """The step of this number, counted from 1, did not give what it says."""

    def __init__(self, step: int, finding: str) -> None:
        super().__init__(f"step {step}: {finding}")
        self.step = step


def word(text: str) -> bytes | None:
    """What a word stands for."""
    if text in ("nothing", "''"):
        return None if text == "nothing" else b""
    text, star, times = text.partition("*")
    raw = re.sub(rb"%(..)", lambda found: bytes.fromhex(found[1].decode()), text.encode(), flags=re.DOTALL)
    return raw * int(times) if star else raw


def text_or_bytes(raw: bytes) -> str | bytes:
    """Keys and values that are text are passed as text, so that both kinds are tried."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def to_bytes(value: Any) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return b"yes" if value else b"no"
    return value if isinstance(value, bytes) else str(value).encode()


class Handle:
    def __init__(self, space: hammerspace.Space[Any]) -> None:
        self.space = space
        self.pending: hammerspace.Writer[Any] | None = None
        self.value: memoryview | None = None
        self.walk: Iterator[tuple[bytes, bytes]] = iter(())

    def begun(self) -> hammerspace.Writer[Any]:
        if self.pending is None:
            self.pending = self.space.writer()
        return self.pending

    def begin(self, replace: bool) -> None:
        self.pending = self.space.writer(replace=replace)

    def take_turn(self) -> None:
        self.pending = self.space.writer(update=True, timeout=0.05)

    def put(self, key: str | bytes, value: str | bytes) -> None:
        self.begun()[key] = value

    def delete(self, key: str | bytes) -> None:
        self.begun().pop(key, None)

    def publish(self) -> int:
        assert self.pending is not None, "nothing was begun"
        return self.pending.publish()

    def discard(self) -> None:
        assert self.pending is not None, "nothing was begun"
        self.pending.discard()

    def ended(self, result: Any) -> Any:
        self.pending = None
        return result

    def hold(self, key: str | bytes) -> bytes | None:
        self.value = self.space.get(key, raw=True)
        return self.held()

    def held(self) -> bytes | None:
        return None if self.value is None else bytes(self.value)

    def begin_walk(self) -> tuple[bytes, bytes]:
        self.walk = iter(self.space.as_bytes().items())
        return next(self.walk)

    def verbs(self) -> dict[str, Callable[..., Any]]:
        space = self.space
        return {
            "refresh": space.refresh,
            "get": space.get,
            "get_many": lambda *keys: space.get_many(keys),
            "has": lambda key: key in space,
            "len": lambda: len(space),
            "pairs": lambda: list(chain.from_iterable(space.as_bytes().items())),
            "walk": lambda: list(self.begin_walk()),
            "rest": lambda: list(chain.from_iterable(self.walk)),
            "hold": self.hold,
            "held": self.held,
            "update": lambda: self.begin(False),
            "turn": self.take_turn,
            "replace": lambda: self.begin(True),
            "put": self.put,
            "delete": self.delete,
            "publish": lambda: self.ended(self.publish()),
            "discard": lambda: self.ended(self.discard()),
            "clear": space.clear,
            "versions": lambda: [version.number for version in space.versions()],
            "rollback": lambda *number: space.rollback(*map(int, number)),
        }


#: Verbs that give nothing, where Python's None would be a result.
SILENT = {"update", "replace", "turn", "put", "delete", "discard", "clear"}
OPTIONS: dict[str, Callable[[str], Any]] = {
    "keep": int,
    "compression": str,
    "block_size": int,
    "mend": lambda value: {"yes": True}[value],
}


class Runner:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.handles: dict[str, Handle] = {}

    def run(self, case: Case) -> None:
        at = 0
        steps: list[str] = case["steps"]
        while at < len(steps):
            if steps[at] == "fork":
                join = steps.index("join", at)
                self.in_child(steps, range(at + 1, join))
                at = join
            else:
                self.step(at, steps[at])
            at += 1

    def in_child(self, steps: list[str], numbers: range) -> None:
        child = os.fork()
        if child == 0:
            code = 0
            try:
                for at in numbers:
                    self.step(at, steps[at])
                # As where a process ends: what it holds goes.
                self.handles.clear()
            except Failed as failed:
                print("in a child:", failed)
                code = failed.step
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code:
            raise Failed(code, "it failed in a child, which said how")

    def step(self, at: int, step: str) -> None:
        try:
            self.perform(step)
        except Exception as error:
            raise Failed(at + 1, f"`{step[:200]}`: {error!r}"[:500]) from error

    def perform(self, step: str) -> None:
        call, arrow, expected = (step + " ").partition(" -> ") if " -> " in step + " " else (step, "", "")
        name, verb, *arguments = call.split(" ")
        words = [word(text) if text != "nothing" else b"nothing" for text in arguments]
        outcome = self.outcome(name, verb, [raw for raw in words if raw is not None])
        if arrow:
            wanted = self.expectation(expected.strip(" "))
            assert outcome == wanted, f"gives {outcome!r}"
        else:
            assert not isinstance(outcome, str), f"error {outcome}"

    @staticmethod
    def expectation(text: str) -> Outcome:
        if text.startswith("error "):
            return text.removeprefix("error ")
        return [word(piece) for piece in text.split(" ") if piece]

    def outcome(self, name: str, verb: str, words: list[bytes]) -> Outcome:
        if name == "disk":
            return self.disk(verb, words)
        try:
            result = self.call(name, verb, words)
        except hammerspace.Error as error:
            return {"AccessError": "Permission"}.get(type(error).__name__, type(error).__name__.removesuffix("Error"))
        if verb in SILENT or verb in ("open", "create"):
            return []
        return [to_bytes(value) for value in result] if isinstance(result, list) else [to_bytes(result)]

    def call(self, name: str, verb: str, words: list[bytes]) -> Any:
        if verb not in ("open", "create"):
            return self.handles[name].verbs()[verb](*map(text_or_bytes, words))
        options = dict(raw.decode().split("=") for raw in words)
        parsed = {option: OPTIONS[option](value) for option, value in options.items()}
        space = hammerspace.open(self.path, create=verb == "create", durability="none", **parsed)
        self.handles[name] = Handle(space)
        return None

    def disk(self, verb: str, words: list[bytes]) -> Outcome:
        file = self.path / (words[0].decode() if words else "")
        match verb, words[1:]:
            case "write", [offset, raw]:
                with open(os.open(file, os.O_WRONLY | os.O_CREAT, 0o666), "wb") as opened:
                    opened.seek(int(offset))
                    opened.write(raw)
            case "truncate", [length]:
                os.truncate(file, int(length))
            case "remove", []:
                file.unlink()
            case "link", [target]:
                file.symlink_to(target.decode())
            case "mkdir", []:
                file.mkdir()
            case "directories", []:
                return [b"%d" % sum(entry.is_dir() and not entry.is_symlink() for entry in file.iterdir())]
            case _:
                raise LookupError(f"the disk knows no {verb}")
        return []
