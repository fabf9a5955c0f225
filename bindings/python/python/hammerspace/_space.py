"""The idiom: what makes Rust's readers and writers a ``Mapping`` and a ``MutableMapping``."""

from __future__ import annotations

import os
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, MutableMapping, ValuesView
from typing import TYPE_CHECKING, Any, AnyStr, Generic, Literal, NamedTuple, TypeVar

from . import _native

if TYPE_CHECKING:
    from typing_extensions import Self

_Str = TypeVar("_Str", str, bytes)


class _Keys(KeysView[AnyStr]):
    __slots__ = ()
    _mapping: _native.Reader

    def __iter__(self) -> Iterator[AnyStr]:
        return self._mapping._pairs("keys")


class _Values(ValuesView[AnyStr]):
    __slots__ = ()
    _mapping: _native.Reader

    def __iter__(self) -> Iterator[AnyStr]:
        return self._mapping._pairs("values")

    def __contains__(self, value: object) -> bool:
        # The base class iterates over keys, and looks them up in what may be another version by then.
        return any(value is found or value == found for found in self)


class _Items(ItemsView[AnyStr, AnyStr]):
    __slots__ = ()
    _mapping: _native.Reader

    def __iter__(self) -> Iterator[tuple[AnyStr, AnyStr]]:
        return self._mapping._pairs("items")


class _Reading(_native.Reader, Mapping[AnyStr, AnyStr], Generic[AnyStr]):
    """Lookups take ``str`` and ``bytes`` alike, and answer in kind; iterating gives one of them."""

    __slots__ = ()

    def __iter__(self) -> Iterator[AnyStr]:
        return self._pairs("keys")

    def keys(self) -> KeysView[AnyStr]:
        return _Keys(self)

    def values(self) -> ValuesView[AnyStr]:
        return _Values(self)

    def items(self) -> ItemsView[AnyStr, AnyStr]:
        return _Items(self)


class Space(_Reading[AnyStr]):
    """A mapping in a directory, shared by every process that opens it.

    It reads one version until :meth:`refresh`; publishing through it, clearing and rolling back refresh it, too. Threads
    may share one, and forked children may use what their parent opened. Pickled, it is its absolute path, its options
    and its version: loaded in another process of the machine, it reads that version as long as it is on disk, else the current
    one.
    """

    __slots__ = ("_options",)
    _options: dict[str, Any]

    def __new__(cls, source: Any, *, text: bool = True, **options: Any) -> Self:
        self = super().__new__(cls, source, text=text, **options)
        self._options = source._options if isinstance(source, Space) else options
        return self

    def as_bytes(self) -> Space[bytes]:
        """The same handle; iterating gives bytes."""
        return self._shared(text=False)

    def as_text(self) -> Space[str]:
        """The same handle; iterating gives text, and fails at what is none."""
        return self._shared(text=True)

    def snapshot(self) -> Snapshot[AnyStr]:
        """The version as it is now, and stays: for reads that must agree while other threads refresh."""
        return Snapshot(self, text=self._text, pinned=True)

    def writer(self, *, replace: bool = False, update: bool = False, timeout: float = 60.0) -> Writer[AnyStr]:
        """Begins a version that starts from the current one, or from nothing. Private until published.

        Published, it replaces whatever is current by then. With ``update`` it does not: updates queue, each for
        up to ``timeout`` seconds (then :class:`BusyError`), and publishing one fails with :class:`ChangedError`
        where another version was published meanwhile, by a writer that did not queue. So none loses what another
        wrote.
        """
        return Writer(self._writer(replace, timeout if update else None))

    def load(self, pairs: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> int:
        """Replaces everything by these pairs, and gives the version's number: the fastest way to write many."""
        return self._load(pairs)

    def versions(self) -> list[Version]:
        """The versions on disk, newest first."""
        return [Version(*row) for row in self._versions()]

    def _shared(self, text: bool) -> Space[Any]:
        # A subclass may be called with other arguments, and has been.
        shared = Space.__new__(type(self), self, text=text)
        getattr(shared, "__dict__", {}).update(getattr(self, "__dict__", {}))
        return shared

    def __reduce__(self) -> tuple[Any, ...]:
        made_of = (type(self), self.path, self._text, self._options, self.version)
        return _reopened, made_of, getattr(self, "__dict__", None)

    def __repr__(self) -> str:
        return f"<hammerspace.Space {self.path!r}, version {self.version}, {len(self)} keys>"


class Snapshot(_Reading[AnyStr]):
    """One version of a space, as it was and stays."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<hammerspace.Snapshot of version {self.version}, {len(self)} keys>"


class Writer(MutableMapping[AnyStr, AnyStr], Generic[AnyStr]):
    """The next version of a space, as a mapping that can be changed: see :meth:`Space.writer`.

    Used by ``with``, it is published where the block ends, and given up where it raises. As long as one only sets, changes
    go to disk; from the first time that one reads, deletes or counts, they are kept in memory, too.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Writer) -> None:
        self._native = native

    def __getitem__(self, key: _Str) -> _Str:
        return self._native[key]

    def __setitem__(self, key: str | bytes, value: str | bytes) -> None:
        self._native[key] = value

    def __delitem__(self, key: str | bytes) -> None:
        del self._native[key]

    def __contains__(self, key: object) -> bool:
        return key in self._native

    def __len__(self) -> int:
        return len(self._native)

    def __iter__(self) -> Iterator[AnyStr]:
        return iter(self._native._keys())

    def clear(self) -> None:
        """Starts again, from nothing."""
        self._native.clear()

    def publish(self) -> int:
        """Makes this the current version, in one step, and gives its number. The writer has ended then.

        Where that fails nothing is lost: publish again once the cause is gone, as after making room, or :meth:`discard`.
        """
        return self._native.publish()

    def discard(self) -> None:
        """Gives up: nothing is published, and nothing is left behind. The writer has ended then."""
        self._native.discard()

    def __enter__(self) -> Writer[AnyStr]:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is not None:
            self.discard()
        elif not self._native.closed:
            self.publish()


class Version(NamedTuple):
    """A version on disk."""

    #: Rises with each publication; None for a version that Airbnb's gem wrote.
    number: int | None
    #: The name of its directory.
    uid: str
    #: Whether it is the one that readers open.
    is_current: bool
    #: Keys in it; None where the index is damaged.
    entries: int | None
    #: Length of its files.
    bytes: int
    #: When it was published, in seconds since 1970.
    published: float


def open(
    path: str | os.PathLike[str],
    *,
    create: bool = False,
    keep: int = 1,
    compression: Literal["none", "snappy", "zstd"] | None = None,
    block_size: int | None = None,
    cache_bytes: int = 0,
    durability: Literal["full", "none"] = "full",
    poll: float = 0.1,
    paging: Literal["on-demand", "random", "prefetch", "populate", "lock", "huge-pages"] = "on-demand",
    mend: bool = False,
) -> Space[str]:
    """Opens the space in a directory.

    ``create``: make the directory where it is missing; else nothing is written. ``keep``: how many versions stay on disk
    after publishing, the current one included. ``compression``: of new versions; without it, as the version before.
    ``block_size``: bytes per compressed block. ``cache_bytes``: memory of this process for decoded blocks. ``durability``:
    "none" for data that can be loaded again after a power cut. ``poll``: seconds between looks for publications that nobody
    announces, those of Airbnb's gem; ``math.inf`` for never. ``paging``: how pages come into memory. ``mend``: open it also
    if it is damaged, as an empty one.
    """
    return Space(
        path,
        create=create,
        keep=keep,
        compression=compression,
        block_size=block_size,
        cache_bytes=cache_bytes,
        durability=durability,
        poll=poll,
        paging=paging,
        mend=mend,
    )


def _reopened(kind: type[Space[Any]], path: str, text: bool, options: dict[str, Any], version: int | None) -> Space[Any]:
    """What a pickle does when it is loaded."""
    space = Space.__new__(kind, path, text=text, **{**options, "create": False})
    if version is not None:
        space._go_to(version)
    return space
