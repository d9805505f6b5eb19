"""Several of our servers behind HAProxy, as examples/reverse-proxy/haproxy.cfg has them."""

import asyncio
import os
import shutil
import subprocess
import time

import httpx
import pytest
from aviary.core import TaskDatasetClient, ToolCall, ToolRequestMessage
from programs import ROOT
from servers import free_port, start_ours

CONFIG = ROOT / "examples" / "reverse-proxy" / "haproxy.cfg"
# Where Debian has it need not be on everybody's path.
HAPROXY = shutil.which("haproxy", path=os.environ.get("PATH", "") + ":/usr/sbin")
pytestmark = pytest.mark.skipif(
    HAPROXY is None, reason="HAProxy is not installed (on Debian: apt-get install haproxy)"
)

NAMES = ["ONE", "TWO", "THREE"]


class Farm:
    """Three servers and a proxy before them."""

    def __init__(self):
        self.ports = [free_port() for _ in NAMES]
        self.servers = [None for _ in NAMES]
        for number in range(len(NAMES)):
            self.start(number)
        self.url = f"http://127.0.0.1:{free_port()}"
        addresses = {
            f"VOLARY_{name}": f"127.0.0.1:{port}"
            for name, port in zip(NAMES, self.ports, strict=True)
        }
        addresses["VOLARY_PROXY"] = self.url.removeprefix("http://")
        self.proxy = subprocess.Popen(
            [HAPROXY, "-f", CONFIG, "-db", "-q"], env=os.environ | addresses
        )
        self.client = httpx.Client(base_url=self.url, timeout=20)
        self.until(self.answers)

    def start(self, number):
        self.servers[number], _ = start_ours(
            "--dataset", "dummy", "--server-number", number + 1, port=self.ports[number]
        )

    def kill(self, number):
        self.servers[number].kill()
        self.servers[number].wait()

    def stop(self):
        self.proxy.kill()
        self.proxy.wait()
        for number in range(len(NAMES)):
            self.kill(number)

    def answers(self):
        try:
            return self.client.get("/healthz").status_code == 200
        except httpx.TransportError:
            return False

    def until(self, holds):
        deadline = time.monotonic() + 20
        while not holds():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def post(self, path, **body):
        # A connection of its own for each request: the server is found by the id alone.
        return httpx.post(self.url + path, json=body, timeout=20)

    def begin(self):
        reply = self.post("/start")
        assert reply.status_code == 200, reply.text
        return reply.json()["env_id"]


def number_of(env_id):
    return int(env_id[32:34], 16) - 1


@pytest.fixture
def farm():
    farm = Farm()
    try:
        yield farm
    finally:
        farm.stop()


def action(story):
    call = ToolCall.from_name("print_story", story=story)
    return ToolRequestMessage(tool_calls=[call])


def test_an_environment_keeps_its_server(farm):
    ids = [farm.begin() for _ in range(30)]
    assert {number_of(env_id) for env_id in ids} == {0, 1, 2}
    for env_id in ids:
        assert farm.post("/reset", env_id=env_id).status_code == 200
    # Larger than what the proxy looks at.
    for story in ["Once upon a time", "word " * 400_000]:
        for env_id in ids[:9]:
            step = farm.post("/step", env_id=env_id, action=action(story).model_dump())
            assert step.status_code == 200
    look = {"env_id": ids[0], "action": {"role": "user", "content": "x"}}
    assert farm.post("/steps", steps=[look]).json()[0]["status"] == 200
    for env_id in ids:
        assert farm.post("/close", env_id=env_id).status_code == 200
        assert farm.post("/close", env_id=env_id).status_code == 404


def test_their_client_plays_through_the_proxy(farm):
    async def episode(dataset):
        environment = dataset.get_new_env()
        await environment.reset()
        step = await environment.step(action("One two three four five"))
        await environment.close()
        return step[1:]

    async def play():
        dataset = TaskDatasetClient(server_url=farm.url)
        return await asyncio.gather(*(episode(dataset) for _ in range(40)))

    assert asyncio.run(play()) == [(1.0, True, False)] * 40


def test_a_dead_servers_environments_are_unknown_and_others_go_on(farm):
    ids = [farm.begin() for _ in range(12)]
    for env_id in ids:
        farm.post("/reset", env_id=env_id)
    farm.kill(1)

    def answers_of(wanted):
        mine = [env_id for env_id in ids if (number_of(env_id) == 1) == wanted]
        look = {"role": "user", "content": "x"}
        return {farm.post("/step", env_id=env_id, action=look).status_code for env_id in mine}

    # At once, not only when the proxy has noticed.
    assert answers_of(True) == {404}
    assert answers_of(False) == {200}
    fresh = [farm.begin() for _ in range(12)]
    assert {number_of(env_id) for env_id in fresh} == {0, 2}
    # Back again, it is used again, and knows nothing of what was.
    farm.start(1)
    farm.until(lambda: number_of(farm.begin()) == 1)
    assert answers_of(True) == {404}


def test_a_client_whose_server_died_starts_anew(farm):
    async def play():
        environment = TaskDatasetClient(server_url=farm.url).get_new_env()
        await environment.reset()
        farm.kill(number_of(environment.state.env_id))
        with pytest.raises(httpx.HTTPStatusError, match="404"):
            await environment.step(action("lost"))
        await environment.reset()
        return await environment.step(action("One two three four five"))

    assert asyncio.run(play())[2]
