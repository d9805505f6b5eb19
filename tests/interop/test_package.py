"""The Python package of the command: what it reads and writes is what the command reads and writes."""

import json
import subprocess
import sys

import pytest

from programs import ROOT

EXAMPLE = ROOT / "public/examples/word-problems.jsonl"


def chat(folder, name, *words):
    lines = [{"messages": [{"role": "user", "content": "Say it."}, {"role": "assistant", "content": word}]} for word in words]
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / name


def test_episodes_are_dictionaries(package, tmp_path):
    episodes = list(package.read(EXAMPLE))
    assert [episode["name"] for episode in episodes][:2] == ["Roses that wilt, careful", "Roses that wilt, hasty"]
    first = episodes[0]
    assert first["start"][0]["role"] == "user"
    step = first["steps"][0]
    assert step["action"]["tool_calls"][0]["name"] == "calculator"
    assert step["observation"][0]["content"] == "120"
    paths = [str(chat(tmp_path, "a.jsonl", "one", "two")), chat(tmp_path, "-b.jsonl", "three")]
    assert len(list(package.read(paths))) == 3


def test_files_are_converted(package, tmp_path):
    source = chat(tmp_path, "a.jsonl", "key sk-ant-api03-" + "a1B2" * 20)
    out = tmp_path / "out.jsonl"
    report = package.convert(source, to="messages", out=out)
    assert report["episodes"] == 1 and report["written"] == [str(out)]
    assert report["sensitive"] and "sk-ant" in out.read_text()
    package.convert(source, to="messages", out=str(out), mask=True)
    assert "sk-ant" not in out.read_text()


def test_what_cannot_be_done_is_said(package, tmp_path, monkeypatch):
    with pytest.raises(package.Error, match="cannot read"):
        list(package.read(tmp_path / "absent"))
    with pytest.raises(package.Error, match="no trajectory was found"):
        package.convert(tmp_path, to="html", out=tmp_path / "out")
    with pytest.raises(package.Error, match="invalid value"):
        package.convert(EXAMPLE, to="docx", out=tmp_path / "out")
    monkeypatch.setenv("VOLARY_PROGRAM", str(tmp_path / "absent"))
    with pytest.raises(package.Error, match="install the package again"):
        package.program()


def test_a_damaged_file_is_a_warning(package, tmp_path):
    chat(tmp_path, "a.jsonl", "one")
    (tmp_path / "b.json").write_text('{"format": "volary-episode", "version": 99}')
    with pytest.warns(UserWarning, match="b.json"):
        assert len(list(package.read(tmp_path))) == 1


def test_the_package_is_the_command(package, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "crates/cli/python"))
    done = subprocess.run([sys.executable, "-m", "volary", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("volary ")
