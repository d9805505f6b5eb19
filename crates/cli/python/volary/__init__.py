"""Reads, converts and shows trajectories of language agents, with the command ``volary`` that comes in this package.

``read`` gives episodes as dictionaries, ``convert`` writes them in another format, and ``show`` shows them in a notebook. The command does the work, so what
``volary --help`` says of formats holds here too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from pathlib import Path
from typing import Any, Iterator, Union

__all__ = ["Error", "convert", "program", "read", "show"]

#: A path, or several.
Paths = Union[str, "os.PathLike[str]", "list[str | os.PathLike[str]]"]

#: The statuses with which a command has done its work: in full, in part, and with keys in what it wrote.
_DONE = (0, 1, 3)


class Error(Exception):
    """The command could not do its work. The message is what it printed."""


def program() -> str:
    """The path of the command that belongs to this package."""
    name = "volary.exe" if os.name == "nt" else "volary"
    folders = [sysconfig.get_path("scripts")]
    # `pip install --user` and `pip install --target`.
    folders.append(sysconfig.get_path("scripts", "nt_user" if os.name == "nt" else "posix_user"))
    folders.append(str(Path(__file__).parent.parent / "bin"))
    # Tests set the variable to a program of their own.
    chosen = os.environ.get("VOLARY_PROGRAM")
    for path in [chosen] if chosen else [os.path.join(folder, name) for folder in folders]:
        if os.path.isfile(path):
            return path
    raise Error(f"the command `volary` is in none of {', '.join(folders)}; install the package again")


def read(path: Paths) -> Iterator[dict[str, Any]]:
    """Yields the episodes of files and folders, as dictionaries.

    They are Volary's own format, which holds everything: ``start`` has the messages before the first step, and each of
    ``steps`` an ``action``, the ``observation`` after it and a reward. The command reads all files before the first episode
    is yielded. What cannot be read is a warning.
    """
    with tempfile.TemporaryDirectory(prefix="volary-") as folder:
        report = convert(path, to="volary", out=folder)
        for file in report["written"]:
            with open(file, encoding="utf-8") as text:
                yield json.load(text)


def convert(
    path: Paths, *, to: str, out: str | os.PathLike[str], mask: bool = False, yes: bool = False
) -> dict[str, Any]:
    """Writes episodes in another format, and returns the report of ``volary convert --json``.

    ``out`` is a file for formats that hold many episodes, and otherwise a folder. ``mask`` masks keys, tokens, passwords and
    e-mail addresses; without it the member ``sensitive`` of the report lists them. ``yes`` allows more than 10,000 files.
    """
    arguments = ["convert", "--to", to, "--out", os.fspath(out), "--json"]
    if mask:
        arguments.append("--mask")
    if yes:
        arguments.append("--yes")
    printed = _run(arguments + ["--", *_paths(path)])
    report = json.loads(printed)
    for note in report["notes"]:
        if note["is_loss"]:
            warnings.warn(f"{note['file']}: {note['text']}", stacklevel=3)
    return report


def show(
    episodes: Any,
    *,
    index: int = 0,
    step: int = 0,
    height: int = 600,
    page_url: str | None = None,
    port: int = 0,
) -> Any:
    """Returns a widget that shows episodes in Jupyter and other notebooks. It needs ``pip install 'volary[notebook]'``.

    ``episodes`` is a path or a list of paths, an episode as a dictionary in any format that the page reads, a list of
    episodes, or a list of messages. ``index`` and ``step`` are shown first, and ``height`` is in pixels.

    The widget's traits ``index`` and ``step`` follow the reader and can be set; ``selection`` and ``notes`` are what the
    reader selected and wrote.

    The page is served by this process on ``port`` of its machine, by default a free one. A browser elsewhere reaches it
    through a forwarded port, or uses another page of Volary at ``page_url``.
    """
    try:
        from . import notebook
    except ModuleNotFoundError as error:
        if error.name not in ("anywidget", "traitlets"):
            raise
        raise Error("a notebook needs anywidget to show episodes: pip install 'volary[notebook]'") from error
    try:
        return notebook.show(episodes, index, step, height, page_url, port)
    except Error as error:
        # A notebook would show a page of our own code before the reason.
        raise error.with_traceback(None) from None


def _paths(path: Paths) -> list[str]:
    paths = path if isinstance(path, (list, tuple)) else [path]
    return [os.fspath(path) for path in paths]


def _run(arguments: list[str]) -> str:
    ended = subprocess.run([program(), *arguments], capture_output=True, text=True, encoding="utf-8", check=False)
    if ended.returncode not in _DONE or not ended.stdout:
        raise Error(ended.stderr.strip().removeprefix("error: ") or f"volary ended with status {ended.returncode}")
    return ended.stdout


def main() -> None:
    """Runs the command, for ``python -m volary``."""
    command = [program(), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.run(command, check=False).returncode)
    os.execv(command[0], command)
