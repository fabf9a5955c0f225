"""CPython's own tests of mappings, as far as they apply: keys and values that are strings."""

from __future__ import annotations

import collections.abc
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any

from test.mapping_tests import BasicTestMappingProtocol

import hammerspace


class OfStrings:
    """Mappings in a directory of their own, which CPython's tests ask for by these methods."""

    def setUp(self) -> None:
        self.directory = tempfile.mkdtemp()

    def tearDown(self) -> None:
        shutil.rmtree(self.directory)

    def space(self) -> hammerspace.Space[str]:
        return hammerspace.open(tempfile.mkdtemp(dir=self.directory), durability="none")

    def _reference(self) -> dict[str, str]:
        return {"1": "2", "key1": "value1", "key2": "", "": "é\0"}


class WriterTest(OfStrings, BasicTestMappingProtocol):
    def _empty_mapping(self) -> Any:
        return self.space().writer()


class UpdatingWriterTest(OfStrings, BasicTestMappingProtocol):
    """A writer whose pairs are published already, in part."""

    def _empty_mapping(self) -> Any:
        return self.space().writer()

    def _full_mapping(self, data: Mapping[str, str]) -> Any:
        space = self.space()
        some = dict(list(data.items())[: len(data) // 2])
        space.load({**some, "gone": "soon"})
        writer = space.writer()
        del writer["gone"]
        writer.update({key: value for key, value in data.items() if key not in some})
        return writer


class ReadingTest(OfStrings, BasicTestMappingProtocol):
    def _empty_mapping(self) -> Any:
        return self.space()

    def _full_mapping(self, data: Mapping[str, str]) -> Any:
        space = self.space()
        space.load(data)
        return space

    # What cannot be written.
    test_write = None
    test_pop = test_popitem = test_setdefault = test_update = None


class SnapshotTest(ReadingTest):
    def _empty_mapping(self) -> Any:
        return self.space().snapshot()

    def _full_mapping(self, data: Mapping[str, str]) -> Any:
        return super()._full_mapping(data).snapshot()


def test_they_are_what_the_abstract_classes_say(space: hammerspace.Space[str]) -> None:
    assert isinstance(space, collections.abc.Mapping) and not isinstance(space, collections.abc.MutableMapping)
    assert isinstance(space.snapshot(), collections.abc.Mapping)
    assert isinstance(space.writer(), collections.abc.MutableMapping)


def test_a_mapping_is_compared_by_its_pairs(space: hammerspace.Space[str]) -> None:
    space.load({"a": "1", "b": "2"})
    assert space == {"b": "2", "a": "1"} and {"a": "1", "b": "2"} == space
    assert space != {"a": "1"} and space != {"a": "1", "b": "3"} and space != 7
    assert {**space} == dict(space) == {"a": "1", "b": "2"}
    match space:
        case {"a": one}:
            assert one == "1"


del BasicTestMappingProtocol  # Abstract: pytest would run it here.
