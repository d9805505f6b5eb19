// The golden cases of messages, tools, environments and execution in the page: real fhaviary runs them in the
// sandbox, and the harness of crates/golden compares the results with Volary's.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "@playwright/test";

import { visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");

const OPERATIONS = [
  "message_create",
  "message_dump",
  "message_join",
  "message_parse",
  "message_str",
  "message_text_ops",
  "tool_call_display",
  "tool_call_from_tool",
  "tool_call_parse",
  "tool_dump",
  "tool_response_from_request",
  "function_info_describe",
  "env_episode",
  "exec_tool_calls",
  "frame_dump",
  "renderer_build",
  "task_config",
];

/** Where both differ, and why. */
const DIFFERENT = {
  "env_episode/dummy: random": "The tool draws a number from 1 to 10, and the generators differ.",
  "tool_call_from_tool/id is made": "The id of a call is random.",
};

/** What of the cases needs more than fhaviary, by operation. */
const LEFT_OUT = {
  env_episode: "environments of other packages, and those of the harness",
  exec_tool_calls: "tools that return messages and records of the harness",
  tool_dump: "tools of those environments",
};

// The harness may have to be compiled.
test.setTimeout(900_000);

/** The text of a file of cases. It is not rewritten here, because JavaScript knows no difference between 1 and 1.0. */
const recorded = (op) => readFile(path.join(ROOT, `tests/golden/${op}.json`), "utf8");

/** An environment that says as its first messages what fhaviary makes of the inputs. */
async function environment() {
  const core = await readFile(path.join(ROOT, "tests/interop/original_core.py"), "utf8");
  const texts = await Promise.all(OPERATIONS.map(recorded));
  // A JSON string is a literal of Python too.
  return `${core}

import json

FILES = [json.loads(text) for text in [
${texts.map((text) => JSON.stringify(text)).join(",\n")}
]]


class Golden(Environment):
    """Does the golden cases."""

    async def cases(self, file):
        for case in file["cases"]:
            try:
                expected = await outcome(globals()[file["op"]], case["input"])
                # What has no JSON can't be compared.
                yield json.loads(json.dumps({**case, "expected": expected}))
            except (Incomparable, TypeError, ValueError):
                pass

    async def reset(self):
        self.tools = []
        files = [{"op": file["op"], "cases": [case async for case in self.cases(file)]} for file in FILES]
        return [Message(content=json.dumps(file)) for file in files], self.tools

    async def step(self, action):
        return [], 0.0, True, False
`;
}

/** Runs the harness on the files of a folder. */
function harness(folder) {
  const cargo = process.env.CARGO ?? "cargo";
  const options = { cwd: ROOT, env: { ...process.env, GOLDEN_DIR: folder }, maxBuffer: 64 << 20 };
  const run = ["test", "--locked", "-q", "-p", "volary-golden", "--test", "golden"];
  return new Promise((resolve) => {
    execFile(cargo, run, options, (_, stdout, stderr) => resolve(stdout + stderr));
  });
}

test("the golden cases come out the same in fhaviary in the page, and in ours", async () => {
  const code = await environment();
  let messages = [];
  await visit({ hash: "#/environments" }, async (page) => {
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      page.getByRole("button", { name: "Import .py" }).click(),
    ]);
    await chooser.setFiles({ name: "golden.py", mimeType: "text/x-python", buffer: Buffer.from(code) });
    await page.getByRole("button", { name: "Save and play" }).click();
    const playground = new Playground(page);
    await playground.messages().first().waitFor({ timeout: 120_000 });
    await playground.button("Export").click();
    const { bytes } = await playground.downloads(() => playground.button("Volary JSON").click());
    messages = JSON.parse(bytes.toString("utf8")).start;
  });
  const files = messages.map(({ content }) => ({ ...JSON.parse(content), text: content }));
  assert.deepEqual(files.map((file) => file.op), OPERATIONS);
  const folder = await mkdtemp(path.join(tmpdir(), "golden-"));
  let compared = 0;
  for (const file of files) {
    const all = JSON.parse(await recorded(file.op)).cases;
    if (!LEFT_OUT[file.op]) assert.equal(file.cases.length, all.length, file.op);
    assert.ok(file.cases.length > all.length / 3, file.op);
    compared += file.cases.length;
    await writeFile(path.join(folder, `${file.op}.json`), file.text);
  }
  const output = await harness(folder);
  const failed = [...output.matchAll(/^FAILED (.+)$/gm)].map(([, name]) => name);
  assert.deepEqual(failed.toSorted(), Object.keys(DIFFERENT), output);
  assert.match(output, new RegExp(`golden cases: ${compared - failed.length} passed`));
});
