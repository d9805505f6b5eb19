"""The host of the users' Python environments (public/python/host.py), outside of its sandbox."""

import asyncio
import base64
import hashlib
import importlib.util
import io
import json
import sys
import zipfile

# The host puts names in the place of what has not been imported.
import httpx  # noqa: F401
import httpx_aiohttp  # noqa: F401
import pytest

from programs import ROOT

CODE = """
import time
from aviary.core import DummyEnv

class Env(DummyEnv):
    pass
"""


@pytest.fixture
def host(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("volary_host", ROOT / "public/python/host.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.WHEELS = tmp_path / "wheels"
    monkeypatch.setattr(sys, "path", list(sys.path))
    return module


def ask(host, path, body):
    question = json.dumps({"path": path, "seed": 0, "body": body})
    text, _ = asyncio.run(host.answer(question))
    answer = json.loads(text)
    return answer["status"], answer["body"]


def wheel(members, name="tool-1.0-py3-none-any.whl"):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for member, text in members.items():
            archive.writestr(member, text)
    data = written.getvalue()
    return {
        "name": name,
        "sha256": hashlib.sha256(data).hexdigest(),
        "data": base64.b64encode(data).decode(),
    }


def tool(version):
    return wheel({
        "volary_tool.py": f"VERSION = {version}\n",
        f"volary_tool-{version}.dist-info/WHEEL": "Wheel-Version: 1.0\n",
    })


def test_wheels_come_before_the_code(host):
    code = "import volary_tool\n" + CODE
    given = tool(1)
    body = {"code": code, "wheels": [given["sha256"]]}
    assert ask(host, "/load", body) == (
        424,
        {"detail": "Wheels are missing.", "wheels": [given["sha256"]]},
    )
    assert ask(host, "/info", None)[0] == 409
    assert ask(host, "/wheel", given)[0] == 200
    # The same file may be loaded again.
    for _ in range(2):
        status, answer = ask(host, "/load", body)
        assert status == 200, answer
        assert sys.path[0] == str(host.WHEELS / given["sha256"])
        assert sys.path.count(sys.path[0]) == 1
    assert ask(host, "/info", None)[0] == 200
    assert sys.modules.pop("volary_tool").VERSION == 1


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"tool.py": ""}, "it has no WHEEL file"),
        ({"tool.so": "", "t.dist-info/WHEEL": ""}, "it is not pure Python: it contains tool.so"),
        ({"../tool.py": "", "t.dist-info/WHEEL": ""}, "it has files outside of its folder"),
        ({"big": "x" * (65 << 20), "t.dist-info/WHEEL": ""}, "larger than 64 MB"),
    ],
)
def test_other_archives_are_refused(host, members, reason):
    given = wheel(members)
    status, body = ask(host, "/wheel", given)
    assert status == 422
    assert reason in body["text"]
    assert not (host.WHEELS / given["sha256"]).exists()


def test_damaged_bytes_are_refused(host):
    given = tool(1) | {"sha256": "0" * 64}
    assert "do not match" in ask(host, "/wheel", given)[1]["text"]
    data = b"PK\x03\x04 and nothing more"
    digest = hashlib.sha256(data).hexdigest()
    given = given | {"sha256": digest, "data": base64.b64encode(data).decode()}
    status, body = ask(host, "/wheel", given)
    assert (status, body["kind"]) == (422, "WheelError")


def test_an_environment_says_its_id(host):
    assert ask(host, "/load", {"code": CODE})[0] == 200
    for arguments, expected in (({"task": "story-7"}, "story-7"), ({"task": None}, None)):
        status, body = ask(host, "/start", {"task_kwargs": arguments})
        assert status == 200, body
        assert ask(host, "/id", {"env_id": body["env_id"]}) == (200, {"id": expected})
    assert ask(host, "/id", {"env_id": "nobody"})[0] == 404
