"""A stand-in for object storage: folders of this machine as buckets, shown as S3 tells them."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class ObjectStore:
    """What a server holds and what it was asked for; tests make it fail.

    Attributes
    ----------
    root : Path
        A folder with a folder for each bucket.
    port : int
    asked : list of tuple of (str, str, str)
        Method, key and range of each request.
    sent : int
        Bytes of objects that were sent.
    refused : bool
        Whether nobody has rights.
    cut_after : int or None
        Bytes of an object after which the connection breaks.
    before_reading : callable or None
        Is called with the number of the request for bytes before it is answered.
    delay : float
        Seconds that every answer takes to begin.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.port = root, 0
        self.asked: list[tuple[str, str, str]] = []
        self.sent = 0
        self.refused = False
        self.cut_after: int | None = None
        self.before_reading: object = None
        self.delay = 0.0
        self.lock = threading.Lock()

    def address(self, key: str) -> str:
        """Return the address of an object or a folder, such as ``bucket/t.parquet``."""
        where = f"endpoint_override=127.0.0.1:{self.port}&scheme=http&region=us-east-1"
        return f"s3://{key}?{where}"


@contextmanager
def object_store(root: Path) -> Generator[ObjectStore]:
    """Serve folders of a folder as buckets, at a port of this machine."""
    store = ObjectStore(root)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(store))
    server.daemon_threads = True
    store.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler_of(store: ObjectStore) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._answer()

        def do_GET(self) -> None:
            self._answer()

        def _answer(self) -> None:
            asked = urlsplit(self.path)
            key, query = unquote(asked.path).strip("/"), parse_qs(asked.query)
            with store.lock:
                store.asked.append((self.command, key, self.headers.get("Range", "")))
            time.sleep(store.delay)
            if store.refused:
                self._refuse(403, "AccessDenied")
            elif "list-type" in query:
                self._list(key, query)
            elif not (store.root / key).is_file():
                bucket = store.root / key.partition("/")[0]
                if "/" not in key and bucket.is_dir():
                    self._send(200, b"")
                else:
                    self._refuse(404, "NoSuchKey" if bucket.is_dir() else "NoSuchBucket")
            else:
                self._object(key)

        def _object(self, key: str) -> None:
            file = store.root / key
            if self.command == "GET" and callable(store.before_reading):
                store.before_reading(sum(1 for one in store.asked if one[0] == "GET"))
            answer = file.stat()
            begin, end = 0, answer.st_size
            span = self.headers.get("Range", "")
            if span:
                first, _, last = span.removeprefix("bytes=").partition("-")
                begin, end = int(first), min(int(last) + 1 if last else end, end)
            self.send_response(206 if span else 200)
            self.send_header("Content-Length", str(end - begin))
            if span:
                self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{answer.st_size}")
            mark = hashlib.md5(f"{answer.st_mtime_ns} {answer.st_size} {answer.st_ino}".encode())
            self.send_header("ETag", f'"{mark.hexdigest()}"')
            self.send_header("Last-Modified", formatdate(answer.st_mtime, usegmt=True))
            self.send_header("Accept-Ranges", "bytes")
            self.end_headers()
            if self.command == "HEAD":
                return
            left = end - begin
            if store.cut_after is not None:
                left = max(min(left, store.cut_after - store.sent), 0)
            cut = left < end - begin
            with file.open("rb") as opened:
                opened.seek(begin)
                while left and (piece := opened.read(min(left, 1 << 20))):
                    self.wfile.write(piece)
                    left -= len(piece)
                    with store.lock:
                        store.sent += len(piece)
            if cut:
                self.close_connection = True

        def _list(self, bucket: str, query: dict[str, list[str]]) -> None:
            root = store.root / bucket
            if not root.is_dir():
                self._refuse(404, "NoSuchBucket")
                return
            prefix = query.get("prefix", [""])[0]
            keys = sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
            found = "".join(
                f"<Contents><Key>{escape(key)}</Key><Size>{(root / key).stat().st_size}</Size>"
                "<LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>x</ETag>"
                "<StorageClass>STANDARD</StorageClass></Contents>"
                for key in keys
                if key.startswith(prefix)
            )
            self._send(
                200,
                (
                    '<?xml version="1.0" encoding="UTF-8"?>'
                    '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
                    f"<Name>{escape(bucket)}</Name><Prefix>{escape(prefix)}</Prefix>"
                    f"<KeyCount>{found.count('<Key>')}</KeyCount><MaxKeys>1000</MaxKeys>"
                    f"<IsTruncated>false</IsTruncated>{found}</ListBucketResult>"
                ).encode(),
            )

        def _refuse(self, status: int, code: str) -> None:
            text = f"<Error><Code>{code}</Code><Message>{code}</Message></Error>"
            self._send(status, f'<?xml version="1.0" encoding="UTF-8"?>{text}'.encode())

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    return Handler
