// User-written Python environments: edited, broken, fixed, played, stopped, shared.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { accessible, HOME, visit } from "./support/browser.mjs";
import { Evaluate } from "./support/evaluate.mjs";
import { Playground } from "./support/playground.mjs";
import { site } from "./support/site.mjs";
import { zippedTexts } from "./support/zip.mjs";

// Python takes seconds to load, more on a busy machine.
test.slow();

const code = (page) => page.getByRole("textbox", { name: "Code" });
const result = (page) => page.getByRole("status", { name: "Result" });

/** Makes a file of a template and opens it in the editor. */
async function fromTemplate(page, name) {
  await page.getByRole("button", { name: "New environment" }).click();
  await page.getByRole("button", { name: `Use template ${name}` }).click();
  await code(page).waitFor();
}

/** Replaces the code, as a person who pastes does. */
async function write(page, text) {
  await code(page).click();
  await page.keyboard.press("Control+A");
  await page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await page.keyboard.press("Control+V");
}

test("the example of aviary's README is written, played and rewarded", () =>
  visit({ hash: "#/environments" }, async (page) => {
    await fromTemplate(page, "Story");
    await page.getByRole("button", { name: "Save and play" }).click();
    const playground = new Playground(page);
    await playground.ready();
    await page.getByText("Write a 5 word story and call print_story").first().waitFor();
    await playground.act("print_story", { story: "Once upon a time done" });
    await playground.says("done");
    await page.getByText("reward 1", { exact: false }).first().waitFor();
  }));

test("a page without the runtime says so, and what to do", () => {
  const init = (context) => context.route("**/python/kit.json", (route) => route.fulfill({ status: 404 }));
  return visit({ hash: "#/environments", allowedErrors: [/status of 404/], init }, async (page) => {
    await fromTemplate(page, "Counter");
    await page.getByRole("button", { name: "Save and check" }).click();
    await page.getByText("Start the command with --page and the folder of a whole page").first().waitFor();
  });
});

test("without a connection, Python that was never loaded says that it needs one", () => {
  const init = (context) => context.route("**/python/kit.json", (route) => route.abort("internetdisconnected"));
  const allowedErrors = [/ERR_INTERNET_DISCONNECTED/];
  return visit({ hash: "#/environments", allowedErrors, init }, async (page) => {
    // The other parts of the page come from its store then, which has a journey of its own.
    await page.evaluate(() => Object.defineProperty(navigator, "onLine", { get: () => false }));
    await fromTemplate(page, "Counter");
    await page.getByRole("button", { name: "Save and check" }).click();
    await page.getByText("the Python runtime is not stored in this browser yet").first().waitFor();
  });
});

test("each template runs", () =>
  visit({ hash: "#/environments" }, async (page) => {
    for (const name of ["Story", "Counter", "Thermostat", "Capitals", "Help desk"]) {
      await fromTemplate(page, name);
      await page.getByRole("button", { name: "Save and check" }).click();
      await result(page).getByText("is ready to be played").waitFor();
      await page.getByRole("link", { name: "Environments" }).last().click();
      await page.getByRole("button", { name: `Play ${name}`, exact: true }).waitFor();
    }
  }));

test("an error is shown at its line, and is removed when it is fixed", () =>
  visit({ hash: "#/environments" }, async (page) => {
    await fromTemplate(page, "Counter");
    await write(page, "import aviary.core\n\nvalue = 1 / 0\n");
    await page.getByRole("button", { name: "Save and check" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "ZeroDivisionError in line 3" });
    await alert.waitFor();
    await page.locator(".cm-lint-marker-error").waitFor();
    await write(page, "x = (\n");
    await page.getByRole("button", { name: "Save and check" }).click();
    await page.getByRole("alert").filter({ hasText: "SyntaxError in line 1" }).waitFor();
    await write(page, "from aviary.core import DummyEnv\n\nprint('hello from Python')\n");
    await page.getByRole("button", { name: "Save and check" }).click();
    await result(page).getByText("DummyEnv is ready to be played").waitFor();
    await page.getByRole("group", { name: "Output" }).getByText("hello from Python").waitFor();
    assert.equal(await page.getByRole("alert").filter({ hasText: "Error" }).count(), 0);
  }));

