"""Refreshing once per request, as Django's own middleware is written: see :mod:`hammerspace.web`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from asgiref.sync import iscoroutinefunction, markcoroutinefunction

from ._space import Space
from .web import refresh


class Refresh:
    """Middleware that refreshes spaces before every request. A subclass says which, and is listed in ``MIDDLEWARE``::

        class RefreshWords(Refresh):
            spaces = (words,)

    Under WSGI and under ASGI alike.
    """

    sync_capable = async_capable = True
    spaces: ClassVar[tuple[Space[Any], ...]] = ()

    def __init__(self, get_response: Callable[[Any], Any]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            # Django awaits what this gives.
            markcoroutinefunction(self)

    def __call__(self, request: Any) -> Any:
        refresh(self.spaces)
        return self.get_response(request)
