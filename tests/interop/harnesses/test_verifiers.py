"""`volary view` shows an evaluation of verifiers while it runs, and its rewards are read."""

import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from conftest import PATIENCE
from programs import program


class Model(BaseHTTPRequestHandler):
    """An OpenAI-compatible model that always says "three", about a sapphire only when the test goes on."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "sapphire" in body["messages"][-1]["content"]:
            self.server.may_end.wait(PATIENCE)
        message = {"role": "assistant", "content": "There are three."}
        answer = json.dumps({
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8},
        }).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def model():
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        server.may_end = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.may_end.set()
        server.shutdown()


def test_rollouts_are_found_while_others_run(view, model, tmp_path):
    view, logs = view
    told = threading.Event()

    def listen():
        view.wait_for_change("traces.jsonl")
        told.set()

    threading.Thread(target=listen, daemon=True).start()
    command = [Path(sys.executable).with_name("vf-eval"), "boxes", "--env.agent.harness.id", "boxes"]
    command += ["--env.agent.runtime.type", "subprocess", "--no-push", "--no-rich", "-c", "1", "-m", "mock"]
    command += ["--client.base-url", f"http://127.0.0.1:{model.server_port}/v1", "--client.api-key-var", "KEY"]
    environment = os.environ | {"HOME": str(tmp_path), "KEY": "any", "PYTHONPATH": str(Path(__file__).parent)}
    log = tmp_path / "vf-eval.log"
    with log.open("w") as said, subprocess.Popen(
        [*command, "-o", logs], stdout=said, stderr=said, env=environment, cwd=tmp_path
    ) as run:
        try:
            assert told.wait(2 * PATIENCE), log.read_text()
            assert any(path.endswith("traces.jsonl") for path in view.files())
            patience = time.monotonic() + PATIENCE
            while not view.found("marbles"):
                assert time.monotonic() < patience, "the first rollout is not found"
                time.sleep(0.1)
            assert not view.found("sapphire"), "the second rollout is not there yet"
            model.may_end.set()
            assert run.wait(PATIENCE) == 0, log.read_text()
        finally:
            run.kill()
    [first], [second] = view.found("marbles"), view.found("sapphire")
    assert (first, second) == ("0", "1")
    stats = subprocess.run(
        [program("volary"), "stats", "--json", *logs.rglob("traces.jsonl")], capture_output=True, text=True, check=True
    )
    rows = json.loads(stats.stdout)["rows"]
    shown = ["name", "environment", "model", "reward", "steps", "tokens", "outcome"]
    assert [[row[key] for key in shown] for row in rows] == [
        ["0", "boxes", "mock", 1.0, 1, 8, "agent_completed"],
        ["1", "boxes", "mock", 0.0, 1, 8, "agent_completed"],
    ]