test("Stop ends an endless loop, and Python continues", () =>
  visit({ hash: "#/environments" }, async (page) => {
    await fromTemplate(page, "Counter");
    await page.getByRole("button", { name: "Save and check" }).click();
    await result(page).getByText("is ready to be played").waitFor();
    await write(page, "while True:\n    pass\n");
    await page.getByRole("button", { name: "Save and check" }).click();
    await page.getByRole("button", { name: "Stop Python" }).click();
    await page.getByRole("alert").filter({ hasText: "Python was stopped." }).waitFor();
    await write(page, "from aviary.core import DummyEnv\n");
    await page.getByRole("button", { name: "Save and check" }).click();
    await result(page).getByText("DummyEnv is ready to be played").waitFor();
  }));

test("the limits of Python are settings, and end an endless loop", () =>
  visit({ hash: "#/settings" }, async (page) => {
    const seconds = page.getByLabel("Time limit (seconds)");
    await seconds.fill("0");
    await seconds.blur();
    await page.getByText("Enter a whole number from 1 to 3600.").waitFor();
    await seconds.fill("2");
    await page.getByLabel("Memory limit (MB)").fill("512");
    await page.getByLabel("Memory limit (MB)").blur();
    await page.reload();
    assert.equal(await seconds.inputValue(), "2");
    assert.equal(await page.getByLabel("Memory limit (MB)").inputValue(), "512");
    await page.goto(`${HOME}#/environments`);
    await fromTemplate(page, "Counter");
    await write(page, "while True:\n    pass\n");
    await page.getByRole("button", { name: "Save and check" }).click();
    await page.getByRole("alert").filter({ hasText: "Python did not respond within 2 s and was stopped." }).waitFor();
    // 512 MB are enough for Python, and not for a list of 600 MB.
    await write(page, "from aviary.core import DummyEnv\n\ntry:\n    bytearray(600_000_000)\nexcept MemoryError:\n    print('too much')\n");
    await page.getByRole("button", { name: "Save and check" }).click();
    await page.getByRole("group", { name: "Output" }).getByText("too much").waitFor();
  }));

test("policies are evaluated on the tasks of a Python dataset", () =>
  visit({ hash: "#/environments" }, async (page) => {
    await fromTemplate(page, "Capitals");
    await page.getByRole("button", { name: "Save and check" }).click();
    await result(page).getByText("Capitals with 6 tasks is ready to be played").waitFor();
    await page.getByRole("link", { name: "Evaluate" }).click();
    const evaluate = new Evaluate(page);
    await evaluate.from({ label: "Capitals (6 tasks)" });
    await evaluate.policy(0).selectOption("Scripted");
    await evaluate.field("Script").fill(JSON.stringify([{ name: "submit_answer", arguments: { city: "Lima" } }]));
    await evaluate.button("Start").click();
    await evaluate.says("Finished: 6 of 6 episodes");
    const [, reward] = await evaluate.row("Scripted");
    assert.match(reward, /^0\.1[67]/, "one of six capitals is Lima");
  }));

test("a link runs its code only after consent, and replays the same episode", async () => {
  let link = "";
  await visit({ hash: "#/environments" }, async (page) => {
    await fromTemplate(page, "Thermostat");
    await page.getByRole("button", { name: "Save and play" }).click();
    const playground = new Playground(page);
    await playground.ready();
    await playground.act("set_heating", { power: "0.5" });
    await playground.says("1 step");
    await playground.button("Share").click();
    link = await page.getByRole("dialog", { name: "Share this episode" }).getByLabel("Link").inputValue();
  });
  await visit({ hash: link.slice(link.indexOf("#")) }, async (page) => {
    const dialog = page.getByRole("dialog", { name: "Run this Python code?" });
    await dialog.getByText("class Thermostat").waitFor();
    assert.equal(await page.locator("iframe").count(), 0, "Python was loaded before the reader agreed");
    await dialog.getByRole("button", { name: "Run this code" }).click();
    const playground = new Playground(page);
    await playground.says("1 step");
    await page.getByText("The heating is at 50%.").first().waitFor();
  });
});

