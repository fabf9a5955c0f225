"""One copy of your data per machine: off the heap, shared by every process, read at memory speed.

>>> import hammerspace, tempfile
>>> directory = tempfile.mkdtemp()
>>> space = hammerspace.open(directory, create=True)
>>> with space.writer() as w:
...     w["de.greeting"] = "Guten Tag"
...     w["fr.greeting"] = "Bonjour"

In any other process of this machine:

>>> space = hammerspace.open(directory)
>>> space["fr.greeting"]
'Bonjour'
>>> "it.greeting" in space
False
>>> space.refresh()     # once per request: nanoseconds when nothing changed
False
"""

from ._errors import (
    AccessError,
    BusyError,
    ChangedError,
    CorruptError,
    Error,
    FullError,
    InvalidError,
    IoError,
    MissingError,
    OwnerDeadError,
    UnsupportedError,
)
from ._native import __VERSION__ as __version__
from ._space import Snapshot, Space, Version, Writer, open

__all__ = [
    "AccessError",
    "BusyError",
    "ChangedError",
    "CorruptError",
    "Error",
    "FullError",
    "InvalidError",
    "IoError",
    "MissingError",
    "OwnerDeadError",
    "Snapshot",
    "Space",
    "UnsupportedError",
    "Version",
    "Writer",
    "open",
]
