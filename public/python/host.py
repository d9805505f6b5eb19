"""Answers the page's questions about a file of Python with environments of fhaviary.

A question is JSON: `{"path", "seed", "body"}`, an answer `{"status", "body"}`. `/load` executes the code of the file;
the other paths are those of aviary's TaskDatasetServer, with the same bodies and statuses, and `/frame` as Volary's
server has it. So the page plays these environments with the client that it uses for servers.

The code shares this interpreter and can change everything here, so the page gives each file an interpreter of its own.

Everything that an environment draws is determined: random numbers follow from the seed of its start and the number
of the question, the wall clock starts at a fixed date and advances by a second with each question.
"""

import base64
import contextlib
import hashlib
import importlib
import inspect
import io
import json
import linecache
import pathlib
import random
import shutil
import sys
import time
import traceback
import types
import typing
import uuid
import zipfile

# aviary imports its clients together with its core. There is no network here, so names are enough.
_httpx = types.ModuleType("httpx")
for _name in ("Client", "AsyncClient", "Response", "Headers"):
    setattr(_httpx, _name, type(_name, (), {}))
for _name in ("TimeoutException", "HTTPStatusError", "ConnectError"):
    setattr(_httpx, _name, type(_name, (Exception,), {}))
_httpx._types = types.SimpleNamespace(QueryParamTypes=object, HeaderTypes=object)
_httpx_aiohttp = types.ModuleType("httpx_aiohttp")
_httpx_aiohttp.HttpxAiohttpClient = type("HttpxAiohttpClient", (), {})
sys.modules.setdefault("httpx", _httpx)
sys.modules.setdefault("httpx_aiohttp", _httpx_aiohttp)

import pydantic
from aviary.core import (
    Environment,
    MessagesAdapter,
    TaskDataset,
    ToolRequestMessage,
    ToolsAdapter,
)
from aviary.dataset_server import EnvRequest, StartRequest, StepRequest

FILE = "environment.py"
"""The name of the user's file in tracebacks."""

LONGEST_OUTPUT = 64_000
"""Characters of printed text that an answer carries."""


LARGEST_PACKAGE = 64 << 20
"""Bytes of an unpacked wheel."""

WHEELS = pathlib.Path("/lib/wheels")
"""Where wheels are unpacked, each in a folder with the name of its hash."""


class Refusal(Exception):
    """An answer that is not a success."""

    def __init__(self, status, body):
        super().__init__(status)
        self.status = status
        self.body = body


class Output(io.TextIOBase):
    """What was printed during one question, up to a bound."""

    def __init__(self):
        self.parts = []
        self.length = 0

    def writable(self):
        return True

    def write(self, text):
        room = LONGEST_OUTPUT - self.length
        if room > 0:
            self.parts.append(text[:room])
        self.length += len(text)
        return len(text)

    def text(self):
        left_out = self.length - LONGEST_OUTPUT
        tail = f"\n… {left_out} more characters" if left_out > 0 else ""
        return "".join(self.parts) + tail


class SingleEnvironment(TaskDataset):
    """The tasks of a file that defines an environment and no dataset: the environment with any arguments."""

    def __init__(self, environment):
        self.environment = environment

    def get_new_env(self):
        return self.environment()

    def get_new_env_by_args(self, **arguments):
        return self.environment(**arguments)


