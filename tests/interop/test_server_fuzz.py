"""Hostile requests to every path of our server, made up from its own description."""

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from servers import ours

# Bounded, so that a run takes a minute and not an hour.
EXAMPLES = 25

# What is lenient on purpose, as the original is, and failures of environments, which are told
# apart below.
LENIENT = ",".join([
    "not_a_server_error",
    "negative_data_rejection",
    "positive_data_acceptance",
    "missing_required_header",
    "ignored_auth",
])

# All that an environment, or making it, may say of its own.
OWN_WORDS = (
    "There is no task",
    "does not implement",
    "stepped before its first reset",
    "is required",
    "is not known here",
)


@pytest.mark.parametrize("dataset", ["dummy", "word_problems", "counter"])
def test_no_request_breaks_the_server(dataset, tmp_path):
    log = tmp_path / "log.jsonl"
    fuzzer = Path(sys.executable).with_name("schemathesis")
    with log.open("w") as written, ours("--dataset", dataset, "--log-json", log=written) as url:
        done = subprocess.run(
            [
                fuzzer,
                "run",
                f"{url}/openapi.json",
                f"--max-examples={EXAMPLES}",
                "--request-timeout=10",
                "--seed=1",
                "--checks=all",
                f"--exclude-checks={LENIENT}",
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:]
        # Still there, and well.
        assert httpx.get(f"{url}/healthz").text == "ok"
        assert httpx.get(f"{url}/info").status_code == 200
    lines = [json.loads(line)["fields"] for line in log.read_text().splitlines()]
    failures = {line["reason"] for line in lines if line["message"] == "failed"}
    strange = [f for f in failures if not any(words in f for words in OWN_WORDS)]
    assert strange == []
    assert not any("lost" in line["message"] or "panic" in line["message"] for line in lines)
