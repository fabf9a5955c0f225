"""Errors: what, where, and what to do; by kind."""

from __future__ import annotations

import errno
import inspect
import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import in_child

import hammerspace
from hammerspace import Space

PAGE = Path(__file__).parents[3] / "docs/design/errors.md"


def test_there_is_a_class_for_every_kind() -> None:
    kinds = set(re.findall(r"^\| `(\w+)`", PAGE.read_text(), re.MULTILINE))
    names = {name.removesuffix("Error") for name in hammerspace.__all__ if name.endswith("Error") and name != "Error"}
    assert (names - {"Access"}) | {"Permission"} == kinds and len(kinds) == 10
    for name in hammerspace.__all__:
        if name.endswith("Error"):
            assert issubclass(getattr(hammerspace, name), hammerspace.Error)


def test_python_s_own_classes_catch_ours(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        hammerspace.open(path)
    with pytest.raises(ValueError):
        hammerspace.open(path, create=True, keep=0)
    assert issubclass(hammerspace.AccessError, PermissionError) and issubclass(hammerspace.IoError, OSError)


def test_an_error_says_what_where_and_what_to_do(space: Space[str], path: Path) -> None:
    space.load({"a": "1"})
    log = path / "current" / "hammerspace.spl"
    os.truncate(log, 50)
    with pytest.raises(hammerspace.CorruptError) as caught:
        hammerspace.open(path)
    error = caught.value
    assert error.path is not None and error.path.endswith("hammerspace.spl") and error.finding and error.remedy
    assert error.finding in str(error) and error.path in str(error) and error.remedy in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is hammerspace.CorruptError and str(again) == str(error) and again.remedy == error.remedy


def test_what_the_system_answered_is_told_as_python_does(path: Path) -> None:
    with pytest.raises(OSError) as missing:
        hammerspace.open(path)
    path.write_text("no directory")
    with pytest.raises(OSError) as file:
        hammerspace.open(path)
    for error, number in [(missing.value, errno.ENOENT), (file.value, errno.ENOTDIR)]:
        for one in [error, pickle.loads(pickle.dumps(error))]:
            assert (one.errno, one.strerror, one.filename) == (number, os.strerror(number), str(path))
            assert str(one).startswith(f"{path}: open the directory: {os.strerror(number)}")
    path.unlink()
    with pytest.raises(OSError) as ours:
        hammerspace.open(path, create=True).rollback()
    assert (ours.value.errno, ours.value.filename) == (None, str(path)), "nobody asked the system"


def test_a_remedy_names_what_there_is_in_python(path: Path) -> None:
    space = hammerspace.open(path / "space", create=True)
    with pytest.raises(hammerspace.MissingError) as nowhere:
        hammerspace.open(path / "nowhere")
    with pytest.raises(hammerspace.MissingError) as no_version:
        space.rollback()
    space.load({"a": "1"})
    shutil.rmtree((path / "space" / "current").resolve())
    with pytest.raises(hammerspace.CorruptError) as dangling:
        hammerspace.open(path / "space")
    ours = {*dir(Space), *inspect.signature(hammerspace.open).parameters, "hammerspace load"}
    for caught in [nowhere, no_version, dangling]:
        remedy = caught.value.remedy
        assert remedy and ours.issuperset(re.findall("`(.*?)`", remedy)), remedy


IN_ANOTHER_INTERPRETER = """
import hammerspace

try:
    hammerspace.open("/nowhere")
except hammerspace.MissingError as error:
    assert isinstance(error, hammerspace.Error) and error.remedy
"""


def test_every_interpreter_of_a_process_catches_errors_by_its_own_classes() -> None:
    """As servers have them that keep applications apart, such as mod_wsgi: one after the other, and the first one once more."""
    run = f"""
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
code = {IN_ANOTHER_INTERPRETER!r}
try:
    legacy = [interpreters.create("legacy") for _ in range(2)]
except TypeError:
    legacy = [interpreters.create() for _ in range(2)]
exec(code)
for each in legacy:
    failure = interpreters.run_string(each, code)
    assert failure is None, failure
    interpreters.destroy(each)
exec(code)
"""
    subprocess.run([sys.executable, "-c", run], check=True)


def test_damage_in_the_middle_is_met_where_it_is_read(space: Space[str], path: Path) -> None:
    space.load({f"key {n}": "value" * 10 for n in range(100)})
    with open(path / "current" / "hammerspace.spl", "r+b") as log:
        log.seek(84)
        log.write(b"\xff" * 600)
    damaged = hammerspace.open(path)
    with pytest.raises(hammerspace.CorruptError):
        for n in range(100):
            damaged[f"key {n}"]
    with pytest.raises(hammerspace.CorruptError):
        damaged.get_many([f"key {n}" for n in range(100)])
    with pytest.raises(hammerspace.CorruptError):
        list(damaged.items())


def test_rights(path: Path) -> None:
    path.mkdir(mode=0)

    def without_rights() -> None:
        if os.geteuid() == 0:
            os.setuid(65534)
        for error in [hammerspace.AccessError, PermissionError]:
            with pytest.raises(error):
                hammerspace.open(path)

    in_child(without_rights)
