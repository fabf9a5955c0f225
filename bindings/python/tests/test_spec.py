"""All languages do the same: the cases in ``spec/``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from spec_runner import Case, Failed, Runner

SPEC = Path(__file__).parents[3] / "spec"


def cases() -> list[Any]:
    files = sorted(SPEC.glob("*.toml"))
    found = [(file.stem, case) for file in files for case in tomllib.loads(file.read_text())["case"]]
    return [pytest.param(case, id=f"{stem}: {case['name']}") for stem, case in found]


@pytest.mark.parametrize("case", cases())
def test_case(case: Case, path: Path) -> None:
    runner = Runner(path)
    if "fails" not in case:
        runner.run(case)
        return
    with pytest.raises(Failed) as failed:
        runner.run(case)
    assert failed.value.step == case["fails"], failed.value
