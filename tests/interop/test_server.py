"""Our server and the original's client, our client and the original's server."""

import asyncio
import json
import subprocess

import httpx
import pytest
from aviary.core import (
    DummyTaskDataset,
    Message,
    TaskDatasetClient,
    ToolCall,
    ToolRequestMessage,
    ToolResponseMessage,
)
from programs import ROOT, program
from servers import calculators, ours, theirs, write_gsm8k

PROBLEMS = ROOT / "crates" / "envs" / "data" / "word_problems.jsonl"
TASKS = [("What is 6 * 7?", 42), ("A third of 100?", 33.333333), ("Half of -7?", -3.5)]


def call(name, **arguments):
    """An action of one call, whose id does not change from run to run."""
    tool_call = ToolCall.from_name(name, **arguments)
    tool_call.id = "abcdefghi"
    return ToolRequestMessage(tool_calls=[tool_call])


def both(*actions):
    """An action of several calls."""
    calls = [action.tool_calls[0] for action in actions]
    for place, tool_call in enumerate(calls):
        tool_call.id = f"call{place}"
    return ToolRequestMessage(tool_calls=calls)


async def episode(environment, *actions):
    """Plays an episode to its end; gives opening messages, tool names and steps."""
    opening, tools = await environment.reset()
    steps = [await environment.step(action) for action in actions]
    await environment.close()
    return opening, [tool.info.name for tool in tools], steps


def answer_of(line):
    return line["answer"].split("#### ")[1].replace(",", "")


# Their client, our server


def test_an_episode_of_every_word_problem():
    lines = [json.loads(line) for line in PROBLEMS.read_text().splitlines()]

    async def play(url, step):
        dataset = TaskDatasetClient(server_url=url)
        assert len(dataset) == len(lines)
        for index, line in list(enumerate(lines))[::step]:
            environment = dataset.get_new_env_by_idx(index)
            opening, tools, steps = await episode(
                environment,
                call("calculator", expr=line["expression"]),
                call("submit_answer", answer=answer_of(line)),
            )
            assert line["question"] in opening[0].content
            assert tools == ["calculator", "submit_answer"]
            assert [step[1:] for step in steps] == [(0.0, False, False), (1.0, True, False)]
            assert isinstance(steps[0][0][0], ToolResponseMessage)

    # The calculator has the same problems.
    for name, step in [("word_problems", 1), ("calculator", 10)]:
        with ours("--dataset", name) as url:
            asyncio.run(play(url, step))


def test_an_episode_of_a_file_of_problems(tmp_path):
    async def play(url):
        dataset = TaskDatasetClient(server_url=url)
        assert len(dataset) == len(TASKS)
        for index, (question, answer) in enumerate(TASKS):
            environment = dataset.get_new_env_by_idx(index)
            opening, _, steps = await episode(
                environment, call("submit_answer", answer=str(answer))
            )
            assert opening[0].content == question
            assert steps[0][1:] == (1.0, True, False)

    with ours("--gsm8k", write_gsm8k(tmp_path / "tasks.jsonl", TASKS)) as url:
        asyncio.run(play(url))


@pytest.mark.parametrize(
    ("dataset", "actions", "rewards", "done"),
    [
        ("dummy", [call("print_story", story="One two three four five")], 1.0, True),
        ("counter", [call("incr")] * 10, None, True),
        ("hands", [call("smile_and_wave")], None, None),
        ("faults", [call("markup"), call("nest", depth=900), call("bad_numbers")], 0.0, False),
    ],
)
def test_an_episode_of_every_other_dataset(dataset, actions, rewards, done):
    async def play(url):
        client = TaskDatasetClient(server_url=url)
        with pytest.raises(TypeError):
            len(client)
        return await episode(client.get_new_env(), *actions)

    with ours("--dataset", dataset) as url:
        _, tools, steps = asyncio.run(play(url))
    assert {action.tool_calls[0].function.name for action in actions} <= set(tools)
    assert len(steps) == len(actions)
    if rewards is not None:
        assert sum(step[1] for step in steps) == rewards
    if done is not None:
        assert steps[-1][2] is done


def test_many_at_once_and_errors_as_the_client_knows_them():
    async def play(url):
        dataset = TaskDatasetClient(server_url=url, catch_http_errors=True)
        story = call("print_story", story="One two three four five")
        played = await asyncio.gather(
            *(episode(dataset.get_new_env(), story) for _ in range(50))
        )
        assert all(steps[0][1:] == (1.0, True, False) for _, _, steps in played)
        environment = dataset.get_new_env()
        await environment.reset()
        failing = await environment.step(call("cast_float", x="abc"))
        assert failing[1:] == (0.0, True, False)
        assert "500" in failing[0][0].content
        await environment.close()
        with pytest.raises(httpx.HTTPStatusError):
            await environment.close()

    with ours("--dataset", "dummy") as url:
        asyncio.run(play(url))


def test_the_key_of_their_client():
    with ours("--dataset", "dummy", "--api-key", "s3cret") as url:
        with pytest.raises(httpx.HTTPStatusError, match="403"):
            TaskDatasetClient(server_url=url)
        dataset = TaskDatasetClient(server_url=url, api_key="s3cret")
        story = call("print_story", story="Once")
        assert asyncio.run(episode(dataset.get_new_env(), story))[2][0][2]


# The same requests to both servers

DUMMY_ACTIONS = [
    call("print_story", story="One two three four five"),
    call("cast_int", x="12.0"),
    call("cast_float", x="1e3"),
    call("cast_float", x="abc"),
    call("no_such_tool", x=1),
    both(call("cast_int", x=1), call("cast_int", x=2.5)),
    ToolRequestMessage(content="none", tool_calls=[]),
    Message(content="plain"),
    ToolResponseMessage(content="odd", name="n", tool_call_id="i"),
]

CALCULATOR_ACTIONS = [
    call("calculator", expr="(2 + 3) * 7 - 4 / 2"),
    call("calculator", expr=" 2 ** 0.5 "),
    call("calculator", expr="1 / 0"),
    call("calculator", expr="import os"),
    call("calculator", expr="max(1, 2.0) + abs(-3)"),
    both(call("calculator", expr="1 + 1"), call("submit_answer", answer="42")),
    call("nothing"),
    ToolRequestMessage(tool_calls=[]),
    Message(content="plain"),
    call("submit_answer", answer="1,000"),
    call("submit_answer", answer="42.001"),
]

BODIES = [
    ("start", {"task_idx": "0"}),
    ("start", {"task_idx": 1.0}),
    ("start", {"task_idx": 1.5}),
    ("start", {"task_idx": "one"}),
    ("start", {"task_idx": []}),
    ("start", {"task_idx": 99}),
    ("start", {"task_kwargs": 5}),
    ("start", {"task_idx": 0, "task_kwargs": {}}),
    ("start", {"unknown": True}),
    ("start", []),
    ("start", None),
    ("reset", {"env_id": "nobody"}),
    ("reset", {"env_id": 5}),
    ("reset", {}),
    ("step", {"env_id": "nobody", "action": {"role": "user", "content": "x"}}),
    ("step", {"env_id": "nobody", "action": 5}),
    ("step", {"action": None}),
    ("close", {"env_id": None}),
    ("close_old_envs", {"last_used": "soon"}),
    ("close_old_envs", {"last_used": None}),
    ("close_old_envs", {"last_used": "1e3"}),
    ("start/", {}),
    ("info", {}),
    ("nothing", {}),
]


# Keys of what differs from run to run.
TIMES = {"start_ts", "end_ts"}


def timeless(value):
    match value:
        case list():
            return [timeless(item) for item in value]
        case dict():
            return {key: timeless(value[key]) for key in value.keys() - TIMES}
        case _:
            return value


