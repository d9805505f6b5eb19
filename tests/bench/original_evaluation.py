"""What an evaluation of a thousand dummy episodes costs with the original.

A random policy plays each of them to its end. Of each is written down what the page writes down: the tools, the messages,
and the frame before and after every step. Prints one JSON object: the seconds of the median run. Runs in the virtual
environment that `cargo xtask bench` makes.
"""

import asyncio
import json
import logging
import os
import random
import statistics
import tempfile
import time

from aviary.core import DummyEnv, ToolCall, ToolRequestMessage

logging.disable(logging.CRITICAL)
EPISODES = int(os.environ.get("VOLARY_BENCH_EPISODES", "1000"))
MAX_STEPS = 50
RUNS = 3


def action(tools, rng: random.Random) -> ToolRequestMessage:
    """A random call of a random tool, with arguments that fit."""
    tool = rng.choice(tools)
    arguments = {
        name: {"integer": rng.randint(-100, 100), "number": rng.random()}.get(schema.get("type"), "1")
        for name, schema in tool.info.get_properties().items()
    }
    return ToolRequestMessage(tool_calls=[ToolCall.from_name(tool.info.name, **arguments)])


async def episode(seed: int) -> dict:
    rng = random.Random(seed)
    env = DummyEnv()
    observation, tools = await env.reset()
    messages, frames = list(observation), [env.export_frame()]
    reward, done, steps = 0.0, False, 0
    while not done and steps < MAX_STEPS:
        taken = action(tools, rng)
        observation, gained, done, _ = await env.step(taken)
        messages += [taken, *observation]
        frames.append(env.export_frame())
        reward += gained
        steps += 1
    return {
        "reward": reward,
        "steps": steps,
        "tools": [tool.info.model_dump() for tool in tools],
        "messages": [message.model_dump() for message in messages],
        "frames": [frame.model_dump() for frame in frames],
    }


async def evaluation() -> float:
    start = time.perf_counter()
    with tempfile.TemporaryFile("w") as file:
        for seed in range(EPISODES):
            json.dump(await episode(seed), file)
            file.write("\n")
        file.flush()
    return time.perf_counter() - start


async def main() -> None:
    seconds = [await evaluation() for _ in range(RUNS)]
    print(json.dumps({"seconds": statistics.median(seconds)}))


if __name__ == "__main__":
    asyncio.run(main())
