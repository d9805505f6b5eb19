"""`volary mcp` with the official client of Python and the official conformance tests."""

import asyncio
import contextlib
import json
import shutil
import subprocess

import jsonschema
import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from programs import ROOT, program

CONFORMANCE = (
    ROOT
    / "target/tools/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"
)
# The scenarios that need no tools, resources or prompts of the test's own.
SCENARIOS = ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder with twelve trajectories, of which each third failed."""
    folder = tmp_path_factory.mktemp("runs")
    for number in range(12):
        episode = {
            "reward": float(number % 3 > 0),
            "messages": [
                {"role": "user", "content": f"What is {number} plus 1?"},
                {"role": "assistant", "content": f"It is {number + 1}."},
            ],
        }
        (folder / f"run{number:02}.jsonl").write_text(json.dumps(episode) + "\n")
    return folder


@contextlib.contextmanager
def http_server(runs):
    """A server over HTTP; gives its address."""
    command = [program("volary"), "mcp", str(runs), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            yield server.stderr.readline().split()[-1]
        finally:
            server.terminate()
            assert server.wait(30) == 0


@contextlib.contextmanager
def connection(runs, transport):
    """What a client connects to."""
    if transport == "stdio":
        yield stdio_client(
            StdioServerParameters(command=program("volary"), args=["mcp", str(runs)])
        )
    else:
        with http_server(runs) as url:
            yield url


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_official_client_uses_every_tool(runs, transport, mode):
    async def use(server):
        async with Client(server, mode=mode) as client:
            assert client.server_info.name == "volary"
            assert "list_trajectories" in client.instructions
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}

            async def call(name, **arguments):
                result = await client.call_tool(name, arguments)
                assert not result.is_error, result
                assert result.content[0].text
                jsonschema.validate(arguments, tools[name].input_schema)
                jsonschema.validate(result.structured_content, tools[name].output_schema)
                return result.structured_content

            listed = await call("list_trajectories", limit=5)
            assert (listed["total"], listed["more"]["left_out"]) == (12, 7)
            one = listed["trajectories"][0]["id"]
            found = await call("search_trajectories", query='"it is 7."')
            assert [hit["id"] for hit in found["trajectories"]] != [one]
            text = (await call("read_trajectory", id=one))["text"]
            assert "It is 1." in text
            await call("diagnose_trajectories", id=one)
            await call("diagnose_trajectories")
            summary = await call("summarize_trajectories", by=["reward"])
            assert (summary["episodes"], summary["successes"]) == (12, 8)
            await call("read_answers")
            shown = await call("show_trajectory", id=one)
            assert shown["messages"][1]["parts"][0]["text"] == "It is 1."

            assert all(tool.annotations.read_only_hint for tool in tools.values())
            app = tools["show_trajectory"].meta["ui"]["resourceUri"]
            assert [str(resource.uri) for resource in (await client.list_resources()).resources] == [app]
            page = (await client.read_resource(app)).contents[0]
            assert page.mime_type == "text/html;profile=mcp-app"
            wrong = await client.call_tool("read_trajectory", {"id": "absent"})
            assert wrong.is_error and "list_trajectories" in wrong.content[0].text
            with pytest.raises(MCPError, match="no tool"):
                await client.call_tool("delete_trajectories", {})

    with connection(runs, transport) as server:
        asyncio.run(asyncio.wait_for(use(server), 60))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_server_conforms(runs, scenario, tmp_path):
    if not CONFORMANCE.exists() or not shutil.which("node"):
        pytest.skip("the conformance tests are not installed")
    with http_server(runs) as url:
        done = subprocess.run(
            ["node", CONFORMANCE, "server", "--url", url, "--scenario", scenario, "-o", tmp_path],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 0, done.stdout + done.stderr