class Talk:
    """Requests to a server, and its answers without what differs from run to run."""

    def __init__(self, url):
        self.client = httpx.Client(base_url=url, timeout=30, follow_redirects=True)
        self.ids = []

    def ask(self, path, body):
        reply = self.client.post(f"/{path}", json=body)
        if path.startswith("start") and reply.status_code == 200:
            self.ids.append(reply.json()["env_id"])
        if reply.status_code == 500:
            # What failed says so in its own words, the original's with a traceback.
            return 500, None
        return reply.status_code, self.comparable(timeless(reply.json()))

    def comparable(self, value):
        match value:
            case str():
                for place, env_id in enumerate(self.ids):
                    value = value.replace(env_id, f"id {place}")
                return value
            case list():
                return [self.comparable(item) for item in value]
            case {"detail": list(problems)}:
                return [(problem["type"], problem["loc"], problem["msg"]) for problem in problems]
            case dict():
                return {key: self.comparable(item) for key, item in value.items()}
            case _:
                return value

    def play(self, start, actions):
        """Everything that the server says in an episode whose end changes nothing."""
        said = [self.ask("start", start)]
        env_id = self.ids[-1]
        said.append(self.ask("reset", {"env_id": env_id}))
        for action in actions:
            step = {"env_id": env_id, "action": action.model_dump()}
            said.append(self.ask("step", step))
        info = self.client.get("/info")
        said.append((info.status_code, self.comparable(info.json())))
        said += [self.ask("close", {"env_id": env_id}) for _ in range(2)]
        return said


def compare(our_url, their_url, starts, actions):
    our_talk, their_talk = Talk(our_url), Talk(their_url)
    for start in starts:
        pairs = zip(
            our_talk.play(start, actions), their_talk.play(start, actions), strict=True
        )
        for place, (our_answer, their_answer) in enumerate(pairs):
            assert our_answer == their_answer, f"answer {place}"
    for path, body in BODIES:
        our_answer, their_answer = our_talk.ask(path, body), their_talk.ask(path, body)
        assert our_answer == their_answer, (path, body)


def test_dummies_answer_alike():
    with ours("--dataset", "dummy") as our_url, theirs(DummyTaskDataset()) as their_url:
        compare(our_url, their_url, [{}], DUMMY_ACTIONS)


def test_calculators_answer_alike(tmp_path):
    file = write_gsm8k(tmp_path / "tasks.jsonl", TASKS)
    with ours("--gsm8k", file) as our_url, theirs(calculators(TASKS)) as their_url:
        starts = [{"task_idx": index} for index in (0, -1)]
        compare(our_url, their_url, starts, CALCULATOR_ACTIONS)


# Our client, their server


def our_client(url, episodes, api_key=None):
    plan = {"server_url": url, "api_key": api_key, "episodes": episodes}
    return subprocess.run(
        [program("play")], input=json.dumps(plan), capture_output=True, text=True, check=False
    )


def planned(start, actions):
    return {"start": start, "actions": [action.model_dump() for action in actions]}


def test_our_client_plays_on_their_server_as_on_ours(tmp_path):
    file = write_gsm8k(tmp_path / "tasks.jsonl", TASKS)
    # Words of failures differ; that there is one does not.
    solved = [call("calculator", expr="6 * 7"), call("submit_answer", answer="42")]
    plan = [planned({"task_idx": index}, solved) for index in (0, 1, 2)]
    with ours("--gsm8k", file) as our_url, theirs(calculators(TASKS), "key") as their_url:
        at_home = our_client(our_url, plan)
        abroad = our_client(their_url, plan, "key")
        refused = our_client(their_url, plan, "wrong")
    assert "Invalid or missing API key" in refused.stderr
    at_home, abroad = (timeless(json.loads(done.stdout)) for done in (at_home, abroad))
    assert [episode["steps"][-1]["reward"] for episode in abroad] == [1.0, 0.0, 0.0]
    for home, away in zip(at_home, abroad, strict=True):
        assert (home.pop("frames"), away.pop("frames")) == ("Shown", "NotShown")
        assert set(home.pop("closed")) == set(away.pop("closed")) == {"env_id"}
        assert home == away


def test_our_client_plays_dummies_on_their_server():
    plan = [planned({}, [action]) for action in DUMMY_ACTIONS]
    with ours("--dataset", "dummy") as our_url, theirs(DummyTaskDataset()) as their_url:
        at_home = timeless(json.loads(our_client(our_url, plan).stdout))
        abroad = timeless(json.loads(our_client(their_url, plan).stdout))
    for action, home, away in zip(DUMMY_ACTIONS, at_home, abroad, strict=True):
        if "error" in away["steps"][0]:
            assert "500" in home["steps"][0]["error"], action
        else:
            assert home["steps"] == away["steps"], action
        assert (home["messages"], home["tools"]) == (away["messages"], away["tools"])


def test_our_client_says_that_nobody_is_there():
    done = our_client("http://127.0.0.1:9", [])
    assert done.returncode != 0
    assert "Unreachable" in done.stderr
