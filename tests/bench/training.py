# Writes a training run with torch, as slime's --save-debug-rollout-data does: `training.py write FOLDER STEPS SAMPLES TOKENS`.
# `training.py print FILE` is how people look at one without a viewer: it loads a step and prints a sample. Prints one JSON
# object.

import json
import os
import random
import sys
import time

import torch

WORDS = "the agent opens a box and finds some red marble in it then says so and counts again".split()


def sample(draw, step, index, tokens):
    prompt = tokens // 8
    response = tokens - prompt
    text = " ".join(draw.choices(WORDS, k=response))
    start = 1_790_000_000 + step * 100 + draw.random() * 5
    end = start + 20 + draw.expovariate(0.1)
    span = lambda name, kind, time, place: {"type": kind, "name": name, "ts": time, "sample_id": index, "attempt": 0, "span_id": place}
    reward = draw.choice([0.0, 0.0, 1.0]) if step < 25 else draw.choice([0.0, 1.0, 1.0])
    return {
        "group_index": index // 8,
        "index": index,
        "prompt": f"<|im_start|>user\nTask {index // 8 % 64}: count the marbles.<|im_end|>\n<|im_start|>assistant\n",
        "tokens": draw.choices(range(151_000), k=tokens),
        "response": text + "<|im_end|>",
        "response_length": response,
        "label": "7",
        "reward": reward,
        "loss_mask": [1] * response,
        "weight_versions": [str(step)],
        "rollout_log_probs": [-abs(draw.gauss(0, 0.5)) for _ in range(response)],
        "status": draw.choice(["completed"] * 9 + ["truncated"]),
        "metadata": {"source_name": "marbles"},
        "trace": {
            "version": 1,
            "events": [
                span("sglang_generate", "span_start", start, "a"),
                span("sglang_generate", "span_end", end - 0.5, "a"),
                span("reward_model", "span_start", end - 0.5, "b"),
                span("reward_model", "span_end", end, "b"),
            ],
        },
    }


def write(folder, steps, samples, tokens):
    os.makedirs(folder, exist_ok=True)
    for step in range(steps):
        path = f"{folder}/{step}.pt"
        if os.path.exists(path):
            continue
        draw = random.Random(step)
        made = [sample(draw, step, step * samples + place, tokens) for place in range(samples)]
        torch.save({"rollout_id": step, "samples": made}, path + ".part")
        os.replace(path + ".part", path)
    sizes = [os.path.getsize(f"{folder}/{step}.pt") for step in range(steps)]
    print(json.dumps({"bytes": sum(sizes), "torch": float(".".join(torch.__version__.split(".")[:2]))}))


def show(path):
    start = time.perf_counter()
    try:
        dump = torch.load(path, weights_only=False)
    except TypeError:
        dump = torch.load(path)
    print(dump["samples"][7], file=sys.stderr)
    print(json.dumps({"loaded": (time.perf_counter() - start) * 1000}))


if sys.argv[1] == "write":
    write(sys.argv[2], *map(int, sys.argv[3:6]))
else:
    show(sys.argv[2])
