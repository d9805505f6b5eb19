"""What Volary sends is what the providers' own SDKs call a request: nothing missing, nothing unknown."""

import functools
import itertools
import json
import re

import pytest
from anthropic.types import message_create_params
from google import genai
from google.genai import types as gemini
from mistralai.client import models as mistral
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params
from pydantic import TypeAdapter

from conftest import FORMATS

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "calculator",
            "description": "Calculates.",
            "parameters": {
                "type": "object",
                "properties": {
                    "expr": {"description": "What.", "title": "Expr", "type": "string"},
                    "digits": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "How many."},
                },
                "required": ["expr"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "peek",
            "description": "Peeks.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
    },
]
PICTURE = [
    {"type": "text", "text": "Look:"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
]


def call(id, name, **arguments):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def answer(id, name, content):
    flagged = not isinstance(content, str)
    return {
        "role": "tool",
        "name": name,
        "tool_call_id": id,
        "content": json.dumps(content) if flagged else content,
        **({"content_is_json_str": True} if flagged else {}),
    }


HISTORIES = {
    "first": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}],
    "picture": [{"role": "user", "content": PICTURE}],
    "calls": [
        {"role": "user", "content": "2+2? é 🦜"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [call("call_1", "calculator", expr="2+2"), call("call_2", "peek")],
        },
        answer("call_1", "calculator", "4"),
        answer("call_2", "peek", PICTURE),
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": None, "tool_calls": [call("call_1", "INVALID")]},
        answer("call_1", "INVALID", ""),
    ],
    "odd": [
        {"role": "assistant", "content": "I begin."},
        {"role": "system", "content": "Late instructions."},
        {"role": "assistant", "content": "", "tool_calls": [call("", "no such tool!")]},
        {"role": "user", "content": ""},
        {"role": "assistant", "content": "I end."},
    ],
    "empty": [],
}
CHOICES = ["required", "auto", "none", {"tool": "peek"}]
EFFORTS = [None, "none", "low", "medium", "high"]


def solid(value):
    """The value with lists for what pydantic validates only when it is looked at."""
    if isinstance(value, dict):
        return {key: solid(inner) for key, inner in value.items()}
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        return value
    return [solid(inner) for inner in value]


def accepts(kind, sent):
    """Whether a TypedDict accepts what is sent, and knows all of it: what it does not know it drops."""
    assert solid(adapter(kind).validate_python(sent)) == sent


adapter = functools.cache(TypeAdapter)


