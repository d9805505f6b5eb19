"""pyarrow reads the rows that Volary writes, with their types, gaps and NaN; and Volary reads them again."""

import json
import math
import os
import random

import drawn_tables
import pyarrow as pa
import pyarrow.parquet as parquet

SAMPLE = {
    "group_index": 4,
    "index": 9,
    "prompt": "<|im_start|>user\nWhat is 6 times 7?<|im_end|>\n<|im_start|>assistant\n",
    "response": "42<|im_end|>",
    "response_length": 3,
    "tokens": [11, 12, 13, 14, 200001],
    "loss_mask": [1, 0, 1],
    "reward": 0.5,
    "status": "completed",
    "rollout_log_probs": [-0.5, 0.0, -0.25],
    "log_probs": [-0.1, None, float("nan")],
    "precise": [0.123456789012, 1.0, 2.0],
}
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"x": 1}'}}
CHAT = {
    "messages": [
        {"role": "user", "content": "Add."},
        {"role": "assistant", "content": None, "reasoning_content": "Hm.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "name": "add", "content": "2"},
        {"role": "assistant", "content": "2"},
    ]
}


def converted(package, folder, to, name):
    (folder / "samples.jsonl").write_text(json.dumps(SAMPLE) + "\n")
    (folder / "chat.jsonl").write_text(json.dumps(CHAT) + "\n")
    report = package.convert([folder / "samples.jsonl", folder / "chat.jsonl"], to=to, out=folder / name)
    # What rows do not hold is said; these hold everything but what no row has.
    assert "recorded tokens" not in report["lost"] and "messages" not in report["lost"]
    return folder / name


def test_pyarrow_reads_the_rows(package, tmp_path):
    file = parquet.ParquetFile(converted(package, tmp_path, "parquet", "rows.parquet"))
    schema = file.schema_arrow
    assert schema.field("tokens").type == pa.list_(pa.field("element", pa.int32()))
    assert schema.field("loss_mask").type == pa.list_(pa.field("element", pa.int8()))
    assert schema.field("rollout_log_probs").type == pa.list_(pa.field("element", pa.float32()))
    assert schema.field("precise").type == pa.list_(pa.field("element", pa.float64()))
    assert schema.field("reward").type == pa.float64() and schema.field("metadata").type == pa.string()
    file.read().validate(full=True)
    chat, sample = sorted(file.read().to_pylist(), key=lambda row: row["tokens"] is not None)
    assert sample["tokens"] == SAMPLE["tokens"] and sample["loss_mask"] == [0, 0, 1, 0, 1]
    assert sample["rollout_log_probs"] == [None, None, -0.5, None, -0.25]
    *before, last = sample["log_probs"]
    assert before == [None, None, float(pa.scalar(-0.1, pa.float32()).as_py()), None] and math.isnan(last)
    assert sample["precise"][2] == 0.123456789012
    assert (sample["reward"], sample["group"], sample["sample"]) == (0.5, "4", "9")
    assert sample["token_parts"][-1]["end"] == 5
    assert chat["tokens"] is None and chat["loss_mask"] is None
    assert [message["role"] for message in chat["messages"]] == ["user", "assistant", "tool", "assistant"]
    said = chat["messages"][1]
    assert said["tool_calls"] == [CALL] and said["reasoning_content"] == "Hm." and said["content"] is None
    assert chat["steps"] == [1, 3]


def test_both_formats_have_the_same_rows_and_are_read_again(package, tmp_path):
    table = parquet.read_table(converted(package, tmp_path, "parquet", "rows.parquet")).to_pylist()
    lines = converted(package, tmp_path, "rows", "rows.jsonl").read_text().splitlines()
    for row, line in zip(table, map(json.loads, lines), strict=True):
        known = {key: value for key, value in row.items() if value is not None}
        assert known.keys() == line.keys()
        assert (known["messages"][0]["content"], known["id"]) == (line["messages"][0]["content"], line["id"])
    episodes = [list(package.read(tmp_path / name)) for name in ("rows.parquet", "rows.jsonl")]
    ids = [[episode["tokens"]["ids"] for episode in read if "tokens" in episode] for read in episodes]
    assert ids == [[SAMPLE["tokens"]]] * 2
    names = [sorted(episode["name"] for episode in read) for read in episodes]
    assert names[0] == names[1] and len(names[0]) == 2


def test_drawn_tables_are_read_as_pyarrow_wrote_them(package, tmp_path):
    """Types, encodings, pages and compressions of every kind. VOLARY_SEED draws other ones, VOLARY_TABLES more."""
    draw = drawn_tables.Draw(random.Random(int(os.environ.get("VOLARY_SEED", "1"))))
    written = {}
    for number in range(int(os.environ.get("VOLARY_TABLES", "60"))):
        types, columns, table = draw.table()
        options = draw.options(types)
        try:
            parquet.write_table(table, tmp_path / f"t{number}.parquet", **options)
            parquet.read_table(tmp_path / f"t{number}.parquet")
        except (pa.ArrowException, OSError):
            # pyarrow cannot write some combinations, and not read some of what it wrote.
            (tmp_path / f"t{number}.parquet").unlink(missing_ok=True)
            continue
        written[f"t{number}.parquet"] = (types, columns, options)
    read = {name: [] for name in written}
    for episode in package.read(tmp_path):
        read[episode["source"]["file"]].append(episode)
    for name, (types, columns, options) in written.items():
        rows = sorted(read[name], key=lambda episode: float(episode["metadata"]["step"]))
        assert len(rows) == len(next(iter(columns.values()))), (name, options)
        for column, kind in types.items():
            for row, value in zip(rows, columns[column], strict=True):
                found = row["metadata"].get(column, row.get("raw", {}).get(column))
                expected = drawn_tables.as_read(value, kind)
                assert drawn_tables.is_same(found, expected), (kind, found, expected, options)