test("an address of a Python file asks before it fetches the file, and again before it runs the code", async () => {
  const asked = [];
  const other = await site((path, response) => {
    asked.push(path);
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.end(GREETING);
  });
  try {
    const hash = `#/run/python?url=${encodeURIComponent(`${other.origin}/greeting.py`)}`;
    await visit({ hash, origins: [other.origin] }, async (page) => {
      const question = page.getByRole("dialog", { name: "Fetch this Python file?" });
      await question.getByText("/greeting.py").waitFor();
      assert.deepEqual(asked, []);
      await accessible(page);
      await question.getByRole("button", { name: "Fetch", exact: true }).click();
      const plan = page.getByRole("dialog", { name: "Run this Python code?" });
      await plan.getByText("class Greeting").waitFor();
      assert.deepEqual(asked, ["/greeting.py"]);
      assert.equal(await page.locator("iframe").count(), 0, "Python was loaded before the reader agreed");
      await plan.getByRole("button", { name: "Run this code" }).click();
      const playground = new Playground(page);
      await page.getByText("Say hello.").first().waitFor();
      await playground.act("greet", { name: "Ada" });
      await playground.says("1 step");
    });
    await visit({ hash }, async (page) => {
      const question = page.getByRole("dialog", { name: "Fetch this Python file?" });
      await question.getByRole("button", { name: "Don't fetch" }).click();
      await question.waitFor({ state: "hidden" });
      await new Playground(page).ready();
    });
    assert.equal(asked.length, 1);
  } finally {
    other.close();
  }
});

/** Opens the Python file of another origin and agrees to everything. */
async function runForeign(page, url) {
  await page.goto(`${HOME}#/run/python?url=${encodeURIComponent(url)}`);
  const question = page.getByRole("dialog", { name: "Fetch this Python file?" });
  await question.getByRole("button", { name: "Fetch", exact: true }).click();
  await page.getByRole("dialog", { name: "Run this Python code?" }).getByRole("button", { name: "Run this code" }).click();
}

test("foreign code that was run changes no result of the user's own environment", async () => {
  const other = await site((_, response) => {
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.end(FORGES);
  });
  try {
    await visit({ hash: "#/environments", origins: [other.origin] }, async (page) => {
      await fromTemplate(page, "Counter");
      await page.getByRole("button", { name: "Save and play" }).click();
      const playground = new Playground(page);
      await playground.ready();
      await playground.act("add", { number: 1 });
      await playground.says("1 step", "reward 0");
      await runForeign(page, `${other.origin}/forges.py`);
      await page.getByText("Look at me.").first().waitFor();
      await playground.act("look", {});
      await playground.says("reward 999");
      // It has forged its own result. The interpreter of the user's file is another one.
      await page.goto(`${HOME}#/environments`);
      await page.getByRole("button", { name: "Play Counter", exact: true }).click();
      await page.getByText("Count to exactly 10.").first().waitFor();
      await playground.act("add", { number: 1 });
      await playground.says("1 step", "reward 0");
      await page.getByText("The count is 1.").first().waitFor();
    });
  } finally {
    other.close();
  }
});

test("an environment whose Python was ended for other files continues where it was", () =>
  visit({ hash: "#/environments" }, async (page) => {
    await fromTemplate(page, "Counter");
    await page.getByRole("button", { name: "Save and play" }).click();
    const playground = new Playground(page);
    await playground.ready();
    await playground.act("add", { number: 2 });
    await playground.says("1 step");
    // As many as have their own interpreter at a time.
    for (const name of ["Story", "Thermostat", "Capitals"]) {
      await page.getByRole("link", { name: "Environments" }).first().click();
      await fromTemplate(page, name);
      await page.getByRole("button", { name: "Save and check" }).click();
      await result(page).getByText("is ready to be played").waitFor();
    }
    await page.getByRole("link", { name: "Playground" }).click();
    await playground.act("add", { number: 3 });
    await playground.says("2 steps");
    await page.getByText("The count is 5.").first().waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
  }));

test("an imported episode shows its code before Reset runs it", async () => {
  let file;
  await visit({ hash: "#/environments" }, async (page) => {
    await fromTemplate(page, "Thermostat");
    await page.getByRole("button", { name: "Save and play" }).click();
    const playground = new Playground(page);
    await playground.ready();
    await playground.act("set_heating", { power: "0.5" });
    await playground.says("1 step");
    await playground.button("Export").click();
    file = (await playground.downloads(() => playground.button("Volary JSON").click())).bytes;
  });
  await visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await drop(page, "thermostat.json", file);
    await playground.says("1 step");
    assert.equal(await page.locator("iframe").count(), 0, "Python was loaded before the reader agreed");
    await playground.button("Reset").click();
    const dialog = page.getByRole("dialog", { name: "Run this Python code?" });
    await dialog.getByText("class Thermostat").waitFor();
    assert.equal(await page.locator("iframe").count(), 0, "Python was loaded before the reader agreed");
    await dialog.getByRole("button", { name: "Run this code" }).click();
    await playground.says("0 steps");
    // Code that the reader has agreed to is not shown again.
    await playground.act("set_heating", { power: "0.5" });
    await playground.says("1 step");
    await playground.button("Reset").click();
    await playground.says("0 steps");
    await dialog.waitFor({ state: "hidden" });
  });
});

