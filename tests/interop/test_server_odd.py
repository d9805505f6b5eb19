"""Odd requests to both servers: the same status, the same Allow, and the same words of what is wrong."""

import itertools
import json

import httpx
import pytest
from aviary.core import DummyTaskDataset
from servers import calculators, ours, theirs, write_gsm8k

JSON = {"content-type": "application/json"}
POSTS = ["start", "reset", "step", "close", "close_old_envs"]
TASKS = [("What is 6 * 7?", 42), ("Half of -7?", -3.5)]

BODIES = [
    b"", b" ", b"null", b"true", b"5", b'"x"', b"[]", b"{}", b"  {}  ", b"\xef\xbb\xbf{}", b"\x00", b"{bad", b"{a: 1}",
    b"{'a': 1}", b'{"a": 1,}', b'{"a" 1}', b'{"a": 1 "b": 2}', b'{"a": 01}', b'{"a": 1e}', b'{"a": tru}', b'{"a": "abc',
    b'{"a": "\x01"}', b'{"a": "\\x"}', b'{"a": "\\u12"}', b"[1,", b"nul", b"-", b"{} x", b"//\n{}", b'\n{\n "a": ?\n}',
]  # fmt: skip

# Of a field, as they stand in a body. An index beyond 64 bits, and numbers that are none, break the original.
VALUES = [
    "null", "true", "false", "0", "1", "-1", "-3", "99", "1.0", "1.5", "1e2", "-0.0", '""', '"0"', '" 1 "', '"+1"', '"-1"',
    '"1.0"', '"1."', '"1_0"', '"1__0"', '"_1"', '"1_e5"', '"1e2"', '"one"', '"0x1"', '"nan"', '"01"', '"--1"', '"\u0661"',
    '"\U0001d7cf"', "[]", "[0]", "{}", '{"a": 1}',
]  # fmt: skip

BODIES_OF_A_FIELD = [
    ("start", '{"task_idx": %s}'),
    ("start", '{"task_idx": null, "task_kwargs": %s}'),
    ("start", '{"task_idx": %s, "task_kwargs": {}}'),
    ("start", '{"task_idx": 0, "task_kwargs": %s}'),
    ("reset", '{"env_id": %s}'),
    ("close", '{"env_id": %s}'),
    ("close_old_envs", '{"last_used": %s}'),
    ("step", '{"env_id": %s, "action": {"role": "user", "content": "x"}}'),
    ("step", '{"env_id": "x", "action": %s}'),
    ("step", '{"env_id": "x", "action": {"role": "user", "content": %s}}'),
    ("step", '{"env_id": "x", "action": {"role": "assistant", "tool_calls": %s}}'),
]


def said(reply):
    """What a reply says, without what differs from run to run or is its server's own to say."""
    body = None
    if reply.status_code in {404, 405, 422} and reply.content:
        body = reply.json()["detail"]
        if not isinstance(body, str):
            # Of an action that is no message we say one problem, the original one for each kind of message.
            body = ["action" if problem["loc"][1:2] == ["action"] else problem for problem in body]
            body = [problem for problem, _ in itertools.groupby(body)]
    return reply.status_code, reply.headers.get("allow"), body


class Both:
    """Both servers, asked the same."""

    def __init__(self, our_url, their_url):
        self.clients = [httpx.Client(base_url=url, timeout=30) for url in (our_url, their_url)]

    def ask(self, method, path, **request):
        our_answer, their_answer = (
            said(client.request(method, path, **request)) for client in self.clients
        )
        assert our_answer == their_answer, (method, path, request)


@pytest.fixture(scope="module")
def dummies():
    with ours("--dataset", "dummy") as our_url, theirs(DummyTaskDataset()) as their_url:
        yield Both(our_url, their_url)


def test_bodies_that_are_no_json_or_no_object(dummies):
    for path, body in itertools.product(POSTS, BODIES):
        dummies.ask("POST", path, content=body, headers=JSON)


def test_types_of_bodies(dummies):
    types = [
        "", "text/plain", "nonsense", "APPLICATION/JSON", "application/json; charset=latin-1", "application/vnd.x+json",
        "application/jsonx", "application/", "text/json", "multipart/form-data",
    ]  # fmt: skip
    for path, kind, body in itertools.product(POSTS, types, [b"", b"{}", b"{bad"]):
        dummies.ask("POST", path, content=body, headers={"content-type": kind})


def test_methods_and_paths(dummies):
    methods = ["GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
    for path, method in itertools.product(POSTS, methods):
        dummies.ask(method, path)
    for method in [*methods[1:], "POST"]:
        dummies.ask(method, "info")
    for path in ["", "info/", "info?x=1", "INFO", "nothing", "start/x", "start?x=1"]:
        dummies.ask("GET", path)
    for path in POSTS:
        dummies.ask("POST", f"{path}/", content=b"{}", headers=JSON)


def test_fields_of_every_type(tmp_path):
    file = write_gsm8k(tmp_path / "tasks.jsonl", TASKS)
    with ours("--gsm8k", file) as our_url, theirs(calculators(TASKS)) as their_url:
        both = Both(our_url, their_url)
        for (path, body), value in itertools.product(BODIES_OF_A_FIELD, VALUES):
            both.ask("POST", path, content=(body % value).encode(), headers=JSON)
        # What is beyond every float is no number of seconds.
        beyond = json.dumps({"last_used": 10**400})
        both.ask("POST", "close_old_envs", content=beyond, headers=JSON)


def test_keys():
    with (
        ours("--dataset", "dummy", "--api-key", "k3y") as our_url,
        theirs(DummyTaskDataset(), "k3y") as their_url,
    ):
        both = Both(our_url, their_url)
        for key in [None, "", "K3Y", "k3y2", "k", "k3y"]:
            headers = JSON if key is None else {**JSON, "x-api-key": key}
            for path, body in itertools.product(POSTS, [b"", b"{}", b"{bad", b'{"env_id": 5}']):
                both.ask("POST", path, content=body, headers=headers)
            both.ask("GET", "info", headers=headers)
            both.ask("GET", "nothing", headers=headers)
            both.ask("PUT", "info", headers=headers)
