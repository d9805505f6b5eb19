"""How long slime's way of finding tokens and mask takes: python slime.py TOKENIZER.

For each message of an episode the whole history is rendered by transformers, before and after it, and what the
message adds is tokenized (mode `fixed`). TOKENIZER is the folder with Qwen2.5's `tokenizer.json` and
`tokenizer_config.json`. Prints one JSON object: seconds and tokens by the number of turns.
"""

import json
import os
import sys
import time
from pathlib import Path

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

from transformers import PreTrainedTokenizerFast

SECONDS = 2.0
TURNS = [30, 60, 120]


def load(folder: Path) -> PreTrainedTokenizerFast:
    config = json.loads((folder / "tokenizer_config.json").read_text())
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    tokenizer.chat_template = config["chat_template"]
    return tokenizer


def messages(turns: int) -> list[dict]:
    """The same messages as in crates/bench/src/lib.rs."""
    made = [
        {"role": "system", "content": "You help customers of a shop. " * 40},
        {"role": "user", "content": "Hello, I would like to return some things."},
    ]
    for turn in range(turns):
        call = f'<tool_call>\n{{"name": "get_order", "arguments": {{"order_id": "#W{turn}"}}}}\n</tool_call>'
        made.append({"role": "assistant", "content": f"I look at order {turn} for you now.\n{call}"})
        items = ", ".join(f'{{"name": "item {item}", "price": {turn}.{item}, "state": "delivered"}}' for item in range(8))
        made.append({"role": "tool", "name": "get_order", "content": f'{{"order_id": "#W{turn}", "items": [{items}]}}'})
    return made


def episode(tokenizer: PreTrainedTokenizerFast, history: list[dict]) -> tuple[list[int], list[int]]:
    def render(until: list[dict], prompt: bool) -> str:
        return tokenizer.apply_chat_template(until, tokenize=False, add_generation_prompt=prompt)

    def encode(text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    ids, mask = [], []
    for end in range(3, len(history) + 1):
        before, after = render(history[: end - 1], False), render(history[:end], False)
        if not after.startswith(before):
            raise ValueError(f"message {end} rewrites what was before")
        added = after[len(before) :]
        header = 0
        if history[end - 1]["role"] == "assistant":
            prompted = render(history[: end - 1], True)
            if not (prompted.startswith(before) and after.startswith(prompted)):
                raise ValueError(f"message {end} does not begin with the header of a turn")
            if ids:
                tokens = encode(added)
                header = min(len(encode(prompted[len(before) :])), len(tokens))
            else:
                tokens = encode(after[len(prompted) :])
            mask += [0] * header + [1] * (len(tokens) - header)
        else:
            tokens = encode(added)
            mask += [0] * len(tokens)
        ids += tokens
    return ids, mask


def main() -> None:
    tokenizer = load(Path(sys.argv[1]))
    figures = {}
    for turns in TURNS:
        history = messages(turns)
        ids, mask = episode(tokenizer, history)
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < SECONDS:
            episode(tokenizer, history)
            count += 1
        figures[f"seconds_{turns}"] = (time.perf_counter() - start) / count
        figures[f"tokens_{turns}"] = len(ids)
        figures[f"trained_{turns}"] = sum(mask)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
