"""Refreshing once per request."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest
from asgiref.sync import iscoroutinefunction
from conftest import Publish

from hammerspace import Space
from hammerspace.django import Refresh
from hammerspace.web import ASGIRefresh, WSGIRefresh


def get(app: Any) -> bytes:
    environ: dict[str, Any] = {}
    setup_testing_defaults(environ)
    return b"".join(app(environ, lambda status, headers: None))


def test_wsgi(space: Space[str], publish: Publish) -> None:
    def bare(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        start_response("200 OK", [])
        return [space.get(b"color", b"none")]

    app = WSGIRefresh(bare, space)
    assert get(app) == b"none"
    publish({"color": "red"})
    assert get(bare) == b"none", "or it is not the middleware that refreshes"
    assert get(app) == b"red"


def test_asgi(space: Space[str], publish: Publish) -> None:
    async def bare(scope: Any, receive: Any, send: Any) -> None:
        await send(space.get("color", "none"))

    async def send(message: str) -> None:
        sent.append(message)

    app, sent = ASGIRefresh(bare, space), list[str]()
    for scope in ["http", "lifespan", "websocket"]:
        publish({"color": scope})
        asyncio.run(app({"type": scope}, None, send))
    assert sent == ["http", "http", "websocket"]


def test_django(space: Space[str], publish: Publish) -> None:
    """Beside Django itself in the guide."""

    class RefreshColors(Refresh):
        spaces = (space,)

    def view(request: str) -> str:
        return space.get("color", "none")

    async def async_view(request: str) -> str:
        return space.get("color", "none")

    app, async_app = RefreshColors(view), RefreshColors(async_view)
    assert app("/") == "none" and not iscoroutinefunction(app) and iscoroutinefunction(async_app)
    publish({"color": "red"})
    assert view("/") == "none", "or it is not the middleware that refreshes"
    assert app("/") == "red"
    publish({"color": "blue"})
    assert asyncio.run(async_app("/")) == "blue"


def test_a_damaged_version_is_not_served_and_is_logged(
    space: Space[str], path: Path, publish: Publish, caplog: pytest.LogCaptureFixture
) -> None:
    publish({"color": "red"})
    space.refresh()
    publish({"color": "blue"})
    os.truncate(path / "current" / "hammerspace.spl", 10)
    app = WSGIRefresh(lambda environ, start_response: [space[b"color"]], space)
    with caplog.at_level(logging.ERROR, "hammerspace"):
        assert get(app) == b"red"
    assert "older version" in caplog.text and "hammerspace.spl" in caplog.text
    publish({"color": "green"})
    assert get(app) == b"green"
