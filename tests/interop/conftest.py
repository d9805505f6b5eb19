"""Runs Volary's side of the tests: crates/trajectory/examples/interop.rs."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def volary():
    """A function that asks Volary: volary(argument, ..., data) gives what it answers."""
    cargo = os.environ.get("CARGO", "cargo")
    package = ["-q", "-p", "volary-trajectory", "--example", "interop"]
    subprocess.run([cargo, "build", *package], cwd=ROOT, check=True)

    def ask(*arguments, data=None):
        done = subprocess.run(
            [cargo, "run", *package, "--", *map(str, arguments)],
            cwd=ROOT,
            input=json.dumps(data),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask
