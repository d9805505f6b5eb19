"""ldp reads what Volary writes, Volary what ldp writes, and nothing changes on the way."""

import asyncio
import json

import pytest
from aviary.core import Message, ToolCall, ToolRequestMessage, ToolResponseMessage
from ldp.data_structures import Trajectory, Transition
from ldp.graph import OpResult
from ldp.graph.ops import CallID


def result(number, value):
    run, forward = f"{1:032x}", f"{number + 2:032x}"
    return OpResult(
        call_id=CallID(run_id=run, fwd_id=forward), op_name="act", op_class_name="Act", value=value
    )


def made():
    call = ToolCall.from_name("add", x=1, y=[2.5, None])
    request = ToolRequestMessage(content="I add.", tool_calls=[call])
    answer = ToolResponseMessage.from_call(call, content="3.5")
    image = Message.create_message(text="Look.", images=["data:image/png;base64,AAAA"])
    start = [Message(role="system", content="Be exact."), image]
    steps = [
        Transition(
            timestep=0,
            agent_state={"seen": 0},
            next_agent_state={"seen": 1},
            observation=start,
            next_observation=[answer],
            action=result(0, request),
            reward=0.25,
            value=0.5,
            metadata={"cost": 0.5},
        ),
        Transition(
            timestep=1,
            agent_state={"seen": 1},
            next_agent_state={"seen": 2},
            observation=[answer],
            next_observation=[],
            action=result(1, Message(role="assistant", content="3.5 \u2028 é 𝕊")),
            reward=1.0,
            done=True,
        ),
    ]
    return Trajectory(traj_id="näme", steps=steps)


def dumped(trajectory):
    return [trajectory.traj_id, *(json.loads(step.model_dump_json()) for step in trajectory.steps)]


def test_ldp_finds_its_own_again(volary, tmp_path):
    theirs, ours = tmp_path / "theirs.jsonl", tmp_path / "ours.jsonl"
    asyncio.run(made().to_jsonl(theirs))
    [episode] = volary("summaries", theirs)["episodes"]
    assert (episode["id"], episode["steps"], episode["calls"]) == ("näme", 2, 1)
    assert (episode["reward"], episode["frames"], episode["ending"]) == (1.25, 3, "Done")
    ours.write_text(volary("export", "ldp", theirs), encoding="utf-8")
    assert dumped(Trajectory.from_jsonl(ours)) == dumped(Trajectory.from_jsonl(theirs))


@pytest.mark.parametrize(
    "name", ["ldp.jsonl", "atif.json", "inspect.json", "claude-code.jsonl", "inspect-zstd.eval"]
)
def test_ldp_reads_episodes_of_any_format(volary, fixture, tmp_path, name):
    path = tmp_path / "ours.jsonl"
    path.write_text(volary("export", "ldp", fixture(name)), encoding="utf-8")
    trajectory = Trajectory.from_jsonl(path)
    episode = volary("summaries", fixture(name))["episodes"][0]
    assert trajectory.traj_id == episode["id"]
    assert len(trajectory.steps) == episode["steps"]
    calls = [len(getattr(step.action.value, "tool_calls", None) or []) for step in trajectory.steps]
    assert sum(calls) == episode["calls"]
    assert sum(step.reward for step in trajectory.steps) == (episode["reward"] or 0)
    # And back: the same once more.
    assert volary("export", "ldp", path) == path.read_text(encoding="utf-8")