test("a second run shows that code is not deterministic, and at which step", () =>
  visit({ hash: "#/environments" }, async (page) => {
    await fromTemplate(page, "Counter");
    await write(page, VISITS);
    await page.getByRole("button", { name: "Save and play" }).click();
    const playground = new Playground(page);
    const second = page.getByRole("status", { name: "Second run" });
    await playground.ready();
    await playground.act("look", {});
    await playground.says("1 step");
    assert.equal(await second.count(), 0, "a second run before the end");
    await playground.act("look", {});
    await second.getByText("Not deterministic: step 2 differs in a second run").waitFor();
    await second.getByText('was "visit 1" and is now "visit 2"').waitFor();
    await accessible(page);
    await page.getByRole("slider", { name: "Step" }).press("Home");
    await second.getByRole("button", { name: "Go there" }).click();
    assert.equal(await page.getByRole("slider", { name: "Step" }).inputValue(), "2");
  }));

test("Check runs a Python episode again, says that its code changed, and brings the version back", () =>
  visit({ hash: "#/environments" }, async (page) => {
    await fromTemplate(page, "Story");
    await page.getByRole("button", { name: "Save and play" }).click();
    const playground = new Playground(page);
    await playground.ready();
    await playground.act("print_story", { story: "Once upon a time done" });
    const second = page.getByRole("status", { name: "Second run" });
    await second.getByText("Deterministic: a second run of 1 step gives the same results.").waitFor();
    await page.goto(`${HOME}#/environments/Story`);
    const text = await code(page).innerText();
    await write(page, text.replace("Write a {", "Tell a {"));
    await page.getByRole("button", { name: "Save and check" }).click();
    await result(page).getByText("is ready to be played").waitFor();

    await page.goto(`${HOME}#/review`);
    await page.getByRole("link", { name: /python:/ }).first().click();
    await page.getByRole("button", { name: "Check", exact: true }).click();
    const verdict = page.getByRole("status", { name: "Check" });
    await verdict.getByText("Deterministic: a second run").waitFor();
    await verdict.getByText("The code of Story changed since: this episode was played on version 1 of 2.").waitFor();
    await accessible(page);
    await verdict.getByRole("button", { name: "Check the last version" }).click();
    await verdict.getByText("The last version of the code differs at step 0.").waitFor();
    await verdict.getByRole("button", { name: "Restore this version" }).click();
    await code(page).filter({ hasText: "Write a {" }).waitFor();
  }));

test("a dropped wheel is loaded before the code, and other files are refused with the reason", async () => {
  let link = "";
  const whl = {
    "volary_tool.py": "def shout(text):\n    return text.upper() + '!'\n",
    "volary_tool-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\n",
  };
  await visit({ hash: "#/environments" }, async (page) => {
    await fromTemplate(page, "Counter");
    await write(page, SHOUTS);
    await page.getByRole("button", { name: "Save and check" }).click();
    await page.getByRole("alert").filter({ hasText: "No module named 'volary_tool'" }).waitFor();
    const wheels = page.getByRole("region", { name: "Wheels" });
    await drop(page, "numpy-2.0-cp314-cp314-manylinux_2_28_x86_64.whl", zippedTexts(Object.entries(whl)));
    await wheels.getByRole("alert").filter({ hasText: "is not pure Python" }).waitFor();
    await drop(page, "native-1.0-py3-none-any.whl", zippedTexts(Object.entries({ ...whl, "fast.so": "machine code" })));
    // The file is read and stored first.
    await wheels.getByText("native-1.0-py3-none-any.whl").waitFor();
    await page.getByRole("button", { name: "Save and check" }).click();
    await page.getByRole("alert").filter({ hasText: "it contains fast.so" }).waitFor();
    await wheels.getByRole("button", { name: "Remove native-1.0-py3-none-any.whl" }).click();
    await drop(page, "volary_tool-1.0-py3-none-any.whl", zippedTexts(Object.entries(whl)));
    await wheels.getByText("volary_tool-1.0-py3-none-any.whl").waitFor();
    await accessible(page);
    await page.getByRole("button", { name: "Save and play" }).click();
    const playground = new Playground(page);
    await playground.ready();
    await page.getByText("SAY IT!").first().waitFor();
    // The wheel is stored: after a reload the page finds it again.
    await page.goto(`${HOME}#/environments/Counter`);
    await page.reload();
    await page.getByRole("button", { name: "Save and play" }).click();
    await playground.ready();
    await playground.button("Share").click();
    const share = page.getByRole("dialog", { name: "Share this episode" });
    await share.getByText("It needs volary_tool-1.0-py3-none-any.whl").waitFor();
    link = await share.getByLabel("Link").inputValue();
  });
  await visit({ hash: link.slice(link.indexOf("#")) }, async (page) => {
    const dialog = page.getByRole("dialog", { name: "Run this Python code?" });
    await dialog.getByText("It needs volary_tool-1.0-py3-none-any.whl").waitFor();
    await dialog.getByRole("button", { name: "Run this code" }).click();
    await page.getByRole("alert").filter({ hasText: "which is not in this browser" }).waitFor();
  });
});

