"""The operations of the golden cases, as aviary does them: from the input of a case to what is expected of it.

What each operation takes and gives stands in crates/golden/src/ops/.
"""

import ast
import asyncio
import builtins
import copy
import logging
import operator
import os
import tempfile
import warnings
from pathlib import Path

import servers  # noqa: F401  (makes aviary.envs.gsm8k importable without `datasets`)
from aviary.core import (
    DummyEnv,
    Environment,
    Frame,
    Message,
    MessagesAdapter,
    Renderer,
    TaskConfig,
    TaskDataset,
    Tool,
    ToolCall,
    ToolRequestMessage,
    ToolResponseMessage,
)
from aviary.envs.gsm8k.env import CalculatorEnv, CalculatorEnvConfig, SafeMathEvaluator
from aviary.message import EnvStateMessage, join
from aviary.tools import FunctionInfo, ToolCallFunction

warnings.simplefilter("ignore", DeprecationWarning)
logging.getLogger("aviary").setLevel(logging.CRITICAL)

KINDS = {
    kind.__name__: kind
    for kind in (Message, ToolRequestMessage, ToolResponseMessage, EnvStateMessage)
}


class Incomparable(Exception):
    """Here Volary differs on purpose, or the original takes for ever."""


def expected(op, given):
    """What aviary makes of an input, in the form of a golden case."""
    try:
        return {"ok": globals()[op](copy.deepcopy(given))}
    except Incomparable:
        raise
    except KeyError as error:
        # A call without arguments: the original's own mistake.
        if error.args == ("arguments",):
            raise Incomparable from error
        return {"error": {"contains": None}}
    except Exception as error:
        if "4300" in str(error):
            raise Incomparable from error
        return {"error": {"contains": None}}


def message_dump(given):
    message = KINDS[given["kind"]].model_validate(given["data"])
    options = given["options"]
    named = {"exclude_none": options.get("exclude_none", False)}
    if "exclude" in options:
        named["exclude"] = set(options["exclude"])
    names = ("include_info", "deserialize_content")
    return message.model_dump(
        context={name: options[name] for name in names if name in options}, **named
    )


def read(data):
    return MessagesAdapter.validate_python([data])[0]


def message_parse(given):
    message = read(given["data"])
    fields = ("content", "content_is_json_str", "is_multimodal", "cache_breakpoint", "info")
    return {
        "variant": type(message).__name__,
        "dump": message.model_dump(),
        **{field: getattr(message, field) for field in fields},
    }


def message_text_ops(given):
    message = KINDS[given["kind"]].model_validate(given["data"])
    results = []
    for op in given["ops"]:
        named = {key: op[key] for key in ("delim", "inplace") if key in op}
        result = getattr(message, f"{op['op']}_text")(op["text"], **named)
        results.append({
            "content": result.content,
            "content_is_json_str": result.content_is_json_str,
            "same_message": result is message,
        })
    return {"results": results, "content": message.content}


def message_str(given):
    return str(KINDS[given["kind"]].model_validate(given["data"]))


def message_join(given):
    return join([read(data) for data in given["messages"]], **given["options"])


def message_create(given):
    message = Message.create_message(**given)
    fields = ("role", "content", "content_is_json_str", "info")
    return {field: getattr(message, field) for field in fields}


def tool_call_parse(given):
    kind = {"ToolCall": ToolCall, "ToolCallFunction": ToolCallFunction}[given["as"]]
    return kind.model_validate(given["data"]).model_dump()


def tool_call_display(given):
    function = ToolCallFunction(name=given["name"], arguments=given["arguments"])
    return str(ToolCall(id=given["id"], function=function))


def tool_call_from_tool(given):
    tool = Tool.model_validate(given["tool"])
    call = ToolCall.from_tool(tool, *given["args"], id=given["id"], **given["kwargs"])
    return call.model_dump()


def tool_response_from_request(given):
    request = ToolRequestMessage.model_validate(given["request"])
    responses = ToolResponseMessage.from_request(request, given["contents"])
    return [response.model_dump() for response in responses]


def tool_dump(given):
    return [
        Tool.model_validate(tool).model_dump(**given["options"]) for tool in given["tools"]
    ]


def function_info_describe(given):
    info = FunctionInfo.model_validate(given["info"])
    return {"str": info.describe_str(), "json": info.describe_json()}


def frame_dump(given):
    return Frame(**given).model_dump()