class Host:
    """A loaded file and its running environments."""

    def __init__(self):
        self.seconds = 0
        self.dataset = None
        self.environments = {}
        self.seeds = {}

    def begin(self, seed):
        """Sets the clock and all sources of random numbers for the question that follows."""
        self.seconds += 1
        if CLOCK is not None:
            CLOCK.set(seed, self.seconds)
        random.seed(f"{seed}/{self.seconds}")

    def get(self, env_id):
        try:
            return self.environments[env_id]
        except KeyError:
            raise Refusal(404, {"detail": f"Environment {env_id} not found"}) from None

    async def load(self, body, _):
        self.begin(0)
        code = body["code"]
        # Imports search the wheels before everything else.
        wheels = [str(WHEELS / wheel) for wheel in body.get("wheels", [])]
        sys.path[:] = [*wheels, *(path for path in sys.path if path not in wheels)]
        linecache.cache[FILE] = (len(code), None, code.splitlines(keepends=True), FILE)
        module = types.ModuleType("environment")
        module.__file__ = FILE
        sys.modules["environment"] = module
        try:
            exec(compile(code, FILE, "exec"), module.__dict__)
            environment, dataset = find(module)
            if dataset is None:
                self.dataset = SingleEnvironment(environment)
                subject = environment
            else:
                self.dataset = dataset()
                subject = None
        except BaseException as error:
            raise Refusal(422, describe(error)) from None
        return {
            "environment": environment.__name__ if environment else None,
            "dataset": dataset.__name__ if dataset else None,
            "summary": summary(dataset or environment),
            "configuration": schema(subject) if subject else None,
            "size": self.size(),
        }

    def size(self):
        try:
            return len(self.dataset)
        except TypeError:
            return None

    async def start(self, body, seed):
        request = parse(StartRequest, body)
        self.seconds = 0
        self.begin(seed)
        with failures():
            environment = request.make_env(self.dataset)
        # Not from the seed: two episodes may have the same one.
        env_id = f"{len(self.seeds)}-{uuid.UUID(int=random.getrandbits(128))}"
        self.environments[env_id] = [environment, self.seconds]
        self.seeds[env_id] = seed
        return {"env_id": env_id}

    async def identify(self, body, _):
        """What the environment's own `get_id` returns: the name of its task, where it has one."""
        environment = self.get(parse(EnvRequest, body).env_id)[0]
        try:
            return {"id": str(await environment.get_id())}
        except Exception:
            # The base class raises NotImplementedError, and others raise if they have no task.
            return {"id": None}

    async def restore(self, env_id):
        """The environment, with its own clock and random numbers for this question."""
        entry = self.get(env_id)
        self.seconds = entry[1]
        self.begin(self.seeds[env_id])
        entry[1] = self.seconds
        return entry[0]

    async def reset_environment(self, body, _):
        environment = await self.restore(parse(EnvRequest, body).env_id)
        with failures():
            messages, tools = await environment.reset()
            return [
                MessagesAdapter.dump_python(messages, mode="json", context={"include_info": True}),
                ToolsAdapter.dump_python(tools, mode="json", exclude_none=True, by_alias=True),
            ]

    async def step(self, body, _):
        request = parse(StepRequest, body)
        environment = await self.restore(request.env_id)
        with failures():
            messages, reward, done, truncated = await environment.step(request.action)
            dumped = MessagesAdapter.dump_python(messages, mode="json", context={"include_info": True})
            return [dumped, reward, done, truncated]

    async def frame(self, body, _):
        environment = self.get(parse(EnvRequest, body).env_id)[0]
        with failures():
            return environment.export_frame().model_dump(mode="json", exclude={"deepcopy"})

    async def close(self, body, _):
        env_id = parse(EnvRequest, body).env_id
        environment = self.get(env_id)[0]
        del self.environments[env_id]
        with failures():
            await environment.close()
        return {"env_id": env_id}

    async def info(self, *_):
        return {"dataset_size": self.size(), "running_env_ids": list(self.environments)}


ROUTES = {
    "/load": Host.load,
    "/start": Host.start,
    "/reset": Host.reset_environment,
    "/step": Host.step,
    "/frame": Host.frame,
    "/id": Host.identify,
    "/close": Host.close,
    "/info": Host.info,
}

LOADED = []
"""The loaded file, once its code was executed."""

CLOCK = None
"""The page's clock, an object with `set(seed, seconds)`."""


def use_clock(clock):
    """Takes the page's clock."""
    global CLOCK
    CLOCK = clock


async def answer(question):
    """The answer to a question, both as JSON, and what was printed meanwhile."""
    output = Output()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        status, body = await respond(question)
    try:
        text = json.dumps({"status": status, "body": body})
    except (TypeError, ValueError) as error:
        detail = f"The answer can't be written as JSON: {error}"
        text = json.dumps({"status": 500, "body": {"detail": detail}})
    return text, output.text()


def unpack(body):
    """Unpacks a wheel, for the files that need it."""
    name, digest = body["name"], body["sha256"]
    data = base64.b64decode(body["data"])
    if hashlib.sha256(data).hexdigest() != digest:
        raise Refusal(422, refused_wheel(name, "its bytes do not match its hash"))
    folder = WHEELS / digest
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            names = [member.filename for member in members]
            if sum(member.file_size for member in members) > LARGEST_PACKAGE:
                raise Refusal(422, refused_wheel(name, "it is larger than 64 MB when unpacked"))
            if any(member.startswith("/") or ".." in pathlib.PurePosixPath(member).parts for member in names):
                raise Refusal(422, refused_wheel(name, "it has files outside of its folder"))
            native = [member for member in names if member.endswith((".so", ".pyd", ".dll", ".dylib"))]
            if native:
                raise Refusal(422, refused_wheel(name, f"it is not pure Python: it contains {native[0]}"))
            if not any(member.endswith(".dist-info/WHEEL") for member in names):
                raise Refusal(422, refused_wheel(name, "it has no WHEEL file"))
            archive.extractall(folder)
    except (zipfile.BadZipFile, OSError) as error:
        # Half a package would count as loaded.
        shutil.rmtree(folder, ignore_errors=True)
        raise Refusal(422, refused_wheel(name, str(error))) from None
    importlib.invalidate_caches()
    return {"sha256": digest}


