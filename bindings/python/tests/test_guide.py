"""The guide's code, run as it stands, in one namespace and one directory. A block that begins with a file's name is that file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[3] / "docs/guide/python.md"


def run(page: str, name: str) -> int:
    """Runs all blocks; gives their number. Lines of errors are those of the page."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))
    for block in blocks:
        if file := re.match(r"# (\w+\.py)\n", block[1]):
            Path(file[1]).write_text(block[1])
            continue
        lines_before = page.count("\n", 0, block.start(1))
        exec(compile("\n" * lines_before + block[1], name, "exec"), namespace)
    return len(blocks)


def test_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert run(PAGE.read_text(), str(PAGE)) > 8


def test_canary_a_wrong_page_is_noticed() -> None:
    with pytest.raises(AssertionError):
        run("# Page\n\n```python\nx = 1\n```\n\n```python\nassert x == 2\n```\n", "page")