def plain(value):
    """The value as if Google had one way to spell: base64 with + and /, and fields in camel case."""
    if isinstance(value, dict):
        return {re.sub("_(.)", lambda found: found[1].upper(), key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value.replace("-", "+").replace("_", "/") if isinstance(value, str) else value


def chat(body, url, stream):
    module = completion_create_params
    accepts(module.CompletionCreateParamsStreaming if stream else module.CompletionCreateParamsNonStreaming, body)
    assert url.endswith("/chat/completions")


def responses(body, url, stream):
    module = response_create_params
    accepts(module.ResponseCreateParamsStreaming if stream else module.ResponseCreateParamsNonStreaming, body)
    assert url.endswith("/responses")


def anthropic(body, url, stream):
    module = message_create_params
    # The SDK sends temperatures, but its type has none: no current model takes them.
    body.pop("temperature", None)
    accepts(module.MessageCreateParamsStreaming if stream else module.MessageCreateParamsNonStreaming, body)
    assert url.endswith("/v1/messages")


def google(body, url, stream):
    def checked(model, value):
        dumped = model.model_validate(value, extra="forbid").model_dump(by_alias=True, exclude_unset=True, mode="json")
        assert plain(dumped) == plain(value)

    for content in body.pop("contents"):
        checked(gemini.Content, content)
    if "systemInstruction" in body:
        checked(gemini.Content, body.pop("systemInstruction"))
    for tool in body.pop("tools", []):
        checked(gemini.Tool, tool)
    if "toolConfig" in body:
        checked(gemini.ToolConfig, body.pop("toolConfig"))
    if "generationConfig" in body:
        checked(gemini.GenerationConfig, body.pop("generationConfig"))
    assert body == {}
    assert url.split(":")[-1] == ("streamGenerateContent?alt=sse" if stream else "generateContent")


def mistralai(body, url, stream):
    kind = mistral.ChatCompletionStreamRequest if stream else mistral.ChatCompletionRequest
    dumped = kind.model_validate(body).model_dump(by_alias=True, exclude_unset=True, mode="json")
    # It adds what it thinks is unset there.
    assert within(body, dumped), (body, dumped)
    assert url.endswith("/chat/completions")


def within(part, whole):
    """Whether all of the part is in the whole, which may have more fields."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and within(part[key], whole[key]) for key in part)
    if isinstance(part, list):
        return len(part) == len(whole) and all(map(within, part, whole))
    return part == whole


JUDGES = dict(zip(FORMATS, [chat, responses, anthropic, google, mistralai]))


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("provider", FORMATS)
def test_every_request_is_one_of_the_sdk(wire, provider, history):
    for choice, effort, stream in itertools.product(CHOICES, EFFORTS, [False, True]):
        request = {
            "model": "gemini-3.8-flash",
            "messages": HISTORIES[history],
            "tools": TOOLS,
            "tool_choice": choice,
            "temperature": 0.5,
            "max_tokens": 1000,
            "stop": ["END"],
            "seed": 7,
            "stream": stream,
        }
        if effort:
            request["effort"] = effort
        sent = wire(do="request", provider=provider, base_url="https://x.example/v1", key="k", request=request)
        JUDGES[provider](json.loads(sent["body"]), sent["url"], stream)


@pytest.mark.parametrize("provider", FORMATS)
def test_a_request_of_bare_necessities(wire, provider):
    request = {"model": "gemini-2.5-flash", "messages": HISTORIES["first"]}
    sent = wire(do="request", provider=provider, base_url="https://x.example/v1", key="", request=request)
    JUDGES[provider](json.loads(sent["body"]), sent["url"], False)


def test_the_judges_can_say_no(wire):
    """A field too many, a field too few, a word that does not exist: each is noticed."""
    request = {"model": "m", "messages": HISTORIES["calls"], "tools": TOOLS, "tool_choice": "required"}
    for provider in FORMATS:
        sent = wire(do="request", provider=provider, base_url="https://x.example", key="k", request=request)
        good = json.loads(sent["body"])
        messages = next(key for key in ("messages", "input", "contents") if key in good)
        for spoil in (
            lambda body: body[messages][-1].update(nonsense=1),
            lambda body: body[messages][-1].update(role="nobody", type="nothing"),
            lambda body: body["tools"][0].update(nonsense={}),
        ):
            body = json.loads(sent["body"])
            spoil(body)
            with pytest.raises(Exception):
                JUDGES[provider](body, sent["url"], False)


def test_gemini_gets_what_its_own_sdk_would_send(wire, replayer):
    """The SDK, given the same in its own words, sends the same."""
    replayer.play(json.dumps({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}]}))
    client = genai.Client(api_key="k", http_options={"base_url": replayer.url})
    for history in HISTORIES.values():
        request = {
            "model": "gemini-3.8-flash",
            "messages": history,
            "tools": TOOLS,
            "tool_choice": {"tool": "peek"},
            "temperature": 0.5,
            "max_tokens": 1000,
            "stop": ["END"],
            "seed": 7,
            "effort": "low",
        }
        sent = wire(do="request", provider="gemini", base_url="https://x.example", key="k", request=request)
        body = json.loads(sent["body"])
        generation = body["generationConfig"]
        client.models.generate_content(
            model="gemini-3.8-flash",
            contents=[gemini.Content.model_validate(content) for content in body["contents"]],
            config=gemini.GenerateContentConfig(
                system_instruction=body.get("systemInstruction"),
                tools=[gemini.Tool.model_validate(tool) for tool in body["tools"]],
                tool_config=gemini.ToolConfig.model_validate(body["toolConfig"]),
                temperature=generation["temperature"],
                max_output_tokens=generation["maxOutputTokens"],
                stop_sequences=generation["stopSequences"],
                seed=generation["seed"],
                thinking_config=gemini.ThinkingConfig.model_validate(generation["thinkingConfig"]),
                automatic_function_calling=gemini.AutomaticFunctionCallingConfig(disable=True),
            ),
        )
        assert plain(replayer.asked[-1]) == plain(body)
