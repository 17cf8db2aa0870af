"""A small OpenID Connect provider of this machine, for tests: anyone who asks picks who they are.

Authorisation code with PKCE (RFC 7636), an ID token signed with RS256, a page with a button each.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "workbench", "only-for-tests"


class Provider(ThreadingHTTPServer):
    """Serves `people` by their subject; `grants` are codes that were not redeemed yet."""

    def __init__(self, people: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.people = people
        self.key = RSAKey.generate_key(2048, {"kid": "test", "use": "sig"})
        self.grants: dict[str, dict[str, str]] = {}
        self.issuer = f"http://localhost:{self.server_address[1]}"

    def token(self, sent: Mapping[str, str]) -> dict[str, Any]:
        """Redeem a code once, where the verifier is that of the one who asked for it."""
        asked = self.grants.pop(sent["code"])
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        assert asked["code_challenge"] == base64.urlsafe_b64encode(digest).decode().rstrip("=")
        assert asked["redirect_uri"] == sent["redirect_uri"]
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": asked["as"],
            "iat": now,
            "exp": now + 600,
            "nonce": asked["nonce"],
            **self.people[asked["as"]],
        }
        signed = jwt.encode({"alg": "RS256", "kid": "test"}, claims, self.key)
        return {"access_token": "unused", "token_type": "Bearer", "id_token": signed}


class _Answers(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        here = self.server.issuer
        if parts.path == "/.well-known/openid-configuration":
            self._json(
                {
                    "issuer": here,
                    "authorization_endpoint": f"{here}/authorize",
                    "token_endpoint": f"{here}/token",
                    "jwks_uri": f"{here}/jwks",
                    "response_types_supported": ["code"],
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": ["RS256"],
                    "code_challenge_methods_supported": ["S256"],
                }
            )
        elif parts.path == "/jwks":
            self._json({"keys": [self.server.key.as_dict(private=False)]})
        elif parts.path == "/authorize" and asked.get("as") in self.server.people:
            code = secrets.token_urlsafe(16)
            self.server.grants[code] = asked
            back = urlencode({"code": code, "state": asked["state"]})
            self._send(302, b"", Location=f"{asked['redirect_uri']}?{back}")
        elif parts.path == "/authorize":
            links = "".join(
                f'<p><a href="/authorize?{urlencode({**asked, "as": subject})}">{one["name"]}</a>'
                for subject, one in self.server.people.items()
            ).replace("&", "&amp;")
            page = f'<html lang="en"><link rel="icon" href="data:,"><body>{links}</body></html>'
            self._send(200, page.encode(), **{"Content-Type": "text/html"})
        else:
            self._send(404, b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        sent = {name: values[0] for name, values in parse_qs(body).items()}
        self._json(self.server.token(sent))

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""

    def _json(self, settings: object) -> None:
        self._send(200, json.dumps(settings).encode(), **{"Content-Type": "application/json"})

    def _send(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def provided(people: Mapping[str, Mapping[str, Any]]) -> Iterator[Provider]:
    """Run a provider that knows these people."""
    with Provider(people) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
