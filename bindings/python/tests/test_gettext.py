"""Translations beside Python's own, from the same catalogues."""

from __future__ import annotations

import gettext as stdlib
import subprocess
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from hammerspace import CorruptError, MissingError, Space
from hammerspace.gettext import Translations, store, translation

HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
POLISH = (
    HEADER
    + '"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);\\n"\n'
    + """
msgid "house"
msgstr "dom"

msgctxt "month"
msgid "May"
msgstr "maj"

msgid "one file"
msgid_plural "%d files"
msgstr[0] "%d plik"
msgstr[1] "%d pliki"
msgstr[2] "%d plików"

msgctxt "trash"
msgid "one file"
msgid_plural "%d files"
msgstr[0] "%d plik w koszu"
msgstr[1] "%d pliki w koszu"
msgstr[2] "%d plików w koszu"
"""
)
JAPANESE = HEADER + '"Plural-Forms: nplurals=1; plural=0;\\n"\n\nmsgid "one file"\nmsgid_plural "%d files"\nmsgstr[0] "%d 個"\n'


@pytest.fixture
def catalogues(tmp_path: Path) -> dict[str, Path]:
    compiled = {}
    for language, text in {"pl": POLISH, "ja": JAPANESE}.items():
        (tmp_path / f"{language}.po").write_text(text)
        compiled[language] = tmp_path / f"{language}.mo"
        subprocess.run(["msgfmt", tmp_path / f"{language}.po", "-o", compiled[language]], check=True)
    return compiled


@pytest.fixture
def stored(space: Space[str], catalogues: dict[str, Path]) -> Space[str]:
    with space.writer() as w:
        for language, catalogue in catalogues.items():
            store(w, catalogue, f"{language}.")
    return space


@pytest.mark.parametrize("language", ["pl", "ja"])
def test_all_that_python_s_own_says(stored: Space[str], catalogues: dict[str, Path], language: str) -> None:
    with open(catalogues[language], "rb") as file:
        theirs = stdlib.GNUTranslations(file)
    ours = Translations(stored, f"{language}.")
    for message in ["house", "May", "nowhere"]:
        assert ours.gettext(message) == theirs.gettext(message)
        assert ours.pgettext("month", message) == theirs.pgettext("month", message)
    for message, n in product(["one file", "nowhere"], range(130)):
        assert ours.ngettext(message, "%d files", n) == theirs.ngettext(message, "%d files", n)
        assert ours.npgettext("trash", message, "%ds", n) == theirs.npgettext("trash", message, "%ds", n)
    assert ours.info()["plural-forms"] == theirs.info()["plural-forms"] and ours.charset() == "utf-8"


def test_a_message_is_found_whether_or_not_it_has_a_plural(stored: Space[str]) -> None:
    """As GNU's library does."""
    polish = Translations(stored, "pl.")
    assert polish.gettext("one file") == "%d plik" and polish.ngettext("house", "houses", 1) == "dom"
    assert polish.ngettext("house", "houses", 5) == "houses"


def test_languages_fall_back_to_one_another(stored: Space[str]) -> None:
    found = translation(stored, ["ja", "pl"])
    assert found.gettext("house") == "dom" and found.ngettext("one file", "%d files", 5) == "%d 個"
    assert found.gettext("nowhere") == "nowhere" and found.pgettext("month", "May") == "maj"
    with pytest.raises(ValueError):
        translation(stored, [])


def test_without_a_header_plurals_are_those_of_english(space: Space[str]) -> None:
    space.load({"de.one file": "eine Datei\0%d Dateien"})
    german = Translations(space, "de.")
    assert [german.ngettext("one file", "%d files", n) for n in (0, 1, 2)] == ["%d Dateien", "eine Datei", "%d Dateien"]
    assert german.gettext("one file") == "eine Datei" and german.info() == {}


def test_it_says_what_the_space_says_after_a_refresh(space: Space[str]) -> None:
    space.load({"de.house": "Haus"})
    german = Translations(space, "de.")
    assert german.gettext("house") == "Haus"
    space.load({"de.house": "Hütte"})
    assert german.gettext("house") == "Hütte"


def test_it_is_installed_as_python_s_own_is(space: Space[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    space.load({"de.house": "Haus"})
    Translations(space, "de.").install(["ngettext"])
    try:
        assert builtins._("house") == "Haus"
    finally:
        del builtins._, builtins.ngettext


@pytest.mark.parametrize("rule", ["n-1", "n==0 ? 0-2 : 0", "2"])
def test_a_form_that_there_is_not_is_none(space: Space[str], rule: str) -> None:
    """As in Python's own, the message stands for itself, or the language to fall back to has it."""
    header = f"Plural-Forms: nplurals=2; plural={rule};"
    space.load({"a.": header, "a.file": "one\0many", "b.file": "fallen back\0fallen back"})
    assert Translations(space, "a.").ngettext("file", "files", 0) == "files"
    assert translation(space, ["a", "b"]).ngettext("file", "files", 0) == "fallen back"


RULES = Path(__file__).parents[3] / "spec" / "plurals" / "rules.toml"
COUNTS = [0, 1, 2, 3, 5, 11, 12, 21, 22, 100, 101]


@pytest.mark.parametrize("case", tomllib.loads(RULES.read_text())["case"], ids=lambda case: str(case["name"]))
def test_the_rules_that_all_languages_share(space: Space[str], case: dict[str, Any]) -> None:
    forms = [str(n) for n in range(9)]
    space.load({"a.": case["header"], "a.file": "\0".join(forms)})
    found = [Translations(space, "a.").ngettext("file", "-1", n) for n in COUNTS]
    assert found == [str(form) for form in case["forms"]]


def test_a_catalogue_that_cannot_be_read_is_an_error_of_ours(space: Space[str], tmp_path: Path) -> None:
    (tmp_path / "no.mo").write_bytes(b"\xde\x12\x04\x95" + b"\0" * 3)
    (tmp_path / "text.mo").write_bytes(b'msgid ""')
    with space.writer() as w:
        for name, error in {"no.mo": CorruptError, "text.mo": CorruptError, "nowhere.mo": MissingError}.items():
            with pytest.raises(error) as raised:
                store(w, tmp_path / name, "a.")
            assert raised.value.path == str(tmp_path / name) and raised.value.remedy


def test_a_catalogue_is_read_whatever_its_charset(space: Space[str], tmp_path: Path) -> None:
    (tmp_path / "a.po").write_bytes(HEADER.replace("UTF-8", "ISO-8859-1").encode() + b'\nmsgid "apple"\nmsgstr "\xc4pfel"\n')
    subprocess.run(["msgfmt", tmp_path / "a.po", "-o", tmp_path / "a.mo"], check=True)
    with space.writer() as w:
        store(w, tmp_path / "a.mo", "a.")
    assert Translations(space, "a.").gettext("apple") == "Äpfel"
