"""Hugging Face datasets, with which trainers load data, reads the rows that Volary writes: as Parquet, as JSON Lines, as a
stream, and with the messages and masks that a trainer takes from them."""

import json
import math

import pytest

SAMPLES = [
    {
        "group_index": group,
        "index": 2 * group + trial,
        "prompt": f"<|im_start|>user\nHow many are in box {group}?<|im_end|>\n<|im_start|>assistant\n",
        "response": "Two.<|im_end|>",
        "response_length": 3,
        "tokens": [11, 12, 13, 14 + group, 200001],
        "loss_mask": [1, 0, 1],
        "reward": float(trial),
        "status": "completed",
        "rollout_log_probs": [-0.5, 0.0, -0.25],
        "log_probs": [-0.125, None, float("nan")] if trial else [-0.125, -0.5, -1.0],
    }
    for group in range(3)
    for trial in range(2)
]
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"x": 1}'}}
CHATS = [
    {"messages": [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Good day."}]},
    {
        "messages": [
            {"role": "user", "content": "Add."},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "name": "add", "content": "2"},
            {"role": "assistant", "content": "2"},
        ]
    },
]


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Loads a file without a network, with the cache in the test's folder."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    import datasets  # It reads the environment when it is imported.

    def load(path, **options):
        kind = {".parquet": "parquet", ".jsonl": "json"}[path.suffix]
        cache = str(tmp_path / "cache" / path.name)
        return datasets.load_dataset(kind, data_files=str(path), split="train", cache_dir=cache, **options)

    return load


def written(package, folder, to, name, records):
    source = folder / "records.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in records))
    package.convert([source], to=to, out=folder / name)
    return folder / name


FORMATS = pytest.mark.parametrize(("to", "name"), [("parquet", "rows.parquet"), ("rows", "rows.jsonl")])


@FORMATS
def test_tokens_masks_and_streams_are_loaded(package, load, tmp_path, to, name):
    rows = load(written(package, tmp_path, to, name, SAMPLES))
    assert len(rows) == len(SAMPLES)
    for row, sample in zip(rows, SAMPLES, strict=True):
        assert row["tokens"] == sample["tokens"] and row["loss_mask"] == [0, 0, 1, 0, 1]
        assert (row["reward"], row["group"], row["sample"]) == (sample["reward"], str(sample["group_index"]), str(sample["index"]))
        assert row["rollout_log_probs"] == [None, None, -0.5, None, -0.25]
        assert row["log_probs"][:3] == [None, None, -0.125]
        assert [message["role"] for message in row["messages"]] == ["user", "assistant"]
    # What a trainer does with them.
    trained = rows.map(lambda row: {"labels": [id if is_on else -100 for id, is_on in zip(row["tokens"], row["loss_mask"], strict=True)]})
    assert trained[2]["labels"] == [-100, -100, 13, -100, 200001]
    assert rows.filter(lambda row: row["reward"] > 0).num_rows == 3
    assert [row["tokens"][3] for row in rows.sort("reward", reverse=True)][:3] == [14, 15, 16]


def test_a_value_that_is_no_number_stays_one(package, load, tmp_path):
    rows = load(written(package, tmp_path, "parquet", "rows.parquet", SAMPLES))
    assert math.isnan(rows[1]["log_probs"][4])


@FORMATS
def test_rows_are_streamed(package, load, tmp_path, to, name):
    stream = load(written(package, tmp_path, to, name, SAMPLES), streaming=True)
    assert [row["tokens"] for row in stream] == [sample["tokens"] for sample in SAMPLES]


@FORMATS
def test_chats_with_and_without_calls_are_loaded(package, load, tmp_path, to, name):
    plain, called = load(written(package, tmp_path, to, name, CHATS))
    assert [message["content"] for message in plain["messages"]] == ["Hello.", "Good day."]
    request, answer = called["messages"][1:3]
    assert request["tool_calls"] == [CALL] and request["content"] is None
    assert (answer["role"], answer["tool_call_id"], answer["content"]) == ("tool", "c1", "2")


def test_messages_alone_are_loaded(package, load, tmp_path):
    rows = load(written(package, tmp_path, "messages", "messages.jsonl", CHATS))
    assert [len(row["messages"]) for row in rows] == [2, 4]
