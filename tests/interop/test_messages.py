"""Messages and tools dumped by Volary are validated by aviary, and the other way around."""

import copy
import json

from aviary.core import (
    Message,
    MessagesAdapter,
    Tool,
    ToolCall,
    ToolCallFunction,
    ToolRequestMessage,
    ToolResponseMessage,
    ToolsAdapter,
)

IMAGE = "data:image/png;base64,iVBORw0KGgo="

CALL = ToolCall(
    id="abc123xyz",
    function=ToolCallFunction(
        name="search", arguments={"query": "é 𝕊 \"'", "n": 3, "x": 1e16, "deep": [{}, None]}
    ),
)

MESSAGES = [
    Message(content="Hello"),
    Message(role="system", content=None),
    Message(role="function", content="é\u2028\n\t\\"),
    Message(content={"some": ["json", 1.0, 12345678901234567890123]}),
    Message.create_message(text="What is it?", images=[IMAGE]),
    Message(content="with info", info={"a": 1, "b": [None]}),
    Message(role="assistant", content="plain"),
    ToolRequestMessage(content=None, tool_calls=[CALL]),
    ToolRequestMessage(content="thinking", tool_calls=[CALL, CALL]),
    ToolRequestMessage(tool_calls=[]),
    ToolResponseMessage.from_call(CALL, content="an answer"),
    ToolResponseMessage(
        content='{"a": 1}', content_is_json_str=True, name="f", tool_call_id="1"
    ),
]


def add(x: int, y: float | None = None, names: list[str] | None = None) -> str:
    """Adds things.

    Args:
        x: The first.
        y: The second.
        names: What they are called.
    """
    return f"{x}{y}{names}"


def nothing() -> None:
    """Does nothing."""


TOOLS = [Tool.from_function(add), Tool.from_function(nothing)]


def dump_full(messages):
    context = {"include_info": True}
    return MessagesAdapter.dump_python(messages, context=context)


def read_again(dumped):
    # Validation changes what it reads, so it gets a copy.
    return MessagesAdapter.validate_python(copy.deepcopy(dumped))


def test_volary_reads_and_dumps_aviarys_messages(volary):
    # Not every message is its own dump: a plain one of role assistant reads as a request.
    theirs = dump_full(read_again(dump_full(MESSAGES)))
    assert volary("messages", data=dump_full(MESSAGES)) == json.loads(json.dumps(theirs))


def test_aviary_validates_volarys_messages(volary):
    ours = volary("messages", data=dump_full(MESSAGES))
    read = read_again(ours)
    assert [type(message) for message in read[7:]] == [type(m) for m in MESSAGES[7:]]
    assert dump_full(read) == ours


def test_tools_are_the_same_both_ways(volary):
    theirs = ToolsAdapter.dump_python(TOOLS, by_alias=True)
    ours = volary("tools", data=theirs)
    assert ours == json.loads(json.dumps(theirs))
    read = ToolsAdapter.validate_python(ours)
    assert ToolsAdapter.dump_python(read, by_alias=True) == theirs


def test_exported_lines_are_chats_that_aviary_reads(volary):
    data = {
        "messages": dump_full(MESSAGES),
        "tools": ToolsAdapter.dump_python(TOOLS, by_alias=True),
    }
    line = volary("jsonl", data=data)
    read = read_again(line["messages"])
    for message, original in zip(read, MESSAGES, strict=True):
        assert message.role == original.role
        calls = getattr(original, "tool_calls", None) or []
        assert (getattr(message, "tool_calls", None) or []) == calls
    for message in line["messages"]:
        assert "function_call" not in message
        assert message.get("tool_calls") != []
        for call in message.get("tool_calls", []):
            json.loads(call["function"]["arguments"])
    # What aviary itself sends to models: a default of null is not in it.
    sent = ToolsAdapter.dump_python(TOOLS, by_alias=True, exclude_none=True)
    assert line["tools"] == json.loads(json.dumps(sent))
    assert ToolsAdapter.validate_python(line["tools"])
