"""The rules in general: random inputs of every golden operation, by aviary and by Volary."""

import json
import os
import random
import subprocess

import pytest

import drawn_cases
import original_rules
from programs import CARGO, ROOT

OPERATIONS = [name for name in vars(drawn_cases.Draw) if name[0] != "_" and name in vars(original_rules)]
CASES = int(os.environ.get("VOLARY_DRAWN_CASES", "150"))


def case(op, number):
    """A case, or none where nothing can be compared."""
    given = drawn_cases.draw(op, random.Random(f"{op} {number}"))
    try:
        expected = original_rules.expected(op, given)
        # What has no JSON can't be expected.
        return json.loads(json.dumps({"name": str(number), "input": given, "expected": expected}))
    except (original_rules.Incomparable, TypeError, ValueError):
        return None


@pytest.mark.parametrize("op", OPERATIONS)
def test_an_operation(op, tmp_path):
    cases = [drawn for number in range(CASES) if (drawn := case(op, number))]
    assert len(cases) > CASES // 2
    (tmp_path / "drawn.json").write_text(json.dumps({"op": op, "cases": cases}))
    done = subprocess.run(
        [CARGO, "test", "-q", "--workspace", "--test", "golden"],
        cwd=ROOT,
        env={**os.environ, "GOLDEN_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"golden cases: {len(cases)} passed" in done.stdout