test("the clock does not advance within a step, and get_id names the episode", () =>
  visit({ hash: "#/environments" }, async (page) => {
    await fromTemplate(page, "Counter");
    await write(page, CLOCK);
    await page.getByRole("button", { name: "Save and play" }).click();
    const playground = new Playground(page);
    await playground.ready();
    await playground.act("look", {});
    await page.getByText("2026-01-01 00:00:03, 0.0 s later").first().waitFor();
    await page.getByRole("status", { name: "Second run" }).getByText("Deterministic").waitFor();
    await page.goto(`${HOME}#/review`);
    await page.getByRole("link", { name: "clock 7" }).first().waitFor();
  }));

/** Drops a file on the page. */
async function drop(page, name, bytes) {
  const data = await page.evaluateHandle(
    ([name, bytes]) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(bytes)], name));
      return data;
    },
    [name, [...bytes]],
  );
  for (const type of ["dragenter", "dragover", "drop"]) {
    await page.dispatchEvent("body", type, { dataTransfer: data });
  }
}

const SHOUTS = `
import volary_tool
from aviary.core import Environment, Message, Tool


class Shouts(Environment[None]):
    def look(self) -> str:
        """Look around."""
        return volary_tool.shout("nothing")

    async def reset(self):
        self.tools = [Tool.from_function(self.look)]
        return [Message(content=volary_tool.shout("say it"))], self.tools

    async def step(self, action):
        return await self.exec_tool_calls(action), 0.0, True, False
`;

const CLOCK = `
import time
from aviary.core import Environment, Message, Tool


class Clock(Environment[None]):
    def look(self) -> str:
        """Look at the clock."""
        before = time.time()
        for _ in range(200_000):
            pass
        text = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
        return f"{text}, {time.time() - before} s later"

    async def get_id(self) -> str:
        return "clock 7"

    async def reset(self):
        self.tools = [Tool.from_function(self.look)]
        return [Message(content="What time is it?")], self.tools

    async def step(self, action):
        return await self.exec_tool_calls(action), 0.0, True, False
`;

/** Remembers in the class how often it was played, which no seed determines. */
const VISITS = `
from aviary.core import Environment, Message, Tool


class Visits(Environment[None]):
    played = 0

    def look(self) -> str:
        """Look around."""
        self.steps += 1
        return f"visit {Visits.played}" if self.steps > 1 else "nothing yet"

    async def reset(self):
        Visits.played += 1
        self.steps = 0
        self.tools = [Tool.from_function(self.look)]
        return [Message(content="Look twice.")], self.tools

    async def step(self, action):
        messages = await self.exec_tool_calls(action)
        return messages, 0.0, self.steps > 1, False
`;

/** Replaces the function of the host that answers a step. */
const FORGES = `
import volary_host
from aviary.core import Environment, Message, Tool


async def forged(*_):
    return [[], 999.0, True, False]


volary_host.ROUTES["/step"] = forged


class Forges(Environment[None]):
    def look(self) -> str:
        """Look around."""
        return "nothing"

    async def reset(self):
        self.tools = [Tool.from_function(self.look)]
        return [Message(content="Look at me.")], self.tools

    async def step(self, action):
        return await self.exec_tool_calls(action), 0.0, True, False
`;

const GREETING = `
from aviary.core import Environment, Message, Tool


class Greeting(Environment[None]):
    def greet(self, name: str) -> str:
        """Greet somebody.

        Args:
            name: Who is greeted.
        """
        return f"Hello, {name}!"

    async def reset(self):
        self.tools = [Tool.from_function(self.greet)]
        return [Message(content="Say hello.")], self.tools

    async def step(self, action):
        return await self.exec_tool_calls(action), 1.0, True, False
`;
