"""A local model server that answers, or misbehaves in a way that a test chooses."""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def chat(content):
    """Return the body of a good chat completion."""
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}).encode()


def locker_claims(text):
    """Return what an honest model says of a text of these tests."""
    if "locker is" not in text:
        return []
    value = text.split("locker is ")[1].split(".")[0].split(",")[0]
    return [{"type": "belief", "quote": f"locker is {value}", "property": "locker", "value": value}]


def honest(texts):
    """Return the content of an honest answer."""
    answers = [{"id": one["id"], "claims": locker_claims(one["text"])} for one in texts]
    return json.dumps({"answers": answers})


BEHAVIOURS = {
    "honest": lambda answer: answer.send(chat(honest(answer.texts))),
    "fenced": lambda answer: answer.send(chat(f"```json\n{honest(answer.texts)}\n```")),
    "busy once": lambda answer: answer.once_busy(),
    "broken": lambda answer: answer.fail(500),
    "forbidden": lambda answer: answer.fail(401),
    "redirecting": lambda answer: answer.fail(307, location="http://127.0.0.1:9/v1/chat/completions"),
    "not json": lambda answer: answer.send(b"<html>Welcome</html>"),
    "other shape": lambda answer: answer.send(b'{"choices": []}'),
    "prose": lambda answer: answer.send(chat("The user has a locker, how nice.")),
    "truncated": lambda answer: answer.send(chat(honest(answer.texts)[:-9])),
    "nested": lambda answer: answer.send(chat("[" * 100_000)),
    "wrong numbers": lambda answer: answer.send(chat(json.dumps({"answers": WRONG_NUMBERS}))),
    "hangs up": lambda answer: answer.hang_up(),
    "silent": lambda _: time.sleep(1.5),
    "dripping": lambda answer: answer.drip(),
    "endless": lambda answer: answer.flood(),
}
WRONG_NUMBERS = [{"id": 900, "claims": []}, {"id": "0", "claims": []}, {"id": True}]


class Answer(BaseHTTPRequestHandler):
    """Answers one request as the server was told to."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Take note of the request, and behave."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        asked = self.server.asked
        asked.append({"path": self.path, "key": self.headers.get("authorization"), **request})
        self.count = len(asked)
        self.texts = json.loads(request["messages"][-1]["content"])
        try:
            BEHAVIOURS[self.server.behaviour](self)
        except OSError:
            self.close_connection = True

    def send(self, body):
        """Send a good response."""
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def once_busy(self):
        """Ask to wait the first time."""
        if self.count == 1:
            self.fail(429)
        else:
            self.send(chat(honest(self.texts)))

    def fail(self, code, location=None):
        """Send a failure without a body."""
        self.send_response(code)
        if location:
            self.send_header("location", location)
        self.send_header("retry-after", "0")
        self.send_header("content-length", "0")
        self.end_headers()

    def hang_up(self):
        """End the connection without an answer."""
        self.close_connection = True

    def drip(self):
        """Send a byte now and then."""
        self.send_response(200)
        self.send_header("content-length", "100000")
        self.end_headers()
        for _ in range(40):
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.1)

    def flood(self):
        """Send far more than anybody needs."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("connection", "close")
        self.end_headers()
        for _ in range(64):
            self.wfile.write(b" " * (1 << 20))

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def model_server(behaviour):
    """Yield the address of a server that behaves so, and the list of requests it was sent."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        server.daemon_threads = True
        server.behaviour, server.asked = behaviour, []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", server.asked
        finally:
            server.shutdown()
