"""Runs Volary's side of the tests of trajectory formats: crates/formats/examples/interop.rs, and `volary view`."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from programs import ROOT, program  # noqa: E402  (from the folder above)

# Seconds until a test gives up.
PATIENCE = 30


@pytest.fixture(scope="session")
def volary():
    """A function that asks Volary: volary(argument, ...) gives what it answers."""
    interop = program("interop")

    def ask(*arguments):
        done = subprocess.run(
            [interop, *map(str, arguments)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


@pytest.fixture(scope="session")
def fixture():
    """The path of a file that is like those of other tools."""
    return lambda name: ROOT / "crates/formats/tests/fixtures" / name


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

    def wait_for_change(self, word):
        """Waits until an event names a path with this word."""
        with self.get("events") as events:
            for line in events:
                if line.startswith(b"data: {") and word.encode() in line:
                    return

    def files(self):
        """The paths of the files."""
        with self.get("files") as answer:
            return [line["path"] for line in map(json.loads, answer) if "path" in line]

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
