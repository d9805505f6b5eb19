"""The widget of notebooks: what it makes of episodes, and the page that it serves. A browser shows it in tests/e2e."""

import json
import socket
import subprocess
import sys
import time
import types
import urllib.error
import urllib.request

import pytest

from programs import ROOT

EXAMPLE = ROOT / "public/examples/word-problems.jsonl"
CHAT = [{"role": "user", "content": "Say it."}, {"role": "assistant", "content": "Ärger"}]
#: A page elsewhere, which nothing is asked of here.
PAGE = "https://volary.example/page/"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with a page."""
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist/index.html").write_text("<html><head></head><p>home")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(widget):
    return json.loads(widget._load["episode"])


def test_whatever_is_an_episode_is_shown(package, folder):
    def show(episodes, **options):
        return package.show(episodes, page_url=PAGE, **options)

    chat = folder / "chat.jsonl"
    chat.write_text("".join(json.dumps({"messages": CHAT}) + "\n" for _ in range(3)))
    for path in [chat, str(chat), [chat]]:
        widget = show(path)
        assert len(widget._names) == 3 and shown(widget)["format"] == "volary-episode"
    assert shown(show(CHAT)) == {"messages": CHAT} and show(CHAT)._names == ["Episode"]
    message = types.SimpleNamespace(role="user", model_dump=lambda **_: CHAT[0])
    assert shown(show([message, CHAT[1]])) == {"messages": CHAT}
    assert shown(show({"messages": CHAT, "name": "One"}))["name"] == "One"
    widget = show(iter([{"messages": CHAT, "name": "One"}, CHAT]), index=1, step=1)
    assert widget._names == ["One", "Episode 2"] and shown(widget) == {"messages": CHAT} and widget.step == 1
    assert "Ärger" in widget._load["episode"]
    assert len(show(package.read(EXAMPLE))._names) == len(list(package.read(EXAMPLE)))


def test_another_episode_begins_at_its_start(package):
    widget = package.show([{"messages": CHAT}, {"messages": CHAT[:1]}], page_url=PAGE)
    widget.step = 2
    widget.notes = [{"episode": 0, "id": "a", "step": 2, "text": "Why?", "label": ""}]
    widget.index = 1
    assert (widget.step, widget._load["index"], shown(widget)) == (0, 1, {"messages": CHAT[:1]})
    assert widget.notes[0]["text"] == "Why?"
    with pytest.raises(Exception, match="there are 2 episodes"):
        widget.index = 2
    assert widget.index == 1


def test_the_address_is_that_of_the_view_for_frames(package):
    for page, embedded in [
        (PAGE, PAGE + "?embed=1"),
        (PAGE + "#/review", PAGE + "?embed=1"),
        (PAGE + "?a=b", PAGE + "?a=b&embed=1"),
        (PAGE + "?embed=1", PAGE + "?embed=1"),
    ]:
        assert package.show(CHAT, page_url=page)._page == embedded


def test_what_cannot_be_shown_is_said(package, folder, monkeypatch):
    for wrong, message in [([], "no episode"), (7, "is int"), ({"a": object()}, "cannot be written"), ("absent", "cannot read")]:
        with pytest.raises(package.Error, match=message):
            package.show(wrong, page_url=PAGE)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(package.Error, match="cannot listen"):
        package.show(CHAT, port=taken.getsockname()[1])
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "volary.notebook")
    monkeypatch.delattr(package, "notebook")
    with pytest.raises(package.Error, match=r"pip install 'volary\[notebook\]'"):
        package.show(CHAT)


def test_the_page_is_served_once_and_ends_with_the_process(package, folder, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "crates/cli/python"))
    script = f"""
import volary, sys, time
pages = [volary.show({CHAT!r})._page for _ in range(2)]
print(*pages, flush=True)
time.sleep(60)
"""
    kernel = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        page, again = kernel.stdout.readline().split()
        assert page == again and page.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(page, timeout=20) as answer:
            assert answer.read().endswith(b"<p>home")
    finally:
        # Without a chance to clean up.
        kernel.kill()
        kernel.wait()
    for _ in range(200):
        try:
            urllib.request.urlopen(page, timeout=20).close()
        except (urllib.error.URLError, ConnectionError):
            return
        time.sleep(0.05)
    raise AssertionError("the page is still served")
