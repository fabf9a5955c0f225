from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

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
