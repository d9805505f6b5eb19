"""Runs Volary's side of the tests of wire formats, crates/agent/examples/wire, and servers beside it."""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from programs import ROOT, program  # noqa: E402  (from the folder above)

FIXTURES = ROOT / "crates/agent/tests/fixtures"
FORMATS = ["openai-chat", "openai-responses", "anthropic", "gemini", "mistral"]


@pytest.fixture(scope="session")
def wire():
    """A function that asks Volary: wire(do=..., ...) gives what it answers."""
    process = subprocess.Popen(
        [program("wire")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )

    def ask(**command):
        process.stdin.write(json.dumps(command) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert "failure" not in answer, answer["failure"]
        return answer

    yield ask
    process.stdin.close()
    process.wait()


@pytest.fixture(scope="session")
def read(wire):
    """A function that gives what Volary reads out of a reply: read(provider, body, stream=...)."""

    def read(provider, body, stream=False):
        kind = "text/event-stream" if stream else "application/json"
        answer = wire(do="reply", provider=provider, content_type=kind, body=body)
        assert "answer" in answer, answer
        return answer["answer"]

    return read


class Replayer:
    """A server that gives the same reply to everybody, and keeps what it was asked."""

    def __init__(self):
        replayer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers.get("content-length") or 0)
                replayer.asked.append(json.loads(self.rfile.read(length)))
                self.send_response(200)
                self.send_header("content-type", replayer.kind)
                self.send_header("content-length", str(len(replayer.body)))
                self.end_headers()
                self.wfile.write(replayer.body)

            def log_message(self, *_):
                pass

        self.asked, self.kind, self.body = [], "application/json", b"{}"
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def play(self, body, stream=False):
        """What is replied from now on."""
        self.body = body if isinstance(body, bytes) else body.encode()
        self.kind = "text/event-stream" if stream else "application/json"


@pytest.fixture(scope="session")
def replayer():
    replayer = Replayer()
    yield replayer
    replayer.server.shutdown()


@pytest.fixture(scope="session")
def node_server():
    """A function that starts a script of node and gives what it says first: its address."""
    processes = []

    def start(script, *arguments):
        process = subprocess.Popen(
            ["node", str(ROOT / script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return json.loads(process.stdout.readline())["url"]

    yield start
    for process in processes:
        process.kill()
        process.wait()
