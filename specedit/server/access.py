"""Checks Host, Origin and token of a request before anything is read.

The Unix socket is private by its folder. On TCP a foreign Host or Origin is refused, so that no
web page drives the local model, and our own protocol needs a token. Pure ASGI, because it must not
buffer a stream.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from specedit.server.refusal import Refusal, respond

App = Callable[[Any, Any, Any], Awaitable[None]]
OWN = "/specedit/"
UNIX = ("unix", None)  # the server's address in the scope of a request over the private socket
# A name or an address, and a port: nothing that a reader could take for another part of a URL.
_HOST = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[0-9A-Za-z._-]+))(?::\d{1,5})?")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Listener:
    """Host and token of the TCP listener."""

    host: str = "127.0.0.1"
    token: str = ""

    @property
    def loopback(self) -> bool:
        return is_loopback(self.host)

    def accepts(self, token: bytes) -> bool:
        """Whether this is the token: in UTF-8, or in Latin-1, as some clients write headers."""
        encoded = [self.token.encode()]
        with suppress(UnicodeEncodeError):
            encoded.append(self.token.encode("latin-1"))
        return max(hmac.compare_digest(token, own) for own in encoded)


def is_loopback(host: str) -> bool:
    if host in _LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Access:
    """The app behind the checks."""

    def __init__(self, app: App, listener: Listener) -> None:
        self._app = app
        self._listener = listener

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and (refusal := self.refusal(scope)) is not None:
            await respond(refusal)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def refusal(self, scope: Mapping[str, Any]) -> Refusal | None:
        if scope.get("server") == UNIX:
            return None
        raw = dict(scope["headers"])
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in raw.items()}
        host = headers.get("host", "")
        if not self._ours(host):
            return Refusal(
                403, f"The Host {host!r} is not this server's.", code="foreign_host", kind=_DENIED
            )
        origin = headers.get("origin")
        foreign = origin is not None and origin not in (f"http://{host}", f"https://{host}")
        if foreign or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return Refusal(
                403, "A web page may not use this server.", code="foreign_origin", kind=_DENIED
            )
        return self._token_refusal(scope["path"], raw.get(b"authorization", b""))

    def _ours(self, host: str) -> bool:
        """Whether no DNS rebinding can have chosen it: loopback, an address, or our own name."""
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = (match["six"] or match["name"]).lower()
        if is_loopback(name):
            return True
        if self._listener.loopback:
            return False
        try:
            ipaddress.ip_address(name)
            return True
        except ValueError:
            return name in (self._listener.host.lower(), socket.gethostname().lower())

    def _token_refusal(self, path: str, authorization: bytes) -> Refusal | None:
        if not self._listener.token:
            if path.startswith(OWN):
                return Refusal(
                    403, "Use the Unix socket, or a server with a token.",
                    code="token_required", kind=_DENIED,
                )  # fmt: skip
            return None
        if path == "/health":
            return None
        scheme, _, token = authorization.partition(b" ")
        if scheme.lower() == b"bearer" and self._listener.accepts(token.strip()):
            return None
        return Refusal(
            401, "Incorrect API key provided.", code="invalid_api_key",
            headers=(("www-authenticate", "Bearer"),),
        )  # fmt: skip


_DENIED = "permission_error"
