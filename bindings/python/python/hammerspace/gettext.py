"""Translations of all languages in one space, with the interface of Python's own :mod:`gettext`.

A message lies under a prefix, as the command loads catalogues: ``hammerspace load SPACE locale/*/LC_MESSAGES/*.po --prefix
'{locale}.'``. :func:`store` does the same from Python, and keeps the catalogue's header besides, as the command's
``--catalogue-header`` does. The header has the rule for plurals; without it, or where it cannot be read, the rule is that of
English. The command warns of such catalogues.
"""

from __future__ import annotations

import gettext as stdlib
import os
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any, Callable

from . import _native

#: What gettext puts between the context and the message.
_CONTEXT = "\x04"
#: What it puts between the forms of a plural.
_FORMS = "\0"


class Translations(stdlib.NullTranslations):
    """The messages of one language: those whose keys start with a prefix.

    Looks everything up when it is asked for, so that it says what the space says, also after a refresh. One object serves
    all threads.
    """

    def __init__(self, space: Mapping[str, str], prefix: str) -> None:
        super().__init__()
        self._space = space
        self._prefix = prefix

    def gettext(self, message: str) -> str:
        return self._one(message, lambda fallback: fallback.gettext(message)) or message

    def pgettext(self, context: str, message: str) -> str:
        key = context + _CONTEXT + message
        return self._one(key, lambda fallback: fallback.pgettext(context, message)) or message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        found = self._form(msgid1, n, lambda fallback: fallback.ngettext(msgid1, msgid2, n))
        return found or (msgid1 if n == 1 else msgid2)

    def npgettext(self, context: str, msgid1: str, msgid2: str, n: int) -> str:
        key = context + _CONTEXT + msgid1
        found = self._form(key, n, lambda fallback: fallback.npgettext(context, msgid1, msgid2, n))
        return found or (msgid1 if n == 1 else msgid2)

    def info(self) -> dict[str, str]:
        """The header of the catalogue, as far as it is in the space."""
        return _header(self._space.get(self._prefix, ""))

    def charset(self) -> str:
        return "utf-8"

    def _one(self, key: str, otherwise: Callable[[Any], str]) -> str | None:
        found = self._space.get(self._prefix + key)
        if found is None:
            return self._fallen_back(otherwise)
        # Of a message with a plural, the form for one.
        return found if _FORMS not in found else self._form(key, 1, otherwise)

    def _form(self, key: str, n: int, otherwise: Callable[[Any], str]) -> str | None:
        forms = self._space.get(self._prefix + key, "").split(_FORMS)
        at = _native.plural_form(self._space.get(self._prefix, ""), round(n))
        return forms[at] if forms[0] and at is not None and at < len(forms) else self._fallen_back(otherwise)

    def _fallen_back(self, otherwise: Callable[[Any], str]) -> str | None:
        fallback = self._fallback  # type: ignore[attr-defined]
        return None if fallback is None else otherwise(fallback)


def translation(space: Mapping[str, str], languages: Iterable[str], prefix: str = "{language}.") -> Translations:
    """The messages of the first language, with the others to fall back to, in their order."""
    first, *others = [Translations(space, prefix.format(language=language)) for language in languages]
    for other in others:
        first.add_fallback(other)
    return first


def store(writer: MutableMapping[Any, Any], catalogue: str | os.PathLike[str], prefix: str) -> None:
    """Puts the messages of a compiled catalogue (.mo), and its header, under a prefix."""
    for key, message in _native.catalogue(catalogue):
        if message:
            writer[prefix + key] = message


def _header(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines() if ":" in line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}
