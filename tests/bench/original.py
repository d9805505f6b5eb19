"""How fast the original is: environment steps, resets and whole episodes a second: python original.py [RATE...].

Prints one JSON object of rates: all, or those that are named. Runs in the virtual environment that `cargo xtask bench`
makes.
"""

import asyncio
import json
import logging
import sys
import time
import types

# aviary.envs.gsm8k imports `datasets` for its downloads, which nothing here uses.
sys.modules.setdefault("datasets", types.ModuleType("datasets"))
sys.modules["datasets"].load_dataset = None

from aviary.core import DummyEnv, ToolCall, ToolRequestMessage
from aviary.envs.gsm8k import CalculatorEnv

logging.disable(logging.CRITICAL)
SECONDS = 2.0


def request(name: str, **arguments) -> ToolRequestMessage:
    return ToolRequestMessage(tool_calls=[ToolCall.from_name(name, **arguments)])


async def rate(once) -> float:
    """Calls a second of an async function, over SECONDS."""
    count, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < SECONDS:
        await once()
        count += 1
    return count / elapsed


async def dummy_steps() -> float:
    env = DummyEnv(end_immediately=False)

    async def restart() -> None:
        await env.reset()

    await restart()
    steps = 0

    async def once() -> None:
        nonlocal steps
        await env.step(request("print_story", story="Once upon a time done"))
        steps += 1
        if steps % 100 == 0:
            await restart()

    return await rate(once)


async def dummy_resets() -> float:
    env = DummyEnv()
    return await rate(env.reset)


async def dummy_episodes() -> float:
    async def once() -> None:
        env = DummyEnv()
        await env.reset()
        await env.step(request("print_story", story="Once upon a time done"))

    return await rate(once)


async def calculator_steps() -> float:
    env = CalculatorEnv(problem_id="p", problem="What is 2 + 3?", answer=5.0)
    await env.reset()

    async def once() -> None:
        await env.step(request("calculator", expr="(2 + 3) * 7 - 4 / 2"))

    return await rate(once)


async def main() -> None:
    parts = [dummy_steps, dummy_resets, dummy_episodes, calculator_steps]
    wanted = sys.argv[1:]
    parts = [part for part in parts if not wanted or part.__name__ in wanted]
    print(json.dumps({part.__name__: await part() for part in parts}))


if __name__ == "__main__":
    asyncio.run(main())
