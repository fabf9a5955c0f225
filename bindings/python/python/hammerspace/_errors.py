"""Exceptions by kind. A kind is what to do about it; the list is closed, and the same in every language.

Those that Python has a class for are of that class, too: ``except FileNotFoundError`` catches a space that is not there.
"""

from __future__ import annotations


class Error(Exception):
    """Why something failed: what was found, where, and what to do. Its text says all of it."""

    #: What was found, without place and remedy.
    finding: str = ""
    #: The file it was found in.
    path: str | None = None
    #: The offset it was found at, in bytes from the start of the file.
    offset: int | None = None
    #: What to do about it.
    remedy: str | None = None
    #: What the operating system answered, if it was asked, and the path once more, by the names that Python's ``OSError`` has
    #: for them. They are attributes of ours, since an ``OSError`` that has them in fields of its own makes its text of them.
    errno: int | None = None
    strerror: str | None = None
    filename: str | None = None


class CorruptError(Error):
    """Stored bytes break a promise of their format: restore, rebuild or replace them."""


class UnsupportedError(Error):
    """Well-formed, but newer than this build, or an option it does not have: use a newer build."""


class BusyError(Error):
    """Somebody else holds what is needed: try again later."""


class FullError(Error):
    """A full disk, a memory limit, or a limit of a format: make room."""


class InvalidError(Error, ValueError):
    """The caller asked for something that cannot be: change the call."""


class AccessError(Error, PermissionError):
    """The operating system denies access: change the rights or the user."""


class MissingError(Error, FileNotFoundError):
    """Something that must be there is not: create it, or correct the path. (A missing key is a KeyError.)"""


class OwnerDeadError(Error):
    """The process that owns the data died: adopt the data, or restart the owner."""


class IoError(Error, OSError):
    """Anything else the operating system reports: read the message."""


class ChangedError(Error):
    """The data changed since it was read, so a change to it was not made: read again, and make it again."""
