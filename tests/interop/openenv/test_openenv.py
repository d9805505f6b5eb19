"""`volary serve` with OpenEnv's own clients, and with the MCP client of the protocols before 2026-07-28."""

import asyncio
import contextlib
import json
import subprocess
import urllib.error
import urllib.request

import pytest
import websockets
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from openenv import GenericEnvClient
from openenv.core.env_server.mcp_types import CallToolAction
from openenv.core.mcp_client import MCPToolClient
from programs import ROOT, program

PROBLEMS = [
    json.loads(line)
    for line in (ROOT / "crates/envs/data/word_problems.jsonl").read_text().splitlines()
]
# Seconds until a test gives up.
PATIENCE = 60


@contextlib.contextmanager
def served(*arguments):
    """A server on a free port; gives its address."""
    command = [program("volary"), "serve", "--port", "0", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            yield server.stdout.readline().split()[-1]
        finally:
            server.terminate()
            assert server.wait(30) == 0


def answer_of(problem):
    return problem["answer"].split("#### ")[1].replace(",", "")


def ask(url, body=None, headers=None):
    """The status and the JSON of a reply."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(url, data, headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def running(url):
    """The number of environments of a server."""
    return len(ask(f"{url}/info")[1]["running_env_ids"])


async def none_running(url):
    for _ in range(PATIENCE * 10):
        if running(url) == 0:
            return
        await asyncio.sleep(0.1)
    pytest.fail("an environment was left")


def play(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, PATIENCE))


def test_the_generic_client_counts_to_the_reward():
    async def count(url):
        async with GenericEnvClient(base_url=url) as env:
            result = await env.reset(seed=1, episode_id="mine")
            assert result.observation["prompt"].startswith("Count to 10")
            assert not result.done
            rewards = []
            while not result.done:
                result = await env.step({"tool_name": "incr", "arguments": {}})
                rewards.append(result.reward)
            assert rewards == [0.0] * 9 + [1.0]
            assert result.observation["result"] == "counter=10"
            state = await env.state()
            assert (state["episode_id"], state["step_count"]) == ("mine", 10)
        await none_running(url)

    with served("--dataset", "counter") as url:
        play(count(url))


def test_the_client_of_tools_solves_word_problems():
    async def solve(url):
        client = MCPToolClient(base_url=url)
        # Otherwise it makes its session over HTTP, and its socket attaches to that.
        client.use_production_mode = False
        async with client as env:
            # Before any episode.
            tools = {tool.name: tool for tool in await env.list_tools()}
            assert sorted(tools) == ["calculator", "submit_answer"]
            assert "expr" in tools["calculator"].input_schema["properties"]
            status, listed = ask(f"{url}/word_problems/tasks", {"split": "train"})
            assert status == 200 and len(listed["tasks"]) == len(PROBLEMS)
            for task in listed["tasks"][::20]:
                problem = PROBLEMS[task["index"]]
                opening = await env.reset(split=task["split"], index=task["index"])
                assert problem["question"] in opening.observation.prompt
                await env.call_tool("calculator", expr=problem["expression"])
                action = CallToolAction(
                    tool_name="submit_answer", arguments={"answer": answer_of(problem)}
                )
                result = await env.step(action)
                assert (result.reward, result.done) == (1.0, True)
                assert result.observation.tool_name == "submit_answer"
        await none_running(url)

    with served("--dataset", "word_problems") as url:
        play(solve(url))


def test_without_async_as_trainers_call_it():
    with served("--dataset", "calculator") as url:
        with GenericEnvClient(base_url=url).sync() as env:
            env.reset(task_kwargs={"problem": "What is 6 * 7?", "answer": 42})
            result = env.step({"type": "message", "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "submit_answer", "arguments": '{"answer": "42"}'}}
            ]})
            assert (result.reward, result.done) == (1.0, True)
            assert result.observation["messages"][0]["tool_call_id"] == "a"


def test_many_connections_are_independent():
    async def count(url, number):
        async with GenericEnvClient(base_url=url) as env:
            await env.reset()
            for _ in range(number):
                result = await env.step({"tool_name": "incr"})
            assert result.observation["result"] == f"counter={number}"

    async def all_of_them(url):
        await asyncio.gather(*(count(url, 1 + number % 9) for number in range(64)))
        await none_running(url)

    with served("--dataset", "counter") as url:
        play(all_of_them(url))


def test_the_paths_next_to_the_socket():
    with served("--dataset", "word_problems") as url:
        assert ask(f"{url}/health") == (200, {"status": "healthy"})
        assert ask(f"{url}/metadata")[1]["name"] == "word_problems"
        schema = ask(f"{url}/schema")[1]
        assert schema["action"]["title"] == "CallToolAction"
        assert ask(f"{url}/list_environments") == (200, ["word_problems"])
        assert ask(f"{url}/word_problems/num_tasks", {"split": "train"})[1] == {
            "num_tasks": len(PROBLEMS)
        }
        wanted = {"split": "train", "start": 2, "stop": 4}
        tasks = ask(f"{url}/word_problems/task_range", wanted)[1]["tasks"]
        assert [task["index"] for task in tasks] == [2, 3]
        assert ask(f"{url}/word_problems/task", {"split": "train", "index": 10**6})[0] == 400
    with served("--dataset", "counter") as url:
        assert ask(f"{url}/counter/tasks", {"split": "train"})[0] == 501


def test_faults_end_at_most_one_connection():
    async def break_things(url):
        socket = url.replace("http", "ws") + "/ws"
        async with GenericEnvClient(base_url=url) as good:
            await good.reset()
            async with websockets.connect(socket) as bad:
                for garbage in ["", "{", '{"type": "step", "data": {"tool_', "[]", '{"type": "x"}']:
                    await bad.send(garbage)
                    assert json.loads(await bad.recv())["type"] == "error"
                await bad.send(b"\x00\xff")
                assert json.loads(await bad.recv())["type"] == "error"
                rpc = {"jsonrpc": "2.0", "id": "wrong", "method": "nothing"}
                await bad.send(json.dumps({"type": "mcp", "data": rpc}))
                answer = json.loads(await bad.recv())["data"]
                assert (answer["id"], answer["error"]["code"]) == ("wrong", -32601)
            with pytest.raises(websockets.ConnectionClosed):
                async with websockets.connect(socket) as bad:
                    await bad.send("x" * (10 << 20))
                    while True:
                        await bad.recv()
            # Closed after a step was sent.
            async with websockets.connect(socket) as bad:
                await bad.send('{"type": "reset"}')
                await bad.recv()
                await bad.send('{"type": "step", "data": {"tool_name": "incr"}}')
            with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
                await good.step({"tool": "incr"})
            # None of it was a step.
            result = await good.step({"tool_name": "incr"})
            assert result.observation["result"] == "counter=1"
        async with websockets.connect(socket + "?session_id=none") as bad:
            assert json.loads(await bad.recv())["data"]["code"] == "SESSION_ERROR"
        await none_running(url)

    with served("--dataset", "counter") as url:
        play(break_things(url))


def test_a_key_is_sent_as_a_header():
    async def count(url):
        async with GenericEnvClient(
            base_url=url, headers={"Authorization": "Bearer secret"}
        ) as env:
            await env.reset()
        with pytest.raises(ConnectionError):
            await GenericEnvClient(base_url=url).connect()

    with served("--dataset", "counter", "--api-key", "secret") as url:
        play(count(url))
        assert ask(f"{url}/schema")[0] == 403
        assert ask(f"{url}/schema", headers={"X-API-Key": "secret"})[0] == 200


def client_of(transport, url):
    if transport == "http":
        return Client(f"{url}/mcp")
    arguments = ["serve", "--mcp", "--dataset", "word_problems"]
    return Client(StdioTransport(program("volary"), arguments))


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_mcp_with_sessions(transport):
    async def solve(url):
        async with client_of(transport, url) as client:
            tools = {tool.name: tool for tool in await client.list_tools()}
            assert sorted(tools) == ["calculator", "reset", "submit_answer"]
            assert "episode" not in tools["calculator"].inputSchema["properties"]
            early = await client.call_tool(
                "calculator", {"expr": "1"}, raise_on_error=False
            )
            assert early.is_error and "reset" in early.content[0].text
            opening = await client.call_tool("reset", {"index": 5})
            assert PROBLEMS[5]["question"] in opening.content[0].text
            step = await client.call_tool(
                "submit_answer", {"answer": answer_of(PROBLEMS[5])}
            )
            assert (step.structured_content["reward"], step.structured_content["done"]) == (1.0, True)
            prompt = await client.get_prompt("task", {"index": "7"})
            assert PROBLEMS[7]["question"] in prompt.messages[0].content.text
            step = await client.call_tool(
                "submit_answer", {"answer": answer_of(PROBLEMS[7])}
            )
            assert step.structured_content["reward"] == 1.0
            tasks = json.loads((await client.read_resource("volary://tasks"))[0].text)
            assert tasks["count"] == len(PROBLEMS)
        if transport == "http":
            await none_running(url)

    with served("--dataset", "word_problems") as url:
        play(solve(url))
