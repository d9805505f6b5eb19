"""The environments of `volary serve` as MCP, with the official client of Python: both eras of the protocol, both transports."""

import asyncio
import contextlib
import json
import subprocess

import jsonschema
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from programs import ROOT, program

PROBLEMS = [
    json.loads(line)
    for line in (ROOT / "crates/envs/data/word_problems.jsonl").read_text().splitlines()
]


def bridged(transport):
    """The options of a server: of environments, or of a bridge to a program that has them."""
    if transport == "bridge":
        return ["--bridge", f"'{program('volary')}' serve --mcp --dataset word_problems"]
    return ["--dataset", "word_problems"]


@contextlib.contextmanager
def connection(transport):
    """What a client connects to."""
    command = ["serve", "--dataset", "word_problems"]
    if transport == "stdio":
        yield stdio_client(
            StdioServerParameters(command=program("volary"), args=[*command, "--mcp"])
        )
        return
    with subprocess.Popen(
        [program("volary"), "serve", *bridged(transport), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            yield server.stdout.readline().split()[-1] + "/mcp"
        finally:
            server.terminate()
            assert server.wait(30) == 0


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("transport", ["stdio", "http", "bridge"])
def test_word_problems_are_solved(transport, mode):
    names_episode = (transport, mode) == ("http", "auto")

    async def solve(server):
        async with Client(server, mode=mode) as client:
            assert "reset" in client.instructions
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert sorted(tools) == ["calculator", "reset", "submit_answer"]

            async def call(name, **arguments):
                result = await client.call_tool(name, arguments)
                assert not result.is_error, result
                jsonschema.validate(arguments, tools[name].input_schema)
                jsonschema.validate(result.structured_content, tools[name].output_schema)
                return result

            for index in [0, 9]:
                problem = PROBLEMS[index]
                opening = await call("reset", index=index)
                assert problem["question"] in opening.content[0].text
                episode = {}
                if names_episode:
                    episode["episode"] = opening.structured_content["episode"]
                step = await call("calculator", expr=problem["expression"], **episode)
                assert not step.structured_content["done"]
                answer = problem["answer"].split("#### ")[1].replace(",", "")
                step = await call("submit_answer", answer=answer, **episode)
                assert step.structured_content["reward"] == 1.0
                assert step.structured_content["done"]
            for wrong in [{"index": 10**6}, {"index": "first"}]:
                result = await client.call_tool("reset", wrong)
                assert result.is_error and result.content[0].text
            if names_episode:
                for episode in [{}, {"episode": "nobody"}]:
                    result = await client.call_tool("calculator", {"expr": "1", **episode})
                    assert result.is_error and result.content[0].text
            prompts = (await client.list_prompts()).prompts
            assert [prompt.name for prompt in prompts] == ["task"]
            prompt = await client.get_prompt("task", {"index": "3"})
            assert PROBLEMS[3]["question"] in prompt.messages[0].content.text
            tasks = await client.read_resource("volary://tasks")
            assert json.loads(tasks.contents[0].text)["count"] == len(PROBLEMS)

    with connection(transport) as server:
        asyncio.run(asyncio.wait_for(solve(server), 60))
