"""Volary reads the histories of messages that Pydantic AI writes."""

import pytest
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import BinaryContent, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage


def answers():
    """What the model answers, one after the other."""
    yield ModelResponse(
        parts=[
            ThinkingPart(content="Two places."),
            TextPart(content="I look."),
            ToolCallPart("look", {"at": "shed"}, tool_call_id="c1"),
            ToolCallPart("look", '{"at": "attic"}', tool_call_id="c2"),
        ],
        usage=RequestUsage(input_tokens=100, output_tokens=10, cache_read_tokens=40),
    )
    yield ModelResponse(parts=[TextPart(content="Two.")])


@pytest.fixture
def history():
    coming = answers()
    agent = Agent(
        FunctionModel(lambda messages, info: next(coming)),
        system_prompt="Be brief.",
        instructions="Count well.",
    )

    @agent.tool_plain
    def look(at: str) -> dict:
        if at == "attic":
            raise ModelRetry("The attic is locked.")
        return {"boxes": 2}

    picture = BinaryContent(data=b"picture", media_type="image/png")
    return agent.run_sync(["How many boxes?", picture]).all_messages_json()


def test_volary_reads_todays_histories(volary, history, tmp_path):
    path = tmp_path / "history.json"
    path.write_bytes(history)
    answer = volary("summaries", path)
    [episode] = answer["episodes"]
    shape = (episode["start"], episode["steps"], episode["calls"])
    assert shape == (3, 2, 2)
    assert not any("omitted" in note for note in answer["notes"])


def test_texts_calls_and_failures_are_kept(volary, history, tmp_path):
    path = tmp_path / "history.json"
    path.write_bytes(history)
    page = volary("export", "native", path)
    for text in ["Count well.", "Two places.", "I look.", "The attic is locked.", "Two.", "shed"]:
        assert text in page, text
