"""Inputs of the golden operations, drawn at random: `draw(op, random)`."""

import json

TEXTS = [
    "", "a", "hi there", "it's", 'say "x"', "it's \"both\"", "é", "日本", "\u2028", "\x7f", "\x00", "\t\n", "{}", "[]",
    "null", "1", '{"a": 1}', '[{"type": "text", "text": "x"}]', "😀", "\xad", "\u200b", "  pad ", "\\", "true", "a:b",
    "\x85", "\xa0", "\ue000", "\u0378",
]  # fmt: skip
KEYS = ["a", "b", "type", "text", "content", "id", "name", "é", "x y", "", "title", "default", "description"]
NUMBERS = [
    0, 1, -1, 2, 7, 10**20, -(10**30), 123456789012345678901234567890, 0.0, -0.0, 1.0, 1.5, 1e16, 1e15, 123456789.123,
    1e-5, 1e-4, 1e22, 1e300, -2.5e-7, 0.1, 9.5e15, 5e-324,
]  # fmt: skip
ARGUMENTS = [
    None, "", "{", '{"a": 1, "a": 2}', '{"x": NaN}', '{"a": 1e999}', '{"a":-0}', ' {"a": 1} ', "\ufeff{}", '{"a": "\x01"}',
    '{"a": "\\ud83d\\ude00"}', '{"a": 1.0, "b": 1E5, "c": 100000000000000000000000}', "[1]", "5", "null", '"x"',
    '{"a": 01}', '{"a": 1,}', "{'a': 1}", '{"a": Infinity, "b": -Infinity}', '{"a": -NaN}', "\xa0{}", '{"a": 1} x', "\x0c{}",
]  # fmt: skip
IN_NUMBERS = [
    "0", "1", "2", "3", "7", "10", "-1", "12345678901234567890", "1.5", "0.1", "2.0", "1e3", "1e308", "1e-320", "5e-324",
    ".5", "1.", "0x1F", "0b101", "0o17", "1_000", "1e22", "9007199254740993", "1e16", "123456789.123456789", "2**53",
    "1e400", "True", "False", "1j", "2.5", "-0.0", "00", "10**25", "1.7976931348623157e308", "2**1024", "(-8)",
    "(1e999-1e999)", "1e999",
]  # fmt: skip
EXPONENTS = ["2", "3", "0", "-1", "0.5", "-2", "1.5", "10", "100", "(-3)", "1/3", "-0.5", "2.0", "-1075", "1024", "1j", "310"]
ODD_EXPRESSIONS = [
    "sum(1,2)", "sum([1,2])", "sum()", "abs()", "abs(1,2)", "round()", "round(1,2,3)", "min()", "max(1)", "foo(1)", "x",
    "'a'", "None", "...", "b'x'", "1 if 1 else 2", "[1]", "(1,2)", "not 1", "~1", "1 ^ 2", "1 & 2", "1 << 2", "1 @ 2", "1 < 2",
    "1 and 2", "lambda: 1", "a.b(1)", "abs(x=1)", "round(1.5, ndigits=1)", "max(*[1,2])", "f''", "{1}", "(x:=1)", "1 2", "1 +",
    "* 2", ")", "(", "1__0", "1_", "0x", "01", "1e", "$", "1.2.3", "1;2", "1=1", "# c", "1 # c", "1\n+2", "(1\n+2)", "1\\\n+2",
    "0_0", "1if 1else 2", "²", "１", "3×4", "5%", "1,000", "abs(-1)(2)", "min(1,2,key=3)", "yield", "1 is 1", "-", "1 // 0",
    "1 % 0", "0 ** -1", "1.0 // 0", "5 // 0.3", "round(2.675, 2)", "round(0.5)", "round(-2.5)", "1j*1j", "min(1, 1j)",
    "pow(2,3)", "math.sqrt(4)",
]  # fmt: skip
ANSWERS = [
    "42", "42.0", " 42 ", "4_2", "1e3", "inf", "-inf", "nan", "NaN", "infinity", "", "x", "42.", ".5", "٤٢", "4__2", "_4", "4_",
    "0x10", "1e", "1,000", "$5", "\xa042\xa0", "\x1c42", "+42", "--1", "1e400", "1_0.5_0", "1_.5", "1e1_0", "４２", "42\x00",
    "1 2", "−5", "½", "1e-400", "\u200b42", "42\x85",
]  # fmt: skip


def draw(op, random):
    """An input of the operation."""
    return getattr(Draw(random), op)()


