"""Record what the original calculator answers.

    python record_expressions.py expressions.jsonl

Rewrites each line `{"expression": …, "reply": …}` with the reply of fhaviary 0.37 (needs
`fhaviary[gsm8k]==0.37.0` on CPython 3.11). To add a case, add a line without a reply.
"""

import json
import pathlib
import sys
import warnings

from aviary.envs.gsm8k import CalculatorEnv

warnings.simplefilter("ignore")
calculator = CalculatorEnv(problem_id=None, problem="", answer=0.0).calculator


def recorded(line: str) -> str:
    expression = json.loads(line)["expression"]
    result, _, _ = json.loads(json.dumps(calculator(expression)))
    return json.dumps({"expression": expression, "reply": str(result)})


path = pathlib.Path(sys.argv[1])
lines = [recorded(line) for line in path.read_text().splitlines()]
path.write_text("\n".join(lines) + "\n")
