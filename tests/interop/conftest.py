"""Runs Volary's side of the tests: crates/formats/examples/interop.rs, and the Python package of the command."""

import json
import subprocess

import pytest
from programs import ROOT, program


@pytest.fixture(scope="session")
def volary():
    """A function that asks Volary: volary(argument, ..., data) gives what it answers."""
    interop = program("interop")

    def ask(*arguments, data=None):
        done = subprocess.run(
            [interop, *map(str, arguments)],
            cwd=ROOT,
            input=json.dumps(data),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


@pytest.fixture
def package(monkeypatch):
    """The Python package, which calls the command that was built."""
    monkeypatch.syspath_prepend(str(ROOT / "crates/cli/python"))
    monkeypatch.setenv("VOLARY_PROGRAM", program("volary"))
    import volary

    return volary