class Draw:
    def __init__(self, random):
        self.random = random
        self.one = random.choice

    def chance(self, share):
        return self.random.random() < share

    def some(self, draw, most):
        return [draw() for _ in range(self.random.randrange(most + 1))]

    def text(self):
        return self.one(TEXTS)

    def value(self, depth=2):
        kind = self.random.random()
        if depth == 0 or kind < 0.55:
            return self.one([None, True, False, self.one(NUMBERS), self.one(NUMBERS), self.text(), self.text()])
        if kind < 0.78:
            return self.some(lambda: self.value(depth - 1), 3)
        return self.object(depth)

    def object(self, depth=2):
        return {self.one(KEYS): self.value(depth - 1) for _ in range(self.random.randrange(4))}

    # Messages

    def block(self):
        return self.one([
            {"type": "text", "text": self.text()},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            {"type": "audio", "x": 1},
            {"type": "text", "text": self.text(), "extra": self.value(1)},
            {"type": None},
            3,
        ])

    def content(self):
        return self.one([self.text(), self.text(), None, self.value(), self.some(self.block, 3)])

    def function(self):
        arguments = self.one([self.object(), json.dumps(self.object()), self.one(ARGUMENTS), self.value()])
        function = {"name": self.one(["f", "g", "INVALID", "", self.text()]), "arguments": arguments}
        if self.chance(0.08):
            function["name"] = self.value(1)
        if self.chance(0.1):
            function["other"] = 1
        return function

    def call(self, odd=0.08):
        call = {"id": self.one(["1", "2", "", self.text()]), "type": "function", "function": self.function()}
        wrong = {"id": [1, None, 1.0], "type": ["tool", None], "function": [None, "f", []]}
        for key, values in wrong.items():
            if self.chance(odd):
                call[key] = self.one(values)
            if self.chance(odd / 2):
                del call[key]
        return call

    def message(self):
        random = {
            "role": (0.7, ["user", "system", "tool", "assistant", "assistant", "tool", "function", "developer", None]),
            "content": (0.8, [self.content()]),
            "content_is_json_str": (0.2, [True, True, False, "true", 1, 0, "yes", None, "maybe", 1.0, 2]),
            "info": (0.3, [None, self.object(), self.object(), {"is_env_state": False}, []]),
            "cache_breakpoint": (0.25, [True, True, False, "true", None]),
            "tool_calls": (0.4, [self.some(self.call, 2), self.some(self.call, 2), None, {}, "x"]),
            "function_call": (0.12, [None, None, {}, "x"]),
            "name": (0.35, ["f", self.text(), "g", 1]),
            "tool_call_id": (0.35, ["1", self.text(), None]),
            "extra": (0.1, [self.value(1)]),
        }
        message = {key: self.one(values) for key, (share, values) in random.items() if self.chance(share)}
        members = list(message.items())
        self.random.shuffle(members)
        return dict(members)

    def of_kind(self):
        kind = self.one(["Message", "ToolRequestMessage", "ToolResponseMessage", "EnvStateMessage"])
        data = self.message()
        if kind == "ToolRequestMessage" and self.chance(0.7):
            data["role"] = "assistant"
        if kind == "ToolResponseMessage" and self.chance(0.7):
            data = {"name": "f", "tool_call_id": "1", "content": self.text(), **data, "role": "tool"}
        return {"kind": kind, "data": data}

    def flags(self, *names):
        return {name: self.chance(0.5) for name in names if self.chance(0.5)}

    def message_dump(self):
        options = self.flags("include_info", "deserialize_content", "exclude_none")
        if self.chance(0.2):
            options["exclude"] = self.random.sample(["role", "content", "tool_calls", "name", "info"], 2)
        return self.of_kind() | {"options": options}

    def message_parse(self):
        return {"data": self.one([self.message(), self.of_kind()["data"]])}

    def message_text_ops(self):
        def op():
            op = {"op": self.one(["append", "prepend"]), "text": self.text()} | self.flags("inplace")
            return op | ({"delim": self.text()} if self.chance(0.4) else {})

        return self.of_kind() | {"ops": [op(), *self.some(op, 2)]}

    message_str = of_kind

    def message_join(self):
        options = self.flags("include_roles") | ({"delimiter": self.text()} if self.chance(0.5) else {})
        return {"messages": self.some(self.message, 3), "options": options}

    def image(self):
        start = self.one(["", "", "data:image/png;base64,", "data:image/", "data:image/jpeg,", "data:text/plain,"])
        return start + "".join(self.some(lambda: self.one("ABCDabcd0123+/==-_ \n,é"), 12))

    def message_create(self):
        given = {"role": self.one(["user", "system", "assistant", "tool", "x"])} if self.chance(0.3) else {}
        if self.chance(0.6):
            given["text"] = self.one([self.text(), None])
        if self.chance(0.8):
            given["images"] = self.one([self.image(), self.some(self.image, 2), None])
        return given

    # Tools

    def tool_call_parse(self):
        if self.chance(0.6):
            return {"as": "ToolCall", "data": self.call(0.15)}
        return {"as": "ToolCallFunction", "data": self.function()}

    def tool_call_display(self):
        return {"name": self.text() or "f", "id": "1", "arguments": json.dumps(self.object())}

    def property(self, depth=2):
        random = {
            "type": (0.6, ["string", "integer", "number", "object", "array", "null", "boolean"]),
            "description": (0.5, [self.text(), "Text.\nMore"]),
            "title": (0.3, TEXTS),
            "default": (0.3, [self.value()]),
            "enum": (0.2, [[self.value(1), self.value(1)]]),
        }
        drawn = {key: self.one(values) for key, (share, values) in random.items() if self.chance(share)}
        for key in ("anyOf", "allOf"):
            if depth and self.chance(0.3):
                drawn[key] = [self.property(depth - 1), *self.some(lambda: self.property(depth - 1), 2)]
        members = list(drawn.items())
        self.random.shuffle(members)
        return dict(members)

    def info(self):
        names = self.random.sample(["a", "b", "c", "x y", "é", "type"], self.random.randrange(4))
        required = [name for name in names if self.chance(0.5)]
        parameters = {"type": "object", "properties": {name: self.property() for name in names}, "required": required}
        if self.chance(0.2):
            parameters["additionalProperties"] = self.one([None, False, {}])
        if self.chance(0.15):
            del parameters[self.one(["type", "properties", "required"])]
        description = self.one(["Do.", "Do.\n\nMore:\n  - x\n", self.text(), "a\r\nb"])
        info = {"name": self.one(["f", self.text()]), "description": description}
        return info | {"parameters": parameters if self.chance(0.85) else None}

    def tool(self):
        tool = {"type": self.one(["function"] * 9 + ["x"]), self.one(["function", "info"]): self.info()}
        return tool | ({"concurrency_safe": self.one([True, False, None, "no"])} if self.chance(0.15) else {})

    def tool_call_from_tool(self):
        named = {self.one(["a", "b", "c", "zz"]): self.value(1) for _ in range(self.random.randrange(3))}
        tool = {"type": "function", "function": self.info()}
        return {"tool": tool, "args": self.some(lambda: self.value(1), 3), "kwargs": named, "id": "abc"}

    def tool_response_from_request(self):
        calls = self.some(lambda: self.call(0), 2)
        contents = [self.content() for _ in calls] + ([self.text()] if self.chance(0.1) else [])
        return {"request": {"tool_calls": calls}, "contents": contents}

    def tool_dump(self):
        return {"tools": [self.tool(), *self.some(self.tool, 1)], "options": self.flags("by_alias", "exclude_none")}

    def function_info_describe(self):
        return {"info": self.info()}

    # Frames and datasets

    def frame(self):
        drawn = {"state": self.value(3), "info": self.value(3), "deepcopy": self.chance(0.5)}
        return {key: value for key, value in drawn.items() if self.chance(0.7)}

    frame_dump = frame

    def renderer_build(self):
        prefixes = ["test", "abc1", "é", "日本", "²", "½", "Ⅷ", "a_b", "", "a b", "١", "\u0301a", "ª", "x-y"]
        identities = ["abc", 5, -3, "a b", "é", "", 10**20, "12345678-1234-1234-1234-123456789ABC"]
        given = {"prefix": self.one(prefixes), "id": self.one(identities), "frames": self.some(self.frame, 3)}
        if self.chance(0.5):
            given["name"] = self.text()
        if self.chance(0.5):
            given["indent"] = self.one([None, 0, 1, 2, 7])
        if self.chance(0.3):
            given["extra_files"] = {self.one(["a.txt", "é.md"]): self.one(["x", "", None, "{}\n"])}
        return given

    def task_config(self):
        keys = ("task_kwargs", "train_kwargs", "eval_kwargs", "test_kwargs", "other")
        config = {key: self.one([self.object()] * 12 + [None, "x"]) for key in keys if self.chance(0.5 if key != "other" else 0.05)}
        for arguments in config.values():
            if isinstance(arguments, dict):
                arguments.pop("name", None)
        return {"config": config | {"name": "x"}, "split": self.one(["train", "eval", "test", "val", "", "Train", "it's"])}

    # Environments

    def expression(self, depth):
        def inner():
            return self.expression(depth - 1)

        kind = self.random.random()
        if depth <= 0 or kind < 0.2:
            return self.one(IN_NUMBERS)
        if kind < 0.55:
            space = self.one(["", " "])
            return inner() + space + self.one(["+", "-", "*", "/", "//", "%"]) + space + inner()
        if kind < 0.63:
            return self.one([inner(), f"({inner()})"]) + "**" + self.one(EXPONENTS)
        if kind < 0.8:
            return self.one([f"({inner()})", f"-{inner()}", f"+{inner()}", f"abs({inner()})"])
        if kind < 0.88:
            return f"round({inner()}{self.one(['', ', 2', ', 0', ', -1', ', 15', ', -20', ', 400', ', None', ', 1.0', ','])})"
        if kind < 0.95:
            return f"{self.one(['min', 'max'])}({', '.join([inner(), *self.some(inner, 2)])})"
        return self.one(ODD_EXPRESSIONS)

    def calculator_eval(self):
        expression = self.expression(self.random.randrange(5))
        if self.chance(0.1):
            place = self.random.randrange(len(expression))
            change = self.one(["", "(", ")", "+", "*", " ", ".", "1", "e", "_", ",", "\n", "x", "#", "'"])
            expression = expression[:place] + change + expression[place + self.random.randrange(2) :]
        if self.chance(0.05):
            expression = self.one([" ", "\n", "\x1c", "\xa0"]) + expression + self.one([" ", "\n", "\x1f"])
        return {"expr": self.one([5, None, 1.5, True, [], {}]) if self.chance(0.03) else expression}

    def rewards(self):
        random = {
            "rel_tol": [0, 1e-4, 1e-6, 0.1, 1, "0.1", -0.1],
            "correct_reward": [1, 2.5, "3"],
            "incorrect_reward": [0, -1.5],
            "tool_failure_reward": [-1, -2, 0],
            "done_on_failure": [True, False],
        }
        return {key: self.one(values) for key, values in random.items() if self.chance(0.4)}

    def calculator_submit(self):
        numbers = [42, 42.0, True, None, [], -3.5, 42.004, 42.0042, 42.0043, 41.9958, 10**400, 1e308, float("inf")]
        answer = self.one(ANSWERS) if self.chance(0.7) else self.one(numbers)
        correct = self.one([0, 42, 42.0, -3.5, 1e308, 1e-10, 1000, -0.0, "42", "1e3", " 7 ", 10**20, "x", None])
        return {"answer": answer, "correct": correct, "config": self.rewards()}

    def gsm8k_answer_parse(self):
        return {"answer": self.one(["x\n#### ", "#### ", "####", "a #### 1 #### ", "\n####  "]) + self.one(ANSWERS)}

    def action(self, tools):
        kind = self.random.random()
        if kind < 0.1:
            return {"role": self.one(["user", "system"]), "content": self.text()}
        calls = [] if kind < 0.18 else range(self.random.randrange(1, 4))
        calls = [{"id": str(place), "type": "function", "function": self.one(tools)()} for place in calls]
        return {"role": "assistant", "content": self.one([None, self.text()]), "tool_calls": calls}

    def env_episode(self):
        def tool(name, key, draw):
            return lambda: {"name": name, "arguments": {key if self.chance(0.95) else "zz": draw()}}

        def number():
            return self.one([*ANSWERS, 1, 2.5, -2.5, True, None, [], 1e22, 10**30, 1e308])

        nothing = tool("nope", "q", self.value)
        if self.chance(0.5):
            tools = [tool("print_story", "story", self.text), tool("cast_float", "x", number), tool("cast_int", "x", number)]
            # The original's tools race in threads.
            config = self.flags("end_immediately") | {"concurrent_tool_calls": False}
            given = {"env": "dummy", "config": config | ({"task": self.text()} if self.chance(0.4) else {})}
        else:
            expression = tool("calculator", "expr", lambda: self.expression(2))
            tools = [expression, tool("submit_answer", "answer", lambda: self.one([*ANSWERS, 5, 42, None]))]
            config = {"problem_id": self.one([None, "p1", ""]), "problem": self.text(), "answer": self.one([5, 42, "7", 0.5])}
            given = {"env": "calculator", "config": config | {"config": self.rewards()}}

        def step():
            return {"reset": True} if self.chance(0.1) else {"action": self.action([*tools, nothing])}

        return given | {"steps": [step(), *self.some(step, 3)]}

    def exec_tool_calls(self):
        draws = {
            "echo": lambda: {"text": self.one([self.text(), self.value()])},
            "give": lambda: {"value": self.value()},
            "agive": lambda: {"value": self.value()},
            "fail": lambda: {"kind": self.one(["ValueError", "KeyError", "OSError", "group"]), "text": self.one(["a,b", self.text()])},
            "whoami": dict,
            "bump": lambda: {"by": self.one([1, 2, -3])},
            "pair": lambda: {"first": self.value(1), "second": self.value(1)},
            "nope": self.object,
        }

        def call():
            name = self.one(list(draws))
            arguments = draws[name]() | ({"extra": 1} if self.chance(0.05) else {})
            return {"id": self.one("aab"), "type": "function", "function": {"name": name, "arguments": arguments}}

        # The original's tools race in threads.
        options = {"state": self.random.randrange(5), "concurrency": False} | self.flags("handle_tool_exc", "handle_invalid_tool_calls")
        return {"message": {"tool_calls": [call(), *self.some(call, 2)]}, "options": options}
