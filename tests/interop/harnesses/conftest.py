"""Runs Volary's side of the tests of trajectory formats: crates/trajectory/examples/interop.rs."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def volary():
    """A function that asks Volary: volary(argument, ...) gives what it answers."""
    cargo = os.environ.get("CARGO", "cargo")
    package = ["-q", "-p", "volary-trajectory", "--example", "interop", "--message-format=json"]
    built = subprocess.run([cargo, "build", *package], cwd=ROOT, check=True, capture_output=True)
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    [program] = [message["executable"] for message in messages if message.get("executable")]

    def ask(*arguments):
        done = subprocess.run(
            [program, *map(str, arguments)],
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
    return lambda name: ROOT / "crates/trajectory/tests/fixtures" / name
