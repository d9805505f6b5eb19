"""Replies made of the SDKs' own types, whole and in pieces, are read for what they hold."""

import json
import random

import pytest
from anthropic import types as anthropic
from google.genai import types as gemini
from mistralai.client import models as mistral
from openai.types import CompletionUsage, chat
from openai.types import responses as openai_responses

from conftest import FORMATS

WORDS = ["Hi", " there", "\n\n", "é", "🦜", '"quoted"', "data: x", "\\", "  ", "\u2028", "1e5", "</html>"]


class Said:
    """Something that a model may say, drawn by a seed."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.thinking = self.words() if self.draw.random() < 0.5 else None
        self.calls = [
            {
                "id": "".join(self.draw.choices("abcXYZ019", k=9)),
                "name": self.draw.choice(["calculator", "submit_answer"]),
                "arguments": {"expr": self.words(), "n": self.draw.choice([1, -2.5, None, True, [1, {"x": "é"}]])},
            }
            for _ in range(self.draw.choice([0, 1, 1, 2, 3]))
        ]
        self.text = self.words() if not self.calls or self.draw.random() < 0.5 else None
        self.prompt, self.completion = self.draw.randrange(1, 10**6), self.draw.randrange(1, 10**5)

    def words(self):
        return "w" + "".join(self.draw.choices(WORDS, k=self.draw.randrange(1, 6)))

    def pieces(self, text):
        """The text in pieces of one to three characters."""
        found = []
        while text:
            length = self.draw.randrange(1, 4)
            found.append(text[:length])
            text = text[length:]
        return found


def events(models, typed=False):
    """Models as an event stream."""
    lines = []
    for model in models:
        data = model if isinstance(model, str) else dumped(model)
        if typed:
            lines.append(f"event: {model.type}\n")
        lines.append(f"data: {data}\n\n")
    return "".join(lines)


def dumped(model):
    return model.model_dump_json(by_alias=True, exclude_unset=True)


def openai_chat(said, stream):
    usage = CompletionUsage(
        prompt_tokens=said.prompt, completion_tokens=said.completion, total_tokens=said.prompt + said.completion
    )
    finish = "tool_calls" if said.calls else "stop"
    head = {"id": "chatcmpl-1", "created": 1, "model": "m"}
    if not stream:
        calls = [
            chat.ChatCompletionMessageFunctionToolCall(
                id=call["id"],
                type="function",
                function={"name": call["name"], "arguments": json.dumps(call["arguments"])},
            )
            for call in said.calls
        ]
        # The SDK lets through the fields that it does not know, as it does those of other servers.
        more = {"reasoning_content": said.thinking} if said.thinking else {}
        message = chat.ChatCompletionMessage(role="assistant", content=said.text, tool_calls=calls or None, **more)
        choice = {"index": 0, "finish_reason": finish, "message": message, "logprobs": None}
        return dumped(chat.ChatCompletion(object="chat.completion", choices=[choice], usage=usage, **head))
    deltas = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": piece} for piece in said.pieces(said.thinking or "")]
    deltas += [{"content": piece} for piece in said.pieces(said.text or "")]
    # Pieces of several calls come in any order that keeps that of each.
    waiting = []
    for index, call in enumerate(said.calls):
        start = {"index": index, "id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": ""}}
        deltas.append({"tool_calls": [start]})
        waiting.append([(index, piece) for piece in said.pieces(json.dumps(call["arguments"]))])
    while any(waiting):
        queue = said.draw.choice([queue for queue in waiting if queue])
        index, piece = queue.pop(0)
        deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    chunks = [
        chat.ChatCompletionChunk(
            object="chat.completion.chunk", choices=[{"index": 0, "delta": delta, "finish_reason": None}], **head
        )
        for delta in deltas
    ]
    choice = {"index": 0, "delta": {}, "finish_reason": finish}
    chunks.append(chat.ChatCompletionChunk(object="chat.completion.chunk", choices=[choice], **head))
    chunks.append(chat.ChatCompletionChunk(object="chat.completion.chunk", choices=[], usage=usage, **head))
    return events([*chunks, "[DONE]"])


def responses(said, stream):
    types = openai_responses
    output = []
    if said.thinking:
        summary = [{"type": "summary_text", "text": said.thinking}]
        output.append(types.ResponseReasoningItem(id="rs", type="reasoning", summary=summary, encrypted_content="e"))
    if said.text:
        content = [types.ResponseOutputText(type="output_text", text=said.text, annotations=[])]
        output.append(
            types.ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=content)
        )
    for place, call in enumerate(said.calls):
        output.append(
            types.ResponseFunctionToolCall(
                id=f"fc{place}",
                type="function_call",
                call_id=call["id"],
                name=call["name"],
                arguments=json.dumps(call["arguments"]),
            )
        )
    usage = types.ResponseUsage(
        input_tokens=said.prompt,
        input_tokens_details={"cached_tokens": 0, "cache_write_tokens": 0},
        output_tokens=said.completion,
        output_tokens_details={"reasoning_tokens": 0},
        total_tokens=said.prompt + said.completion,
    )
    response = types.Response(
        id="resp",
        object="response",
        created_at=1,
        model="m",
        output=output,
        parallel_tool_calls=True,
        tool_choice="auto",
        tools=[],
        status="completed",
        usage=usage,
    )
    if not stream:
        return dumped(response)
    number = iter(range(10**6))
    stream = []
    for place, item in enumerate(output):
        at = {"output_index": place, "item_id": item.id}
        begun = item.model_copy(update={"arguments": ""}) if item.type == "function_call" else item
        add = types.ResponseOutputItemAddedEvent
        stream.append(
            add(type="response.output_item.added", item=begun, output_index=place, sequence_number=next(number))
        )
        if item.type == "reasoning":
            for piece in said.pieces(said.thinking):
                stream.append(
                    types.ResponseReasoningSummaryTextDeltaEvent(
                        type="response.reasoning_summary_text.delta",
                        delta=piece,
                        summary_index=0,
                        sequence_number=next(number),
                        **at,
                    )
                )
        elif item.type == "message":
            for piece in said.pieces(said.text):
                stream.append(
                    types.ResponseTextDeltaEvent(
                        type="response.output_text.delta",
                        delta=piece,
                        content_index=0,
                        logprobs=[],
                        sequence_number=next(number),
                        **at,
                    )
                )
        else:
            for piece in said.pieces(item.arguments):
                stream.append(
                    types.ResponseFunctionCallArgumentsDeltaEvent(
                        type="response.function_call_arguments.delta", delta=piece, sequence_number=next(number), **at
                    )
                )
        done = types.ResponseOutputItemDoneEvent
        stream.append(
            done(type="response.output_item.done", item=item, output_index=place, sequence_number=next(number))
        )
    completed = types.ResponseCompletedEvent
    stream.append(completed(type="response.completed", response=response, sequence_number=next(number)))
    return events(stream, typed=True)


def messages(said, stream):
    content = []
    if said.thinking:
        content.append(anthropic.ThinkingBlock(type="thinking", thinking=said.thinking, signature="c2ln"))
    if said.text:
        content.append(anthropic.TextBlock(type="text", text=said.text))
    for call in said.calls:
        content.append(
            anthropic.ToolUseBlock(type="tool_use", id=call["id"], name=call["name"], input=call["arguments"])
        )
    finish = "tool_use" if said.calls else "end_turn"
    message = anthropic.Message(
        id="msg",
        type="message",
        role="assistant",
        model="m",
        content=content,
        stop_reason=finish,
        usage={"input_tokens": said.prompt, "output_tokens": said.completion},
    )
    if not stream:
        return dumped(message)
    begun = message.model_copy(update={"content": [], "stop_reason": None})
    stream = [anthropic.RawMessageStartEvent(type="message_start", message=begun)]
    for index, block in enumerate(content):
        if block.type == "text":
            start = {"text": ""}
            deltas = [anthropic.TextDelta(type="text_delta", text=piece) for piece in said.pieces(block.text)]
        elif block.type == "thinking":
            start = {"thinking": "", "signature": ""}
            pieces = said.pieces(block.thinking)
            deltas = [anthropic.ThinkingDelta(type="thinking_delta", thinking=piece) for piece in pieces]
            deltas.append(anthropic.SignatureDelta(type="signature_delta", signature="c2ln"))
        else:
            start = {"input": {}}
            pieces = said.pieces(json.dumps(block.input))
            deltas = [anthropic.InputJSONDelta(type="input_json_delta", partial_json=piece) for piece in pieces]
        stream.append(
            anthropic.RawContentBlockStartEvent(
                type="content_block_start", index=index, content_block=block.model_copy(update=start)
            )
        )
        stream += [
            anthropic.RawContentBlockDeltaEvent(type="content_block_delta", index=index, delta=delta) for delta in deltas
        ]
        stream.append(anthropic.RawContentBlockStopEvent(type="content_block_stop", index=index))
    stream.append(
        anthropic.RawMessageDeltaEvent(
            type="message_delta", delta={"stop_reason": finish}, usage={"output_tokens": said.completion}
        )
    )
    stream.append(anthropic.RawMessageStopEvent(type="message_stop"))
    return events(stream, typed=True)


def google(said, stream):
    def answer(parts, finish=None):
        candidate = gemini.Candidate(content=gemini.Content(role="model", parts=parts), finish_reason=finish, index=0)
        usage = gemini.GenerateContentResponseUsageMetadata(
            prompt_token_count=said.prompt, candidates_token_count=said.completion
        )
        answer = gemini.GenerateContentResponse(candidates=[candidate], usage_metadata=usage, model_version="m")
        return answer.model_dump_json(by_alias=True, exclude_none=True)

    calls = [
        gemini.Part(
            function_call=gemini.FunctionCall(id=call["id"], name=call["name"], args=call["arguments"]),
            thought_signature=b"signed" if place == 0 else None,
        )
        for place, call in enumerate(said.calls)
    ]
    if not stream:
        parts = [gemini.Part(text=said.thinking, thought=True)] if said.thinking else []
        parts += [gemini.Part(text=said.text)] if said.text else []
        return answer(parts + calls, "STOP")
    parts = [gemini.Part(text=piece, thought=True) for piece in said.pieces(said.thinking or "")]
    parts += [gemini.Part(text=piece) for piece in said.pieces(said.text or "")]
    return events([*(answer([part]) for part in parts + calls), answer([gemini.Part(text="")], "STOP")])


def mistralai(said, stream):
    calls = [
        mistral.ToolCall(id=call["id"], index=index, function={"name": call["name"], "arguments": call["arguments"]})
        for index, call in enumerate(said.calls)
    ]

    def thought(text):
        return mistral.ThinkChunk(thinking=[mistral.TextChunk(text=text)])

    usage = mistral.UsageInfo(
        prompt_tokens=said.prompt, completion_tokens=said.completion, total_tokens=said.prompt + said.completion
    )
    finish = "tool_calls" if said.calls else "stop"
    if not stream:
        content = said.text or ""
        if said.thinking:
            content = [thought(said.thinking), mistral.TextChunk(text=said.text or "")]
        message = mistral.AssistantMessage(content=content, tool_calls=calls or None)
        choice = mistral.ChatCompletionChoice(index=0, finish_reason=finish, message=message)
        completion = mistral.ChatCompletionResponse(
            id="c", object="chat.completion", model="m", usage=usage, created=1, choices=[choice]
        )
        return completion.model_dump_json(by_alias=True)
    deltas = [mistral.DeltaMessage(role="assistant", content="")]
    deltas += [mistral.DeltaMessage(content=[thought(piece)]) for piece in said.pieces(said.thinking or "")]
    deltas += [mistral.DeltaMessage(content=piece) for piece in said.pieces(said.text or "")]
    if calls:
        deltas.append(mistral.DeltaMessage(content="", tool_calls=calls))
    deltas.append(mistral.DeltaMessage(content=""))
    chunks = []
    for place, delta in enumerate(deltas):
        last = place == len(deltas) - 1
        choice = mistral.CompletionResponseStreamChoice(
            index=0, delta=delta, finish_reason=finish if last else None
        )
        more = {"usage": usage} if last else {}
        chunk = mistral.CompletionChunk(id="c", model="m", choices=[choice], **more)
        chunks.append(chunk.model_dump_json(by_alias=True))
    return events([*chunks, "[DONE]"])


MAKERS = dict(zip(FORMATS, [openai_chat, responses, messages, google, mistralai]))


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("provider", FORMATS)
def test_what_was_said_is_read(read, provider, stream):
    for seed in range(60):
        said = Said(seed)
        answer = read(provider, MAKERS[provider](said, stream), stream)
        assert (answer["text"] or "") == (said.text or ""), seed
        assert answer["thinking"] == said.thinking, seed
        calls = [{**call, "arguments": json.loads(call["arguments"])} for call in answer["calls"]]
        assert calls == said.calls, seed
        assert answer["finish"] == ("tool_calls" if said.calls else "stop"), seed
        assert (answer["usage"]["prompt"], answer["usage"]["completion"]) == (said.prompt, said.completion), seed
