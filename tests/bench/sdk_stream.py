"""How fast OpenAI's own SDK reads a streamed answer: makes the stream of the SDK's types, writes it to the file that
is named, reads it through the SDK again and again, and prints {"megabytes_a_second", "characters", "calls"}."""

import json
import sys
import time

import httpx2
import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletionChunk

PIECE = 16 * 1024
AT_LEAST = 4.0


def stream():
    """20,000 tokens of text and two calls of 2,000 each, as OpenAI sends them."""
    head = {"id": "chatcmpl-C1x0Rf7mVq2gk", "created": 1794787200, "model": "gpt-6-luna-2026-09-22"}
    head |= {"object": "chat.completion.chunk", "service_tier": "default", "system_fingerprint": "fp_9b1f0a"}

    def chunk(delta, finish=None):
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return ChatCompletionChunk(choices=[choice], **head)

    chunks = [chunk({"role": "assistant", "content": "", "refusal": None})]
    chunks += [chunk({"content": f" word{number}" + "\n" * (number % 17 == 0)}) for number in range(20_000)]
    for index in range(2):
        function = {"name": "calculator", "arguments": ""}
        start = {"index": index, "id": f"call_{index}", "type": "function", "function": function}
        chunks.append(chunk({"tool_calls": [start]}))
        for number in range(2_000):
            piece = {"index": index, "function": {"arguments": '{"expr": "' if number == 0 else f"{number}+"}}
            chunks.append(chunk({"tool_calls": [piece]}))
        chunks.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": '0"}'}}]}))
    chunks.append(chunk({}, "tool_calls"))
    usage = CompletionUsage(prompt_tokens=10, completion_tokens=24_000, total_tokens=24_010)
    chunks.append(ChatCompletionChunk(choices=[], usage=usage, **head))
    data = [chunk.model_dump_json(exclude_unset=True) for chunk in chunks]
    return "".join(f"data: {text}\n\n" for text in [*data, "[DONE]"]).encode()


def pieces(body):
    for start in range(0, len(body), PIECE):
        yield body[start : start + PIECE]


def read(client):
    """The characters of all deltas, and how many calls they make."""
    characters, calls = 0, set()
    for chunk in client.chat.completions.create(model="m", messages=[], stream=True):
        for choice in chunk.choices:
            characters += len(choice.delta.content or "")
            for call in choice.delta.tool_calls or []:
                calls.add(call.index)
                characters += len(call.function.arguments or "")
    return characters, len(calls)


def main(path):
    body = stream()
    with open(path, "wb") as file:
        file.write(body)

    def handle(_):
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=pieces(body))

    client = openai.OpenAI(
        api_key="k", base_url="http://x.example", http_client=httpx2.Client(transport=httpx2.MockTransport(handle))
    )
    read(client)
    passes, start = 0, time.perf_counter()
    while time.perf_counter() - start < AT_LEAST:
        characters, calls = read(client)
        passes += 1
    rate = len(body) * passes / 1e6 / (time.perf_counter() - start)
    print(json.dumps({"megabytes_a_second": round(rate, 2), "characters": characters, "calls": calls}))


main(sys.argv[1])
