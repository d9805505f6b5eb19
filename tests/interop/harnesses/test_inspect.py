"""inspect_ai reads what Volary writes, and Volary what inspect_ai writes."""

import json

import pytest
from inspect_ai import Task, eval as run_eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample, bundle_log_dir, read_eval_log, write_eval_log
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    ContentReasoning,
    ContentText,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import Score, match
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import ToolCall, ToolCallError, tool
from jsonpatch import apply_patch

SOURCES = ["inspect.json", "atif.json", "ldp.jsonl", "claude-code.jsonl"]


@tool
def add():
    async def execute(x: int, y: int):
        """Adds.

        Args:
            x: One.
            y: Another.
        """
        return str(x + y)

    return execute


@pytest.fixture(scope="session")
def log(tmp_path_factory):
    """A log of a run with a model that was told what to say."""
    outputs = [
        ModelOutput.for_tool_call("mockllm/model", "add", {"x": 1, "y": 2}),
        ModelOutput.from_content("mockllm/model", "3"),
    ]
    task = Task(
        dataset=[Sample(input="1 + 2?", target="3", id="sum", metadata={"level": 1})],
        solver=[use_tools(add()), generate()],
        scorer=match(numeric=True),
        name="sums",
    )
    model = get_model("mockllm/model", custom_outputs=outputs)
    folder = tmp_path_factory.mktemp("logs")
    [log] = run_eval(task, model=model, log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    return log


@pytest.mark.parametrize("ending", ["json", "eval"])
def test_volary_reads_todays_logs(volary, log, tmp_path, ending):
    path = tmp_path / f"log.{ending}"
    write_eval_log(log, str(path))
    answer = volary("summaries", path)
    [episode] = answer["episodes"]
    assert (episode["task"], episode["steps"], episode["calls"]) == ("sum", 2, 1)
    assert (episode["reward"], episode["ending"]) == (1.0, "Done")
    assert episode["model"] == "mockllm/model"
    assert not any("missing" in note for note in answer["notes"])


def texts(sample):
    return [(message.role, message.text) for message in sample.messages]


def calls(sample):
    found = [getattr(message, "tool_calls", None) or [] for message in sample.messages]
    return [(call.id, call.function, call.arguments) for calls in found for call in calls]


def test_a_log_keeps_its_content(volary, log, tmp_path):
    theirs, ours = tmp_path / "theirs.json", tmp_path / "ours.json"
    write_eval_log(log, str(theirs))
    ours.write_text(volary("export", "inspect", theirs), encoding="utf-8")
    back = read_eval_log(str(ours))
    [before], [after] = log.samples, back.samples
    assert texts(after) == texts(before)
    assert calls(after) == calls(before)
    assert (after.id, after.epoch, after.target) == (before.id, before.epoch, before.target)
    assert after.scores["match"].value == before.scores["match"].value
    assert after.metadata["level"] == 1
    assert after.output.completion == "3"


@pytest.mark.parametrize("name", SOURCES)
def test_inspect_reads_episodes_of_any_format(volary, fixture, tmp_path, name):
    path = tmp_path / "ours.json"
    path.write_text(volary("export", "inspect", fixture(name)), encoding="utf-8")
    log = read_eval_log(str(path))
    episodes = volary("summaries", fixture(name))["episodes"]
    assert log.status == "success"
    assert len(log.samples) == len(episodes)
    for sample, episode in zip(log.samples, episodes, strict=True):
        assert sample.uuid == episode["id"]
        assert sum(message.role == "assistant" for message in sample.messages) == episode["steps"]
        assert len(calls(sample)) == episode["calls"]
        assert len([event for event in sample.events if event.event == "model"]) == episode["steps"]
    # inspect_ai can write it in its own format, and Volary reads that with the same content.
    packed = tmp_path / "ours.eval"
    write_eval_log(log, str(packed))
    again = volary("summaries", packed)["episodes"]
    shown = ["id", "steps", "calls", "reward"]
    assert [[one[key] for key in shown] for one in again] == [
        [one[key] for key in shown] for one in volary("summaries", path)["episodes"]
    ]


def test_inspect_reads_how_a_state_changed(volary, fixture, tmp_path):
    path = tmp_path / "ours.json"
    path.write_text(volary("export", "inspect", fixture("ldp.jsonl")), encoding="utf-8")
    [sample, *_] = read_eval_log(str(path)).samples
    state = {}
    for event in sample.events:
        if event.event == "store":
            changes = [change.model_dump(include={"op", "path", "value"}) for change in event.changes]
            state = apply_patch(state, changes)
    assert state == sample.store != {}


def test_the_oldest_numbers_json_has_not_become_null(volary, fixture, tmp_path):
    text = fixture("inspect.json").read_text().replace('"value": 0.5', '"value": NaN')
    path = tmp_path / "nan.json"
    path.write_text(text)
    written = volary("export", "inspect", path)
    json.loads(written, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    read_eval_log_path = tmp_path / "again.json"
    read_eval_log_path.write_text(written)
    assert len(read_eval_log(str(read_eval_log_path)).samples) == 3


def rich():
    """Samples with images, an error of a tool, reasoning, scores of several kinds, and several epochs."""
    picture = "data:image/png;base64,iVBORw0KGgo="
    call = ToolCall(id="c1", function="look", arguments={"at": [1, {"x": None}]})
    said = [
        ChatMessageSystem(content="Be exact."),
        ChatMessageUser(content=[ContentText(text="What is it?"), ContentImage(image=picture)]),
        ChatMessageAssistant(
            content=[ContentReasoning(reasoning="Hm."), ContentText(text="I look.")], tool_calls=[call]
        ),
        ChatMessageTool(
            content="", tool_call_id="c1", function="look", error=ToolCallError(type="timeout", message="Too slow.")
        ),
        ChatMessageAssistant(content="A box \u202e and \u0000."),
    ]
    scores = {"right": Score(value="I", explanation="No."), "style": Score(value={"a": 1, "b": 0.5})}
    return [
        EvalSample(
            id=one, epoch=epoch, input="What is it?", target=["box", "crate"], messages=said, scores=scores,
            output=ModelOutput.from_message(said[-1]), metadata={"level": one},
        )
        for epoch in (1, 2)
        for one in (1, 2)
    ]


def test_rich_content_of_several_samples_is_kept(volary, fixture, tmp_path):
    theirs, ours = tmp_path / "theirs.json", tmp_path / "ours.json"
    log = read_eval_log(str(fixture("inspect.json"))).model_copy(update={"samples": rich()})
    write_eval_log(log, str(theirs))
    answer = volary("summaries", theirs)
    assert [one["task"] for one in answer["episodes"]] == ["1", "2", "1", "2"]
    assert {(one["steps"], one["calls"], one["reward"]) for one in answer["episodes"]} == {(2, 1, 0.0)}
    ours.write_text(volary("export", "inspect", theirs), encoding="utf-8")
    back = read_eval_log(str(ours))
    assert [(one.id, one.epoch) for one in back.samples] == [("1", 1), ("2", 1), ("1", 2), ("2", 2)]
    for before, after in zip(log.samples, back.samples, strict=True):
        assert texts(after) == texts(before)
        assert calls(after) == calls(before)
        image, tool = after.messages[1].content[1], after.messages[3]
        assert (image.type, image.image) == ("image", before.messages[1].content[1].image)
        assert after.messages[2].content[0].reasoning == "Hm."
        assert tool.error.message == "Too slow."
        assert after.target == ["box", "crate"]
        assert after.scores["style"].value == {"a": 1, "b": 0.5}
        assert after.scores["right"].explanation == "No."


@pytest.mark.parametrize("name", SOURCES)
def test_inspect_view_bundles_what_volary_writes(volary, fixture, tmp_path, name):
    path = tmp_path / "logs" / "2026-01-02T03-04-05_made_x.json"
    path.parent.mkdir()
    path.write_text(volary("export", "inspect", fixture(name)), encoding="utf-8")
    bundle_log_dir(str(path.parent), output_dir=str(tmp_path / "site"))
    assert (tmp_path / "site" / "logs" / path.name).exists()
    listing = json.loads((tmp_path / "site" / "logs" / "listing.json").read_text())
    assert listing[path.name]["status"] == "success"
