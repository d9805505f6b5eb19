"""Has inspect_ai run evaluations, and bundles its viewer with the log of each: python inspect_logs.py DIR.

The logs are what real runs write (spans, states, calls, pools of messages and attachments); only the model is none: it
says words by chance, and calls a tool that finds such words. Each log goes into a folder of its own, DIR/NAME/logs, the
site that shows it into DIR/NAME/site. What is there is kept. Prints one JSON object: the bytes of each log.
"""

import json
import os
import random
import sys
import time
from pathlib import Path

os.environ["INSPECT_DISPLAY"] = "none"

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import bundle_log_dir, read_eval_log, write_eval_log
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, get_model, modelapi
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool

WORDS = "the agent opens a box and finds some red marble in it, then looks for another door".split()

# name: (ending, samples, messages of each, characters of a message)
LOGS = {
    "few": ("eval", 50, 10, 300),
    "many": ("eval", 5_000, 10, 300),
    # The same samples again.
    "many-json": ("json", 5_000, 10, 300),
    "long": ("json", 1, 3_000, 1_600),
    "huge": ("json", 1, 6_000, 5_000),
}

draw = random.Random(1)


def text(length):
    said = []
    while length > 0:
        word = draw.choice(WORDS)
        said.append(word)
        length -= len(word) + 1
    return " ".join(said)


@modelapi(name="chance")
def chance():
    return Chance


class Chance(ModelAPI):
    """Calls the tool until so many messages were said, then answers."""

    def __init__(self, model_name, base_url=None, api_key=None, config=None, messages=0, length=0):
        super().__init__(model_name)
        self.messages, self.length = messages, length

    def max_connections(self):
        return 20

    async def generate(self, input, tools, tool_choice, config):
        said = text(self.length)
        if len(input) + 1 < self.messages:
            arguments = {"where": text(40)}
            output = ModelOutput.for_tool_call(self.model_name, "look", arguments, content=said)
        else:
            output = ModelOutput.from_content(self.model_name, said)
        # Its own way to count asks for a list of words from the network.
        output.usage = ModelUsage(input_tokens=len(input), output_tokens=1, total_tokens=len(input) + 1)
        return output


@tool
def look(length):
    async def execute(where: str) -> str:
        """Looks somewhere.

        Args:
            where: The place.
        """
        return text(length)

    return execute


def run(folder, ending, samples, messages, length):
    task = Task(
        name="boxes",
        dataset=[Sample(id=number + 1, input=text(length), target="marble") for number in range(samples)],
        solver=[use_tools(look(length)), generate()],
        scorer=includes(),
    )
    model = get_model("chance/words", messages=messages, length=length)
    (log,) = eval(task, model=model, log_format=ending, log_dir=str(folder), log_realtime=False)
    if log.status != "success":
        raise SystemExit(f"The run ended with {log.status}: {log.error}")


def main(folder):
    sizes = {}
    for name, (ending, samples, messages, length) in LOGS.items():
        logs, site = folder / name / "logs", folder / name / "site"
        if not (site / "index.html").exists():
            print(f"  running {name}: {samples} samples of {messages} messages", file=sys.stderr)
            start = time.monotonic()
            logs.mkdir(parents=True, exist_ok=True)
            for former in logs.iterdir():
                former.unlink()
            if name == "many-json":
                (same,) = (folder / "many" / "logs").iterdir()
                write_eval_log(read_eval_log(str(same)), str(logs / f"{same.stem}.json"))
            else:
                run(logs, ending, samples, messages, length)
            bundle_log_dir(str(logs), output_dir=str(site), overwrite=True)
            print(f"  {name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
        (log,) = logs.iterdir()
        sizes[name] = log.stat().st_size
    print(json.dumps(sizes))


main(Path(sys.argv[1]))
