"""Writes the logs of the benchmark with inspect_ai, and bundles its viewer with each: python inspect_logs.py DIR.

Each log goes into a folder of its own, DIR/NAME/logs, the site that shows it into DIR/NAME/site. What is there is
kept. Prints one JSON object: the bytes of each log.
"""

import json
import os
import random
import sys
from pathlib import Path

os.environ["INSPECT_DISPLAY"] = "none"

from inspect_ai.event import ModelEvent, ToolEvent
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalResults, EvalSample, EvalScore
from inspect_ai.log import EvalMetric, EvalPlan, EvalSpec, EvalStats, bundle_log_dir, write_eval_log
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser, GenerateConfig
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score
from inspect_ai.tool import ToolCall

WORDS = "the agent opens a box and finds some red marble in it, then looks for another door".split()
WHEN = "2026-01-02T03:04:05+00:00"
MODEL = "mockllm/model"

# name: (ending, samples, messages of each, characters of a message)
LOGS = {
    "few": ("eval", 50, 10, 300),
    "many": ("eval", 5_000, 10, 300),
    "many-json": ("json", 5_000, 10, 300),
    "long": ("json", 1, 3_000, 2_650),
    "huge": ("json", 1, 6_000, 6_580),
}


def text(draw, length):
    said = []
    while length > 0:
        word = draw.choice(WORDS)
        said.append(word)
        length -= len(word) + 1
    return " ".join(said)


def sample(number, messages, length):
    """A question, then calls and what came of them, and the events of all that."""
    draw = random.Random(number)
    said = [ChatMessageUser(id=f"u{number}", content=text(draw, length))]
    events = []
    while len(said) < messages:
        place = len(said)
        call = ToolCall(id=f"c{number}-{place}", function="look", arguments={"where": text(draw, 40)})
        calls = [call] if place + 1 < messages else None
        answer = ChatMessageAssistant(
            id=f"a{number}-{place}", content=text(draw, length), tool_calls=calls, model=MODEL
        )
        output = ModelOutput.from_message(answer)
        events.append(
            ModelEvent(
                timestamp=WHEN,
                model=MODEL,
                input=[],
                tools=[],
                tool_choice="auto",
                config=GenerateConfig(),
                output=output,
            )
        )
        said.append(answer)
        if calls:
            found = text(draw, length)
            said.append(
                ChatMessageTool(id=f"t{number}-{place}", content=found, function="look", tool_call_id=call.id)
            )
            events.append(
                ToolEvent(
                    timestamp=WHEN, id=call.id, function="look", arguments=call.arguments, result=found
                )
            )
    return EvalSample(
        id=number,
        epoch=1,
        input=said[0].content,
        target="marble",
        messages=said,
        output=ModelOutput.from_message(said[-1]),
        scores={"match": Score(value="C" if number % 3 else "I")},
        events=events,
        model_usage={},
    )


def log(samples, messages, length):
    made = [sample(number + 1, messages, length) for number in range(samples)]
    score = EvalScore(name="match", scorer="match", metrics={"accuracy": EvalMetric(name="accuracy", value=0.66)})
    return EvalLog(
        status="success",
        eval=EvalSpec(
            created=WHEN,
            task="boxes",
            task_id="boxes",
            run_id="run",
            dataset=EvalDataset(name="boxes", samples=samples, sample_ids=[one.id for one in made]),
            model=MODEL,
            config=EvalConfig(),
        ),
        plan=EvalPlan(),
        results=EvalResults(total_samples=samples, completed_samples=samples, scores=[score]),
        stats=EvalStats(started_at=WHEN, completed_at=WHEN),
        samples=made,
    )


def main(folder):
    sizes = {}
    for name, (ending, samples, messages, length) in LOGS.items():
        path = folder / name / "logs" / f"2026-01-02T03-04-05_boxes_{name.replace('-', '')}.{ending}"
        site = folder / name / "site"
        if not (site / "index.html").exists():
            print(f"  writing {path.name}", file=sys.stderr)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_eval_log(log(samples, messages, length), str(path))
            bundle_log_dir(str(path.parent), output_dir=str(site), overwrite=True)
        sizes[name] = path.stat().st_size
    print(json.dumps(sizes))


main(Path(sys.argv[1]))