def refused_wheel(name, reason):
    text = f"{name} can't be loaded: {reason}."
    return {"detail": text, "kind": "WheelError", "text": text, "line": None}


async def respond(question):
    try:
        request = json.loads(question)
        if request["path"] == "/wheel":
            return 200, unpack(request["body"])
        route = ROUTES.get(request["path"])
        if route is None:
            return 404, {"detail": "Not Found"}
        seed = int(request.get("seed", 0))
        if request["path"] == "/load":
            missing = [wheel for wheel in request["body"].get("wheels", []) if not (WHEELS / wheel).is_dir()]
            if missing:
                return 424, {"detail": "Wheels are missing.", "wheels": missing}
            host = Host()
            body = await host.load(request["body"], seed)
            LOADED[:] = [host]
            return 200, body
        if not LOADED:
            return 409, {"detail": "The file is not loaded."}
        return 200, await route(LOADED[0], request.get("body"), seed)
    except Refusal as refusal:
        return refusal.status, refusal.body
    except BaseException as error:
        # An environment may raise anything, SystemExit and KeyboardInterrupt included.
        return 500, describe(error)


def parse(model, body):
    """A request's body, or the refusal that the original's server gives."""
    try:
        return model.model_validate({} if body is None else body)
    except pydantic.ValidationError as error:
        problems = json.loads(error.json(include_url=False))
        for problem in problems:
            problem["loc"] = ["body", *problem["loc"]]
        raise Refusal(422, {"detail": problems}) from None


@contextlib.contextmanager
def failures():
    """Turns what an environment raises into the status and text of the original's server."""
    try:
        yield
    except Refusal:
        raise
    except BaseException as error:
        raise Refusal(500, describe(error)) from None


def describe(error):
    """An error for people: its kind and text, the line of the user's file, and the traceback within that file."""
    line = None
    if isinstance(error, SyntaxError) and error.filename == FILE:
        line = error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == FILE]
    if own:
        line = own[-1].lineno
    shown = "".join(traceback.format_list(own)) + "".join(traceback.format_exception_only(error))
    text = str(error) or type(error).__name__
    if isinstance(error, OSError) and "socket" in shown:
        text += " There is no network here."
    return {"detail": shown + "\n" + repr(error), "kind": type(error).__name__, "text": text, "line": line}


def find(module):
    """The environment and the dataset that a file defines: the last of each in the order of definition."""
    own = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__ and not inspect.isabstract(value)
    ]
    environments = [value for value in own if issubclass(value, Environment)]
    datasets = [value for value in own if issubclass(value, TaskDataset)]
    if not environments and not datasets:
        imported = [
            value
            for value in vars(module).values()
            if inspect.isclass(value) and issubclass(value, Environment) and not inspect.isabstract(value)
        ]
        incomplete = [
            value
            for value in vars(module).values()
            if inspect.isclass(value)
            and value.__module__ == module.__name__
            and issubclass(value, Environment)
        ]
        if incomplete:
            missing = ", ".join(sorted(incomplete[-1].__abstractmethods__))
            raise TypeError(f"{incomplete[-1].__name__} does not define {missing}.")
        if not imported:
            raise LookupError(
                "The file defines no environment. Define a subclass of aviary.core.Environment, or of TaskDataset."
            )
        environments = imported
    return (environments[-1] if environments else None), (datasets[-1] if datasets else None)


def summary(subject):
    """The first paragraph of a class's own docstring."""
    text = inspect.cleandoc(subject.__doc__ or "") if "__doc__" in vars(subject) else ""
    return text.split("\n\n")[0].replace("\n", " ")


def schema(environment):
    """The JSON Schema of the constructor's arguments; the empty object where they can't be described."""
    fields = {}
    try:
        parameters = list(inspect.signature(environment).parameters.values())
        hints = typing.get_type_hints(environment.__init__)
    except (TypeError, ValueError, NameError):
        return {"type": "object", "properties": {}}
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints.get(parameter.name, typing.Any), default)
    try:
        model = pydantic.create_model(environment.__name__, **fields)
        return model.model_json_schema()
    except Exception:
        return {"type": "object", "properties": {}}
