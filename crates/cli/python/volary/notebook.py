"""The widget of ``volary.show``: episodes in a notebook, in the view of the page that is made for frames.

The page comes from the command, which serves it on a port of this machine and ends with this process. Episodes reach it as
messages from the notebook in the browser, and what the reader does comes back as traits of the widget.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from . import Error, program, read

_HERE = Path(__file__).parent
#: What ``?embed=1`` is added to.
_EMBED = "embed=1"


class Episodes(anywidget.AnyWidget):
    """Episodes in a frame. Traits can be observed and set: ``widget.observe(handler, "step")``."""

    _esm = _HERE / "widget.js"
    _css = _HERE / "widget.css"

    #: The address of the view for frames.
    _page = traitlets.Unicode().tag(sync=True)
    #: In pixels.
    _height = traitlets.Int().tag(sync=True)
    _names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    #: The shown episode: its place and the text of its file.
    _load = traitlets.Dict().tag(sync=True)

    #: Which episode is shown, from 0.
    index = traitlets.Int().tag(sync=True)
    #: The selected step; 0 is the start.
    step = traitlets.Int(min=0).tag(sync=True)
    #: The number of steps of the shown episode, once it is shown.
    steps = traitlets.Int().tag(sync=True)
    #: Its title, once it is shown.
    title = traitlets.Unicode().tag(sync=True)
    #: The text that the reader selected last: ``{"step": …, "text": …}``.
    selection = traitlets.Dict().tag(sync=True)
    #: The reader's notes: ``{"episode": index, "id": …, "step": …, "text": …, "label": …}`` each.
    notes = traitlets.List(traitlets.Dict()).tag(sync=True)
    #: Why the shown episode could not be shown; empty if it could.
    error = traitlets.Unicode().tag(sync=True)

    def __init__(self, episodes: list[tuple[str, str]], **traits: Any) -> None:
        self._texts = [text for _, text in episodes]
        index = traits.pop("index", 0)
        names = [name for name, _ in episodes]
        super().__init__(_names=names, _load=self._loaded(index), index=index, **traits)
        self.observe(self._choose, "index")

    @traitlets.validate("index")
    def _is_there(self, proposal: Any) -> int:
        if not 0 <= proposal["value"] < len(self._texts):
            raise traitlets.TraitError(f"there are {len(self._texts)} episodes, from 0")
        return proposal["value"]

    def _choose(self, change: Any) -> None:
        with self.hold_sync():
            self.set_trait("selection", {})
            self.set_trait("error", "")
            self.set_trait("step", 0)
            self.set_trait("_load", self._loaded(change["new"]))

    def _loaded(self, index: int) -> dict[str, Any]:
        return {"index": index, "episode": self._texts[index] if 0 <= index < len(self._texts) else ""}


def show(episodes: Any, index: int, step: int, height: int, page_url: str | None, port: int) -> Episodes:
    """See ``volary.show``."""
    texts = _texts(episodes)
    if not texts:
        raise Error("there is no episode to show")
    page = _served(port) if page_url is None else _embedded(page_url)
    return Episodes(texts, index=index, step=step, _height=height, _page=page)


def _embedded(url: str) -> str:
    """The address of the view for frames of a page."""
    page, _, _ = url.partition("#")
    _, _, query = page.partition("?")
    if _EMBED in query.split("&"):
        return page
    return f"{page}{'&' if '?' in page else '?'}{_EMBED}"


def _texts(episodes: Any) -> list[tuple[str, str]]:
    """The name of each episode, and the text of its file."""
    if isinstance(episodes, (str, os.PathLike)):
        return _named(read(episodes))
    if _is_plain(episodes):
        return _named([episodes])
    if not isinstance(episodes, Iterable):
        raise Error(f"an episode is a dictionary, messages are a list, and files are paths; this is {type(episodes).__name__}")
    episodes = list(episodes)
    if episodes and all(isinstance(episode, (str, os.PathLike)) for episode in episodes):
        return _named(read(episodes))
    if episodes and all(map(_is_message, episodes)):
        return _named([{"messages": episodes}])
    # A list of messages in the place of an episode is one.
    return _named({"messages": episode} if isinstance(episode, (list, tuple)) else episode for episode in episodes)


def _named(episodes: Iterable[Any]) -> list[tuple[str, str]]:
    named = []
    for number, episode in enumerate(episodes, 1):
        name = episode.get("name") if isinstance(episode, Mapping) else None
        name = name if isinstance(name, str) and name else f"Episode {number}"
        try:
            named.append((name, json.dumps(episode, default=_plain, ensure_ascii=False)))
        except (TypeError, ValueError) as error:
            raise Error(f"{name} cannot be written as JSON: {error}") from error
    if len(named) == 1 and named[0][0] == "Episode 1":
        return [("Episode", named[0][1])]
    return named


def _is_plain(value: Any) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "model_dump")


def _is_message(value: Any) -> bool:
    return "role" in value if isinstance(value, Mapping) else _is_plain(value) and hasattr(value, "role")


def _plain(value: Any) -> Any:
    """What ``json`` does not know: models of pydantic, and mappings that are no dictionaries."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no dictionary, list, text or number")


#: The running commands: by process, because a fork must not use its parent's, and by the port that was asked for.
_SERVERS: dict[tuple[int, int], tuple[subprocess.Popen[bytes], str]] = {}


def _served(port: int) -> str:
    """The address of the page of this process, which is served from the first call on."""
    key = (os.getpid(), port)
    known = _SERVERS.get(key)
    if known and known[0].poll() is None:
        return known[1]
    with tempfile.TemporaryFile() as said:
        # It ends when its input does: also if this process is killed.
        command = [program(), "embed", "--port", str(port)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said)
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            process.wait()
            said.seek(0)
            reason = said.read().decode(errors="replace").strip()
            raise Error(reason.removeprefix("error: ") or f"volary ended with status {process.returncode}")
    url = json.loads(line)["url"]
    atexit.register(_end, key)
    _SERVERS[key] = (process, url)
    return url


def _end(key: tuple[int, int]) -> None:
    if key[0] == os.getpid() and key in _SERVERS:
        process, _ = _SERVERS.pop(key)
        with process:
            process.terminate()
