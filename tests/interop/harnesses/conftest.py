"""Runs Volary's side of the tests of trajectory formats: crates/trajectory/examples/interop.rs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from programs import ROOT, program  # noqa: E402  (from the folder above)


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
    return lambda name: ROOT / "crates/trajectory/tests/fixtures" / name
