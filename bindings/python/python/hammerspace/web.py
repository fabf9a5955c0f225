"""Refreshing once per request, in front of any web application.

A request then reads one version from its start on. Where nothing was published, it costs less than a lookup. Where what was
published is damaged, requests are served from the version before, and the error is logged as one of ``hammerspace``.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from ._errors import Error
from ._space import Space

_log = logging.getLogger("hammerspace")

_Scope = MutableMapping[str, Any]
_ASGIApp = Callable[[_Scope, Any, Any], Awaitable[None]]


class WSGIRefresh:
    """A WSGI application that refreshes spaces, then calls another one: ``app = WSGIRefresh(app, space)``."""

    def __init__(self, app: Callable[..., Iterable[bytes]], *spaces: Space[Any]) -> None:
        self.app = app
        self.spaces = spaces

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        refresh(self.spaces)
        return self.app(environ, start_response)


class ASGIRefresh:
    """The same for ASGI: before every request, and before a WebSocket is opened."""

    def __init__(self, app: _ASGIApp, *spaces: Space[Any]) -> None:
        self.app = app
        self.spaces = spaces

    async def __call__(self, scope: _Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            refresh(self.spaces)
        await self.app(scope, receive, send)


def refresh(spaces: Iterable[Space[Any]]) -> None:
    """Refreshes each; what is damaged stays where it is, and is logged. For middleware of other frameworks."""
    for space in spaces:
        try:
            space.refresh()
        except Error as error:
            _log.error("%s is served from an older version: %s", space.path, error)
