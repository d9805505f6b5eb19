"""The operations of the golden cases, as aviary does them: from the input of a case to what is expected of it.

What each operation takes and gives stands in crates/golden/src/ops/.
"""

import ast
import asyncio
import operator

from aviary.core import ToolCall, ToolRequestMessage
from aviary.envs.gsm8k.env import CalculatorEnv, CalculatorEnvConfig, SafeMathEvaluator
from aviary.tools import ToolCallFunction

from original_core import *  # noqa: F403
from original_core import MAKERS, Incomparable, outcome


def expected(op, given):
    """What aviary makes of an input, in the form of a golden case."""
    TOO_LARGE.clear()
    result = asyncio.run(outcome(globals()[op], given))
    if TOO_LARGE:
        raise Incomparable
    return result


def calculator(config, **arguments):
    return CalculatorEnv(**arguments, config=CalculatorEnvConfig(**config))


MAKERS["calculator"] = calculator


def guarded(function):
    """The original computes numbers of any size, for as long as it takes."""

    def compute(left, right):
        if isinstance(left, int) and isinstance(right, int):
            bits = abs(left).bit_length()
            bits = bits * abs(right) if function is operator.pow else bits + abs(right).bit_length()
            if bits > 14_000:
                TOO_LARGE.append(bits)
                raise ValueError
        return function(left, right)

    return compute


TOO_LARGE = []
for kind in (ast.Pow, ast.Mult):
    SafeMathEvaluator.SAFE_OPERATORS[kind] = guarded(SafeMathEvaluator.SAFE_OPERATORS[kind])


async def call_calculator(tool, arguments, answer, config):
    environment = CalculatorEnv("id", "problem", answer, CalculatorEnvConfig(**config))
    await environment.reset()
    call = ToolCall(id="1", function=ToolCallFunction(name=tool, arguments=arguments))
    messages, reward, done, _ = await environment.step(ToolRequestMessage(tool_calls=[call]))
    return {"content": messages[0].content, "reward": reward, "done": done}


async def calculator_eval(given):
    called = await call_calculator("calculator", {"expr": given["expr"]}, 0, {})
    return called["content"]


async def calculator_submit(given):
    arguments = {"answer": given["answer"]}
    return await call_calculator("submit_answer", arguments, given["correct"], given["config"])


def gsm8k_answer_parse(given):
    return float(given["answer"].split("#### ")[1].replace(",", ""))
