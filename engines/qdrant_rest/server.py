"""The HTTP server: limited connections, limited bodies, JSON requests and responses."""

import sys
import threading
import time
import traceback
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

import orjson

from . import routes
from .errors import Refusal, as_refusal, bad_format

# The client compares this version with its own. Our responses were checked against this version.
VERSION = "1.18.0"
MAX_BODY_BYTES = 64 * 1024 * 1024
MAX_CONNECTIONS = 128
IDLE_CONNECTION_S = 60
IDLE_S = 5
DISCARD_BYTES = 1024 * 1024
# Exceptions when a client disconnects or times out.
GONE = (ConnectionError, TimeoutError)
HEALTH = ("/healthz", "/livez", "/readyz")


class Server(ThreadingHTTPServer):
    """Runs one thread per connection, at most MAX_CONNECTIONS; further connections wait to be accepted."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, port, collections):
        super().__init__(("127.0.0.1", port), Handler)
        self.collections = collections
        self.slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self.counting = threading.Lock()
        self.active_requests = 0
        self.last_request = time.monotonic()

    def process_request(self, request, client_address):
        self.slots.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.slots.release()

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], GONE):
            super().handle_error(request, client_address)

    @contextmanager
    def active_request(self):
        with self.counting:
            self.active_requests += 1
        try:
            yield
        finally:
            with self.counting:
                self.active_requests -= 1
                self.last_request = time.monotonic()

    def is_idle(self):
        return not self.active_requests and time.monotonic() - self.last_request > IDLE_S


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_CONNECTION_S
    wbufsize = -1  # head and body are sent in one packet
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def handle_any(self):
        started = time.perf_counter()
        path = urlsplit(self.path).path
        if path in HEALTH:
            return self.answer(200, b"ok", "text/plain")
        try:
            with self.server.active_request():
                status, answer = 200, self.answer_to(path)
        except GONE:
            raise
        except BaseException as error:  # a panic of the engine is not an Exception
            refusal = as_refusal(error)
            if refusal.status == 500:
                traceback.print_exc()
            status, answer = refusal.status, {"status": {"error": refusal.reason}}
        answer["time"] = time.perf_counter() - started
        self.answer(status, orjson.dumps(answer), "application/json")

    do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = handle_any

    def answer_to(self, path):
        body = self.body()
        if path == "/":
            return {"title": "qdrant - vector search engine", "version": VERSION}
        handler, name, argument = routes.find(self.command, path)
        result = handler(self.server.collections, body, name and unquote(name), argument and unquote(argument))
        return {"result": result, "status": "ok"}

    def body(self):
        if "transfer-encoding" in self.headers:
            self.close_connection = True
            raise Refusal(411, "Send the body with a content-length")
        size = int(self.headers.get("content-length") or 0)
        if size > MAX_BODY_BYTES:
            self.discard(size)
            raise Refusal(413, f"JSON payload ({size} bytes) is larger than allowed (limit: {MAX_BODY_BYTES} bytes).")
        content = self.rfile.read(size)
        if not content:
            return {}
        # A page in a browser may post to this address, but not as JSON unless we allow it.
        if not self.headers.get("content-type", "").startswith("application/json"):
            raise Refusal(415, "Content-Type must be application/json")
        try:
            body = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            raise bad_format(str(error)) from None
        if not isinstance(body, dict):
            raise bad_format("expected an object")
        return body

    def discard(self, size):
        """Reads and discards the rest of the body, so that the sender receives the response."""
        self.close_connection = True
        while size > 0:
            piece = self.rfile.read(min(size, DISCARD_BYTES))
            if not piece:
                return
            size -= len(piece)

    def answer(self, status, content, kind):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()
