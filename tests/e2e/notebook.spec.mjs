// volary.show in JupyterLab, which only `cargo xtask setup jupyter` installs. embed.spec.mjs tests the widget without it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@playwright/test";

import { launched } from "./support/browser.mjs";
import { VOLARY } from "./support/servers.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { VOLARY_JUPYTER, VOLARY_DIST = join(ROOT, "dist") } = process.env;

const CELLS = [
  `import volary\nwidget = volary.show(${JSON.stringify(join(ROOT, "public/examples/word-problems.jsonl"))})\nwidget`,
  "print('now', widget.index, widget.step, widget.steps, [note['text'] for note in widget.notes])",
  "widget.step = 2",
];

/** A folder with a notebook of these cells, and the page. */
function notebook(cells) {
  const folder = mkdtempSync(join(tmpdir(), "volary-notebook-"));
  const cell = (source, id) => ({ cell_type: "code", id: `cell-${id}`, execution_count: null, metadata: {}, outputs: [], source });
  const kernelspec = { display_name: "Python", language: "python", name: "python3" };
  const text = { cells: cells.map(cell), metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 };
  writeFileSync(join(folder, "shown.ipynb"), JSON.stringify(text));
  symlinkSync(VOLARY_DIST, join(folder, "dist"));
  return folder;
}

/** Starts JupyterLab for a folder; returns its address, and a function that stops it. */
async function jupyter(folder) {
  const own = ["CONFIG", "DATA", "RUNTIME"].map((name) => [`JUPYTER_${name}_DIR`, join(folder, ".jupyter", name)]);
  const env = { ...process.env, ...Object.fromEntries(own), IPYTHONDIR: join(folder, ".ipython") };
  Object.assign(env, { PYTHONPATH: join(ROOT, "crates/cli/python"), PYTHONDONTWRITEBYTECODE: "1", VOLARY_PROGRAM: VOLARY });
  const options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0", `--notebook-dir=${folder}`];
  const child = spawn(VOLARY_JUPYTER, ["-m", "jupyterlab", ...options], { env, stdio: ["ignore", "ignore", "pipe"] });
  const url = await new Promise((resolve, reject) => {
    let said = "";
    child.stderr.on("data", (text) => {
      said += text;
      const found = said.match(/http:\/\/127\.0\.0\.1:\d+\/lab\?token=\w+/);
      if (found) resolve(new URL(found[0]));
    });
    child.on("exit", () => reject(new Error(`JupyterLab ended:\n${said}`)));
  });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  return { url, stop: () => child.kill() && ended };
}

test("a notebook shows episodes, and has the reader's step and notes", async () => {
  test.skip(!VOLARY_JUPYTER, "JupyterLab is not installed.");
  test.slow();
  const { url, stop } = await jupyter(notebook(CELLS));
  const context = await (await launched()).newContext({ viewport: { width: 1440, height: 1200 } });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`${url.origin}/lab/tree/shown.ipynb${url.search}`);
    const run = async (place) => {
      const prompt = page.locator(".jp-Notebook .jp-InputPrompt").nth(place);
      const before = await prompt.textContent();
      // JupyterLab drops the key while the kernel starts.
      await expect(async () => {
        await page.locator(".jp-Notebook .jp-InputArea-editor").nth(place).click();
        await page.keyboard.press("Control+Enter");
        await expect(prompt).not.toHaveText(before, { timeout: 4000 });
      }).toPass();
    };
    // What the reader did reaches the kernel in messages of their own, which a busy machine sends after the cell.
    const says = (words) =>
      expect(async () => {
        await run(1);
        await expect(page.getByText(words)).toBeVisible({ timeout: 4000 });
      }).toPass();
    await run(0);
    const frame = page.frameLocator("iframe[title='Episode in Volary']");
    await frame.getByText("Start, before step 1 of 4").waitFor();
    await frame.getByRole("button", { name: "Next step" }).click();
    await frame.getByRole("button", { name: "Notes" }).click();
    await frame.getByLabel("Note on step 1").fill("Why this?");
    await frame.getByRole("button", { name: "Add note" }).click();
    await frame.getByText("Notes (1)").waitFor();
    await says("now 0 1 4 ['Why this?']");
    await run(2);
    await frame.getByText("Step 2 of 4").waitFor();
    await page.getByLabel("Episode", { exact: true }).selectOption("1");
    await frame.getByText("Start, before step 1 of 2").waitFor();
    await says("now 1 0 2 ['Why this?']");
    assert.equal(await frame.getByText("Notes", { exact: true }).count(), 1);
  } finally {
    await context.close();
    await stop();
  }
});
