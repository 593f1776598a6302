"""A model hub on this machine, that serves one folder as the repository of BGE-M3."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

REVISION = "5617a9f61b028005a4858fdac845db406aefb181"


class Hub:
    """Its address, and the names of the files that were fetched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.fetched: set[str] = set()
        self.url = ""

    def names(self) -> list[str]:
        """All files of the repository."""
        every = (p for p in self.folder.rglob("*") if p.is_file())
        return sorted(str(p.relative_to(self.folder)) for p in every)


@contextmanager
def serving(folder: Path) -> Iterator[Hub]:
    """Serve ``folder`` until the block ends."""
    hub = Hub(folder)

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.answer(with_body=False)

        def do_GET(self) -> None:
            self.answer(with_body=True)

        def answer(self, with_body: bool) -> None:
            path = self.path.partition("?")[0]
            prefix = f"/BAAI/bge-m3/resolve/{REVISION}/"
            if path.startswith("/api/models/BAAI/bge-m3"):
                siblings = [{"rfilename": name} for name in hub.names()]
                body = json.dumps(
                    {"id": "BAAI/bge-m3", "sha": REVISION, "siblings": siblings}
                ).encode()
            elif path.startswith(prefix) and path.removeprefix(prefix) in hub.names():
                body = (hub.folder / path.removeprefix(prefix)).read_bytes()
                if with_body:
                    hub.fetched.add(path.removeprefix(prefix))
            else:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
            self.send_header("X-Repo-Commit", REVISION)
            self.end_headers()
            if with_body:
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
