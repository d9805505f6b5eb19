"""Hostile requests to the HTTP interface of `volary view`, made up from its own description."""

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import httpx
from programs import program
from test_package import chat

# Bounded, so that a run takes seconds.
EXAMPLES = 20

# What is lenient on purpose: unknown members of bodies and parameters are ignored. Who may read is tested in
# crates/cli/tests/view.rs, by requests that a fuzzer does not make.
LENIENT = ",".join([
    "negative_data_rejection",
    "positive_data_acceptance",
    "missing_required_header",
    "ignored_auth",
])


def files(folder):
    """All files, with their contents."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def knowing(description, paths, cookie):
    """The description, with paths that exist among all that are allowed, and with the name of the cookie.

    By chance alone no request would name a file.
    """
    name, _ = cookie
    description["components"]["securitySchemes"]["session"]["name"] = name
    path, *_ = description["paths"]["/api/file/{path}"]["get"]["parameters"]
    path["schema"] = {"anyOf": [{"enum": paths}, {"type": "string", "minLength": 1}]}
    # It answers as long as the client listens; crates/cli/tests/view.rs tests it.
    del description["paths"]["/api/events"]
    return description


def test_no_request_breaks_a_view(tmp_path):
    runs = tmp_path / "runs"
    (runs / "deep").mkdir(parents=True)
    chat(runs, "a.jsonl", "one", "two")
    chat(runs / "deep", "b ü#?.jsonl", "three")
    (tmp_path / "secret.jsonl").write_text("SECRET")
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("<html><head></head><p>page")
    before = files(tmp_path)
    # Of the fuzzer and of this test.
    work = tmp_path / "work"
    work.mkdir()
    log = work / "log"
    command = [program("volary"), "view", runs, "--json", "--notes", "--page", page]
    with log.open("w") as written, subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=written, text=True
    ) as view:
        try:
            url, token = json.loads(view.stdout.readline())["url"].split("/#token=")
            client = httpx.Client(base_url=url)
            client.post("/api/session", json={"token": token}).raise_for_status()
            [cookie] = client.cookies.items()
            lines = map(json.loads, client.get("/api/files").text.splitlines())
            paths = [line["path"].removeprefix("file/") for line in lines]
            assert len(paths) == 2
            description = client.get("/api/openapi.json").json()
            file = work / "openapi.json"
            file.write_text(json.dumps(knowing(description, paths, cookie)))
            options = ["--request-timeout=10", "--seed=1", "--checks=all", f"--exclude-checks={LENIENT}"]
            fuzzer = Path(sys.executable).with_name("schemathesis")
            done = subprocess.run(
                [fuzzer, "run", file, f"--url={url}", f"--max-examples={EXAMPLES}", *options]
                + [f"--header=Cookie: {'='.join(cookie)}"],
                cwd=work,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, done.stdout[-6000:]
            assert "SECRET" not in done.stdout
            # Still there, and well.
            assert [client.get(f"/api/file/{quote(path)}").status_code for path in paths] == [200, 200]
        finally:
            view.terminate()
            assert view.wait(30) == 0
    text = log.read_text()
    assert token not in text and cookie[1] not in text
    assert not re.search("panic", text), text
    # Only notes were written, where they may be.
    after = {path: content for path, content in files(tmp_path).items() if path.parts[0] != "work"}
    after.pop(Path("runs/.volary/notes.jsonl"), None)
    assert after == before
