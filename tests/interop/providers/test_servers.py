"""Episodes against servers: one from a registry that nobody here wrote, and our own that fails in every way."""

import json
import urllib.request

import pytest

from conftest import FORMATS

CALCULATOR = {"problem": "What is 6 times 7?", "answer": 42}


@pytest.fixture(scope="session")
def aimock(node_server):
    return node_server("tests/support/aimock.mjs")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("provider", FORMATS)
@pytest.mark.parametrize(("environment", "configuration", "steps"), [("dummy", {}, 1), ("calculator", CALCULATOR, 2)])
def test_a_foreign_server_plays_an_episode(wire, aimock, provider, stream, environment, configuration, steps):
    version = "" if provider in ("anthropic", "gemini") else "/v1"
    played = wire(
        do="play",
        provider=provider,
        base_url=aimock + version,
        key="sk-mock",
        model="gemini-3.8-flash",
        environment=environment,
        configuration=configuration,
        stream=stream,
    )
    assert (played["ending"], played["steps"], played["reward"]) == ("done", steps, 1.0)
    actions = [message for message in played["messages"] if message["role"] == "assistant"]
    assert len(actions) == steps
    for action in actions:
        assert action["content"] == "Let me tell one."
        assert action["info"]["reasoning_content"] == "A story is wanted: ünïcode ✓ and all."


class Ours:
    """Our own provider, told what to say."""

    def __init__(self, url):
        self.url = url

    def control(self, method, told=None):
        body = None if told is None else json.dumps(told).encode()
        request = urllib.request.Request(self.url + "/control", body, method=method)
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def base(self, provider):
        paths = {"openai-chat": "/openai/v1", "openai-responses": "/openai/v1", "mistral": "/mistral/v1"}
        return self.url + paths.get(provider, "/" + provider)


@pytest.fixture(scope="session")
def ours(node_server):
    return Ours(node_server("tests/support/provider.mjs"))


STORY = {"calls": [{"name": "print_story", "arguments": {"story": "Once there were five cats."}}]}
SAYS = {"text": "ü 🦜 Once upon a time there were cats.", "thinking": "Hm, ü.", **STORY}
# What the provider does before it tells the story: how often we wait, and what we do without.
MENDED = {
    "overloaded": ([{"status": 503, "message": "Overloaded"}], 1, []),
    "rate limits": ([{"status": 429, "retry_after": 3}, {"status": 429, "message": "Try again in 2s."}], 2, []),
    "no reason": ([{"status": 500, "body": ""}], 1, []),
    "a page of a proxy": ([{"status": 502, "html": True}], 1, []),
    "cut within an event": ([{**SAYS, "cut": "event"}], 1, []),
    "cut within a character": ([{**SAYS, "cut": "character"}], 1, []),
    "cut at once": ([{**SAYS, "cut": 9}], 1, []),
    "reported overload": ([{**SAYS, "error": {"code": "overloaded_error", "message": "x"}}], 1, []),
    "a demand refused": ([{"status": 400, "message": "tool_choice is not supported"}], 0, ["FreeChoice"]),
}


def played(wire, ours, provider, stream, script, **more):
    ours.control("DELETE")
    ours.control("PUT", {"script": script, "key": "sk-ours", **more})
    command = {
        "do": "play",
        "provider": provider,
        "base_url": ours.base(provider),
        "key": "sk-ours",
        "model": "gemini-3.8-flash",
        "environment": "dummy",
        "stream": stream,
    }
    return wire(**command)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("provider", FORMATS)
@pytest.mark.parametrize("fault", MENDED)
def test_what_passes_is_passed(wire, ours, provider, stream, fault):
    script, waits, concessions = MENDED[fault]
    result = played(wire, ours, provider, stream, [*script, STORY])
    assert (result["ending"], result["reward"]) == ("done", 1.0)
    assert (result["waits"], result["concessions"]) == (waits, concessions)
    requests = ours.control("GET")["requests"]
    assert len(requests) == len(script) + 1
    # Keys stand in headers alone.
    assert all("sk-ours" not in json.dumps([request["path"], request["body"]]) for request in requests)


# What ends an episode at once, in the words that the user reads.
FATAL = {
    "wrong key": ({"key": "sk-another"}, None, ["key", "Unauthorized"]),
    "another request": ({}, {"status": 400, "message": "No such thing."}, ["No such thing."]),
    "a page": ({}, {"html": True}, ["it is a web page"]),
    "no choice": ({}, {"choices": 0, "text": "x"}, ["got 0 choices", "said nothing", "cut off"]),
    "two choices": ({}, {"choices": 2, "text": "x"}, ["got 2 choices"]),
    "length": ({}, {"text": "x", "finish": "length"}, ["token limit"]),
    "filter": ({}, {"text": "x", "finish": "filter"}, ["declined to answer"]),
    "50 MB": ({}, {"text": "x", "bytes": 50_000_000}, ["exceeds 16 MB"]),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("provider", "fault"),
    [
        (provider, fault)
        for provider in FORMATS
        for fault in FATAL
        # Two formats know no choices.
        if "choice" not in fault or provider not in ("openai-responses", "anthropic")
    ],
)
def test_what_does_not_pass_is_said(wire, ours, provider, stream, fault):
    told, reply, words = FATAL[fault]
    with pytest.raises(AssertionError) as failure:
        played(wire, ours, provider, stream, [reply] if reply else [], **told)
    assert any(word in str(failure.value) for word in words), failure.value
    assert "sk-ours" not in str(failure.value)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("provider", FORMATS)
@pytest.mark.parametrize(
    "call",
    [
        {"name": "no_such_tool", "arguments": {}},
        {"name": "print_story", "arguments": '{"story": "never ends'},
        {"name": None, "arguments": {"x": 1}},
        {"id": None, "name": "no_such_tool", "arguments": {}},
    ],
    ids=["unknown tool", "arguments that are no JSON", "no name", "no id"],
)
def test_broken_calls_are_answered_and_the_episode_goes_on(wire, ours, provider, stream, call):
    result = played(wire, ours, provider, stream, [{"calls": [call]}, STORY])
    assert (result["ending"], result["reward"]) == ("done", 1.0)
    assert result["steps"] in (1, 2)
    ids = [made["id"] for message in result["messages"] for made in message.get("tool_calls", [])]
    assert all(ids) and len(set(ids)) == len(ids)


@pytest.mark.parametrize("provider", FORMATS)
@pytest.mark.parametrize("oddity", [{"duplicate": True}, {"reorder": True}, {"no_end": True}, {"comments": True}, {"crlf": True}])
def test_odd_streams_are_read_or_refused_but_never_misread(wire, ours, provider, oddity):
    result = played(wire, ours, provider, True, [{"text": "Once.", **STORY, **oddity}, STORY, STORY])
    assert result["ending"] == "done"
    if oddity.keys() & {"comments", "crlf", "no_end"}:
        assert (result["steps"], result["reward"], result["waits"]) == (1, 1.0, 0)
        action = next(message for message in result["messages"] if message["role"] == "assistant")
        assert action["content"] == "Once."
