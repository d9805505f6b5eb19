"""What the SDKs make of the very same bytes: the replies that Volary is tested with, read by the SDKs, hold what
Volary reads out of them."""

import json

import anthropic
import openai
import pytest
from google import genai
from google.genai import types as gemini
from mistralai.client import Mistral

from conftest import FIXTURES, FORMATS

# What no SDK reads, though servers send it: several calls at one index, no index, errors under a wrong type.
BEYOND_THE_SDK = {
    "openai-chat": [
        "ollama_whole_calls_at_one_index.sse",
        "whole_calls_without_ids_at_one_index.sse",
        "no_index_and_no_ids.sse",
        "missing_ids_names_and_reason.json",
        "ollama_arguments_as_object.json",
    ],
    # Its completed response holds no items.
    "openai-responses": ["completed_without_items.sse"],
    # It takes a call that was cut off for one without arguments.
    "anthropic": ["length_in_a_call.sse"],
    # A list of pieces is what Google sends without `alt=sse`, which the SDK always asks for.
    "gemini": ["list_of_pieces.json"],
}


def fixtures():
    for provider in FORMATS:
        expected = json.loads((FIXTURES / provider / "expected.json").read_text())
        for name, outcome in expected.items():
            if "answer" in outcome and name not in BEYOND_THE_SDK.get(provider, []):
                yield pytest.param(provider, name, outcome["answer"], id=f"{provider}-{name}")


@pytest.mark.parametrize(("provider", "name", "expected"), list(fixtures()))
def test_the_sdk_reads_the_same(replayer, provider, name, expected):
    stream = name.endswith(".sse")
    replayer.play((FIXTURES / provider / name).read_bytes(), stream)
    read = {
        "openai-chat": chat,
        "openai-responses": responses,
        "anthropic": messages,
        "gemini": google,
        "mistral": mistral,
    }[provider]
    text, calls, prompt, completion = read(replayer.url, stream)
    assert (text or "") == expected.get("text", "")
    assert [(id or "", name, arguments) for id, name, arguments in calls] == [
        (id, name, readable(arguments)) for id, name, arguments in expected.get("calls", [])
    ]
    usage = expected.get("usage", {})
    if usage:
        assert (prompt, completion) == (usage["prompt"], usage["completion"])


def readable(arguments):
    """Arguments as JSON, or as they are if they are none."""
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


def chat(url, stream):
    client = openai.OpenAI(api_key="k", base_url=url, max_retries=0)
    replied = client.chat.completions.create(model="m", messages=[], stream=stream)
    if not stream:
        message, usage = replied.choices[0].message, replied.usage
        calls = [(call.id, call.function.name, readable(call.function.arguments)) for call in message.tool_calls or []]
        return message.content, calls, *counted(usage)
    text, calls, usage = "", {}, None
    for chunk in replied:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for piece in choice.delta.tool_calls or []:
                call = calls.setdefault(piece.index, [None, "", ""])
                call[0] = call[0] or piece.id
                call[1] += piece.function.name or ""
                call[2] += piece.function.arguments or ""
    return text, [(id, name, readable(arguments)) for id, name, arguments in calls.values()], *counted(usage)


def counted(usage):
    return (usage.prompt_tokens, usage.completion_tokens) if usage else (None, None)


def responses(url, stream):
    client = openai.OpenAI(api_key="k", base_url=url, max_retries=0)
    replied = client.responses.create(model="m", input="x", stream=stream)
    if stream:
        closing = [event for event in replied if event.type in ("response.completed", "response.incomplete")]
        replied = closing[-1].response
    calls = [item for item in replied.output if item.type == "function_call"]
    calls = [(call.call_id, call.name, readable(call.arguments)) for call in calls]
    return replied.output_text, calls, replied.usage.input_tokens, replied.usage.output_tokens


def messages(url, stream):
    client = anthropic.Anthropic(api_key="k", base_url=url, max_retries=0)
    request = {"model": "claude-haiku-5-5", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    if stream:
        with client.messages.stream(**request) as events:
            replied = events.get_final_message()
    else:
        replied = client.messages.create(**request)
    text = "".join(block.text for block in replied.content if block.type == "text")
    calls = [(block.id, block.name, block.input) for block in replied.content if block.type == "tool_use"]
    usage = replied.usage
    prompt = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
    return text, calls, prompt, usage.output_tokens


def google(url, stream):
    client = genai.Client(api_key="k", http_options={"base_url": url})
    if stream:
        pieces = list(client.models.generate_content_stream(model="m", contents="x"))
    else:
        pieces = [client.models.generate_content(model="m", contents="x")]
    contents = [piece.candidates[0].content for piece in pieces if piece.candidates]
    parts = [part for content in contents if content for part in content.parts or []]
    text = "".join(part.text or "" for part in parts if not part.thought)
    calls = [part.function_call for part in parts if part.function_call]
    usage = pieces[-1].usage_metadata or gemini.GenerateContentResponseUsageMetadata()
    completion = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
    return text, [(call.id, call.name, call.args) for call in calls], usage.prompt_token_count, completion


def mistral(url, stream):
    client = Mistral(api_key="k", server_url=url)
    request = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    if not stream:
        replied = client.chat.complete(**request)
        message = replied.choices[0].message
        pieces, usage = [(message.content, message.tool_calls)], replied.usage
    else:
        pieces, usage = [], None
        for event in client.chat.stream(**request):
            usage = event.data.usage or usage
            delta = event.data.choices[0].delta
            pieces.append((delta.content, delta.tool_calls))
    text, calls = "", []
    for content, called in pieces:
        if isinstance(content, list):
            content = "".join(chunk.text for chunk in content if chunk.type == "text")
        text += content or ""
        for call in called or []:
            calls.append((call.id, call.function.name, readable(call.function.arguments)))
    return text, calls, usage.prompt_tokens, usage.completion_tokens
