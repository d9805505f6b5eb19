"""The operations of the golden cases that fhaviary alone does: messages, tools, environments, execution.

tests/e2e/python_golden.spec.mjs runs this file in the page as well, so it imports nothing but the standard library and
fhaviary.
"""

import builtins
import copy
import inspect
import logging
import os
import tempfile
import warnings
from pathlib import Path

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


async def outcome(operation, given):
    """What aviary makes of an input, in the form of a golden case."""
    try:
        result = operation(copy.deepcopy(given))
        return {"ok": await result if inspect.isawaitable(result) else result}
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
    options = given.get("options", {})
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
    return join([read(data) for data in given["messages"]], **given.get("options", {}))


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
    named = {"id": given["id"]} if "id" in given else {}
    call = ToolCall.from_tool(tool, *given["args"], **named, **given["kwargs"])
    return call.model_dump()


def tool_response_from_request(given):
    request = ToolRequestMessage.model_validate(given["request"])
    responses = ToolResponseMessage.from_request(request, given["contents"])
    return [response.model_dump() for response in responses]


async def tool_dump(given):
    if "env" in given:
        _, tools = await make(given).reset()
    else:
        tools = [Tool.model_validate(tool) for tool in given["tools"]]
    return [tool.model_dump(**given.get("options", {})) for tool in tools]


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


def full(messages):
    """Messages with their infos; when a tool ran is different each time."""
    dumps = [message.model_dump(context={"include_info": True}) for message in messages]
    for info in [dump.get("info") or {} for dump in dumps]:
        info.update({key: {"$any": True} for key in ("start_ts", "end_ts") if key in info})
    return dumps


MAKERS = {"dummy": DummyEnv}
"""The environments that can be made here."""


def make(given):
    if given["env"] not in MAKERS:
        raise Incomparable
    return MAKERS[given["env"]](**given.get("config", {}))


async def env_episode(given):
    environment = make(given)

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

    def peek(state):
        return state["n"]

    for function in (echo, give, agive, fail, whoami, bump, pair, peek):
        function.__qualname__ = function.__name__
        info = FunctionInfo(name=function.__name__, description="", parameters=None)
        yield Tool(tool_fn=function, info=info)


OTHER_TOOLS = {"give_message", "give_record"}
"""Tools with types of their own, which only the recorded cases have."""


class Harness(Environment):
    async def reset(self):
        return [], []

    async def step(self, action):
        return [], 0.0, False, False


async def exec_tool_calls(given):
    options = dict(given.get("options", {}))
    state = {"n": options.pop("state", 0)}
    environment = Harness()
    environment.tools = list(tools_of_the_harness(state))
    message = ToolRequestMessage.model_validate(given["message"])
    if OTHER_TOOLS & {call.function.name for call in message.tool_calls}:
        raise Incomparable
    responses = await environment.exec_tool_calls(message, state=state, **options)
    seen = {"responses": full(responses)}
    return seen | {"state": state["n"]} if "state" in given.get("options", {}) else seen