def renderer_build(given):
    with tempfile.TemporaryDirectory() as target, tempfile.TemporaryDirectory() as source:
        options = {"indent": given.pop("indent")} if "indent" in given else {}
        paths = []
        for name, text in given.pop("extra_files", {}).items():
            paths.append(Path(source, name))
            if text is not None:
                paths[-1].write_text(text)
        frames = [Frame(**frame) for frame in given.pop("frames")]
        Renderer(frames=frames, **given).build(target, extra_files=paths, **options)
        return {"files": {name: Path(target, name).read_text() for name in os.listdir(target)}}


def task_config(given):
    asked = {}
    config = TaskConfig(**given["config"])
    original = TaskDataset.from_name
    TaskDataset.from_name = lambda name, **kwargs: asked.update(name=name, kwargs=kwargs)
    try:
        config.make_dataset(given["split"])
    finally:
        TaskDataset.from_name = original
    return asked


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


def run(coroutine):
    TOO_LARGE.clear()
    result = asyncio.run(coroutine)
    if TOO_LARGE:
        raise Incomparable
    return result


async def call_calculator(tool, arguments, answer, config):
    environment = CalculatorEnv("id", "problem", answer, CalculatorEnvConfig(**config))
    await environment.reset()
    call = ToolCall(id="1", function=ToolCallFunction(name=tool, arguments=arguments))
    messages, reward, done, _ = await environment.step(ToolRequestMessage(tool_calls=[call]))
    return {"content": messages[0].content, "reward": reward, "done": done}


def calculator_eval(given):
    return run(call_calculator("calculator", {"expr": given["expr"]}, 0, {}))["content"]


def calculator_submit(given):
    arguments = {"answer": given["answer"]}
    return run(call_calculator("submit_answer", arguments, given["correct"], given["config"]))


def gsm8k_answer_parse(given):
    return float(given["answer"].split("#### ")[1].replace(",", ""))


def full(messages):
    """Messages with their infos; when a tool ran is different each time."""
    dumps = [message.model_dump(context={"include_info": True}) for message in messages]
    for info in [dump.get("info") or {} for dump in dumps]:
        info.update({key: {"$any": True} for key in ("start_ts", "end_ts") if key in info})
    return dumps


def env_episode(given):
    async def play():
        config = dict(given["config"])
        if given["env"] == "dummy":
            environment = DummyEnv(**config)
        else:
            rewards = CalculatorEnvConfig(**config.pop("config"))
            environment = CalculatorEnv(**config, config=rewards)

        async def reset():
            messages, tools = await environment.reset()
            return {"messages": full(messages), "tools": [tool.info.name for tool in tools]}

        async def step(action):
            try:
                messages, reward, done, truncated = await environment.step(read(action))
            except Exception:
                return {"error": {"contains": None}}
            seen = {"messages": full(messages), "reward": reward}
            return seen | {"done": done, "truncated": truncated}

        first = await reset()
        try:
            identity = await environment.get_id()
        except Exception as error:
            identity = {"error": {"contains": str(error)}}
        frame, steps = environment.export_frame().model_dump(), []
        for action in given["steps"]:
            outcome = await (reset() if "reset" in action else step(action["action"]))
            steps.append(outcome | {"frame": environment.export_frame().model_dump()})
        return {"id": identity, "reset": first, "frame": frame, "steps": steps}

    return run(play())


def tools_of_the_harness(state):
    """The tools of `exec_tool_calls` that need no types of their own."""

    def echo(text):
        return text

    def give(value):
        return value

    async def agive(value):
        return value

    def fail(kind, text):
        if kind == "group":
            raise ExceptionGroup("several failures", [ValueError(part) for part in text.split(",")])
        raise getattr(builtins, kind, None)(text)

    def whoami(tool_call_id):
        return tool_call_id

    def bump(by, state):
        state["n"] += by
        return state["n"]

    def pair(first, second):
        return [first, second]

    for function in (echo, give, agive, fail, whoami, bump, pair):
        function.__qualname__ = function.__name__
        info = FunctionInfo(name=function.__name__, description="", parameters=None)
        yield Tool(tool_fn=function, info=info)


class Harness(Environment):
    async def reset(self):
        return [], []

    async def step(self, action):
        return [], 0.0, False, False


def exec_tool_calls(given):
    options = dict(given["options"])
    state = {"n": options.pop("state")}
    environment = Harness()
    environment.tools = list(tools_of_the_harness(state))
    message = ToolRequestMessage.model_validate(given["message"])
    responses = run(environment.exec_tool_calls(message, state=state, **options))
    return {"responses": full(responses), "state": state["n"]}
