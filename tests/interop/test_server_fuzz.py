"""Hostile requests to every path of our server, made up from its own description."""

import copy
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
    "is unknown",
)


# More often than this each path is to be tried, well and badly.
HANDFUL = 5


def play(client, start):
    """Starts an environment and resets it; gives its id."""
    env_id = client.post("/start", json=start).raise_for_status().json()["env_id"]
    client.post("/reset", json={"env_id": env_id}).raise_for_status()
    return env_id


def knowing(description, start, env_ids):
    """The description, with what starts an environment, and those that run, among all that is allowed.

    By chance alone hardly any request would name an environment that is there.
    """
    schemas = description["components"]["schemas"]
    schemas["StartRequest"] = {"anyOf": [{"const": start}, schemas["StartRequest"]]}
    for name in ("EnvironmentRequest", "StepRequest"):
        fields = schemas[name]["properties"]
        fields["env_id"] = {"anyOf": [{"enum": env_ids}, fields["env_id"]]}
    return description


def fuzz(url, description, folder, *which):
    """Tries the paths of a description that are picked."""
    file = folder / "openapi.json"
    file.write_text(json.dumps(description))
    fuzzer = Path(sys.executable).with_name("schemathesis")
    options = ["--request-timeout=10", "--seed=1", "--checks=all", f"--exclude-checks={LENIENT}"]
    command = [fuzzer, "run", file, f"--url={url}", f"--max-examples={EXAMPLES}", *options, *which]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]


def answers(metrics, path, status):
    """How often a path answered so, as the server counts it."""
    name = f'volary_requests_total{{endpoint="{path}",status="{status}"}} '
    return next(int(line.removeprefix(name)) for line in metrics if line.startswith(name))


@pytest.mark.parametrize(
    ("dataset", "start"), [("dummy", {}), ("word_problems", {"task_idx": 0}), ("counter", {})]
)
def test_no_request_breaks_the_server(dataset, start, tmp_path):
    log = tmp_path / "log.jsonl"
    with log.open("w") as written, ours("--dataset", dataset, "--log-json", log=written) as url:
        client = httpx.Client(base_url=url)
        description = client.get("/openapi.json").json()
        running = [play(client, start) for _ in range(3)]
        before = client.get("/metrics").text.splitlines()
        described = knowing(copy.deepcopy(description), start, running)
        # What closes environments comes last, with those that it starts itself.
        fuzz(url, described, tmp_path, "--exclude-path-regex=^/close")
        described = knowing(copy.deepcopy(description), start, ["none"])
        fuzz(url, described, tmp_path, "--include-path-regex=^/(start|close)")
        # Every path was tried, well and, where there is anything to get wrong, badly.
        after = client.get("/metrics").text.splitlines()
        for path, methods in description["paths"].items():
            expected = {"2xx": HANDFUL, "4xx": HANDFUL} if "post" in methods else {"2xx": 0}
            for status, least in expected.items():
                tried = answers(after, path, status) - answers(before, path, status)
                assert tried > least, f"{path} answered {status} {tried} times"
        # Still there, and well.
        assert client.get("/healthz").text == "ok"
        assert client.get("/info").status_code == 200
    # Other ends of lines than this one may stand within what is logged.
    lines = [json.loads(line)["fields"] for line in log.read_text().strip().split("\n")]
    failures = {line["reason"] for line in lines if line["message"] == "failed"}
    strange = [f for f in failures if not any(words in f for words in OWN_WORDS)]
    assert strange == []
    assert not any("lost" in line["message"] or "panic" in line["message"] for line in lines)
