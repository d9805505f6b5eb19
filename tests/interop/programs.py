"""The programs of the project that the tests run, built as the other tests build them.

Cargo chooses the features of dependencies by what a command builds. One command for the whole workspace, with an
example among its targets, chooses the same ones as the native tests, so nothing is compiled twice.
"""

import functools
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
CARGO = os.environ.get("CARGO", "cargo")


@functools.cache
def programs():
    """Builds all of them; returns their paths by name."""
    command = [CARGO, "build", "-q", "--workspace", "--bin", "volary"]
    for example in ["interop", "play", "wire"]:
        command += ["--example", example]
    subprocess.run(command, cwd=ROOT, check=True)
    done = subprocess.run(
        [*command, "--message-format=json"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    messages = map(json.loads, done.stdout.splitlines())
    return {m["target"]["name"]: m["executable"] for m in messages if m.get("executable")}


def program(name):
    """The path of a program: `volary`, or the name of an example."""
    return programs()[name]
