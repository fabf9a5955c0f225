from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import hammerspace

Publish = Callable[[Mapping[str, str]], int]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "space"


@pytest.fixture
def space(path: Path) -> hammerspace.Space[str]:
    return hammerspace.open(path, create=True, durability="none")


@pytest.fixture
def publish(path: Path) -> Publish:
    """Replaces what is in the space, as somebody else would."""

    def publish(pairs: Mapping[str, str]) -> int:
        return hammerspace.open(path, create=True, durability="none", mend=True).load(pairs)

    return publish


def in_child(work: Callable[[], Any]) -> None:
    """Runs it in a forked child."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException as error:
            print("in the child:", error)
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
