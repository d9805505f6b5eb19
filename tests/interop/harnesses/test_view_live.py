"""`volary view` shows a log while inspect_ai writes it."""

import json
import subprocess
import threading
import time
import urllib.error
import urllib.request

import anyio
import pytest
from inspect_ai import Task, eval as run_eval
from inspect_ai.dataset import Sample
from inspect_ai.solver import solver
from programs import program

PATIENCE = 30


class View:
    """A running command, and who was let in."""

    def __init__(self, folder, page):
        command = [program("volary"), "view", folder, "--json", "--page", page]
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url, token = json.loads(self.child.stdout.readline())["url"].split("/#token=")
        body = json.dumps({"token": token}).encode()
        with urllib.request.urlopen(f"{self.url}/api/session", body, PATIENCE) as answer:
            self.cookie = answer.headers["Set-Cookie"].split(";")[0]

    def get(self, path):
        request = urllib.request.Request(f"{self.url}/api/{path}", headers={"Cookie": self.cookie})
        return urllib.request.urlopen(request, timeout=PATIENCE)

    def found(self, word):
        """The episodes with a word."""
        with self.get(f"search?q={word}") as answer:
            lines = [json.loads(line) for line in answer]
        return {line["name"] for line in lines if "hit" in line}


@pytest.fixture
def view(tmp_path):
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("<html><head></head><p>page")
    logs = tmp_path / "logs"
    logs.mkdir()
    view = View(logs, page)
    yield view, logs
    view.child.terminate()
    assert view.child.wait(PATIENCE) == 0


def test_samples_are_found_while_others_run(view):
    view, logs = view
    told, seen, problems = threading.Event(), threading.Event(), []

    def listen():
        with view.get("events") as events:
            for line in events:
                if line.startswith(b"data: {") and b".eval" in line:
                    return told.set()

    def watch():
        try:
            assert told.wait(PATIENCE), "no event names the log"
            patience = time.monotonic() + PATIENCE
            while not view.found("marble"):
                assert time.monotonic() < patience, "the first sample is not found"
                time.sleep(0.1)
            assert not view.found("sapphire"), "the second sample is not there yet"
        except (AssertionError, urllib.error.URLError) as problem:
            problems.append(problem)
        seen.set()

    @solver
    def answer():
        async def solve(state, generate):
            # The second sample runs until somebody has seen the first.
            while state.sample_id == 2 and not seen.is_set():
                await anyio.sleep(0.05)
            state.completed = True
            return state

        return solve

    threads = [threading.Thread(target=work, daemon=True) for work in (listen, watch)]
    for thread in threads:
        thread.start()
    samples = [Sample(input="a red marble", id=1), Sample(input="a blue sapphire", id=2)]
    [log] = run_eval(
        Task(dataset=samples, solver=answer(), name="boxes"),
        model="mockllm/model",
        log_dir=str(logs),
        log_format="eval",
        log_buffer=1,
        max_samples=1,
        display="none",
    )
    assert log.status == "success", log.error
    assert not problems, problems
    assert len(view.found("marble")) == len(view.found("sapphire")) == 1
