// Evaluations: many tasks × policies × trials.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { HOME, visit } from "./support/browser.mjs";
import { Evaluate, HASH } from "./support/evaluate.mjs";
import { Library, trajectory } from "./support/trajectories.mjs";

const oracleAndRandom = async (page, source = "dataset:0") => {
  const evaluate = new Evaluate(page);
  await evaluate.from(source);
  await evaluate.policy(0).selectOption("Oracle");
  await evaluate.button("Add policy").click();
  await evaluate.policy(1).selectOption("Random");
  await evaluate.field("Trials").fill("2");
  return evaluate;
};

/** Episodes that take their time. */
const waiting = async (evaluate, count, seconds) => {
  await evaluate.from("environment:faults");
  await evaluate.field("Seeds").fill(String(count));
  await evaluate.policy(0).selectOption("Scripted");
  await evaluate.field("Script").fill(JSON.stringify([{ name: "wait", arguments: { seconds } }]));
};

/** Whether an element has the focus, within the page. */
const hasFocus = (element) => element === document.activeElement;

for (const size of ["wide", "narrow"]) {
  for (const theme of ["light", "dark"]) {
    test(`tasks × policies × trials, ${size}, ${theme}`, () =>
      visit({ hash: HASH, size, theme }, async (page) => {
        const evaluate = await oracleAndRandom(page);
        await evaluate.button("Start").click();
        await evaluate.says("Finished");
        const oracle = await evaluate.row("Oracle");
        assert.match(oracle[1], /^1\.0/, "the oracle gets all rewards");
        assert.match(oracle[2], /^100% \(\d+ to 100\)$/, "the rate has an interval");
        const cell = page.getByRole("table", { name: "Tasks" }).getByRole("button").first();
        await cell.scrollIntoViewIfNeeded();
        await cell.click();
        const dialog = page.getByRole("dialog", { name: "Episodes" });
        await dialog.getByRole("button", { name: "Open trial 2" }).click();
        await page.getByRole("log", { name: "Transcript" }).getByRole("listitem").first().waitFor();
        const episode = page.getByRole("status", { name: "Episode" });
        assert.match(await episode.innerText(), /done/i);
        await page.goBack();
        await evaluate.says("Finished");
      }));
  }
}

test("what is entered before the environments' code arrives stays", () =>
  // The page fetches that code by itself after its first view, so its requests wait from the start.
  visit({ at: "about:blank" }, async (page) => {
    let release;
    const released = new Promise((resolve) => (release = resolve));
    let asked = false;
    await page.route("**/split_play.wasm", async (route) => {
      asked = true;
      await released;
      await route.continue();
    });
    await page.goto(HOME);
    await page.getByRole("link", { name: "Evaluate" }).click();
    const evaluate = new Evaluate(page);
    await evaluate.from("environment:counter");
    await evaluate.field("Seeds").fill("3");
    assert.ok(asked, "the code is under way");
    release();
    // The configuration of the environment comes with the code.
    await evaluate.form.getByRole("group", { name: "Configuration" }).waitFor();
    await page.waitForLoadState("networkidle");
    assert.equal(await evaluate.field("Seeds").inputValue(), "3");
    await evaluate.button("Start").click();
    await evaluate.says("Finished: 3 of 3 episodes");
  }));

test("results are exported as CSV and JSONL, and episodes in Volary's format", () =>
  visit({ hash: HASH }, async (page) => {
    const evaluate = new Evaluate(page);
    await evaluate.plays(5);
    const csv = (await evaluate.saved("Export CSV")).trimEnd().split("\r\n");
    assert.equal(csv.length, 6);
    assert.match(csv[0], /^policy,actor,dataset,task/);
    const rows = (await evaluate.saved("Export JSONL")).trimEnd().split("\n").map(JSON.parse);
    assert.deepEqual(rows.map((row) => row.task), ["1", "2", "3", "4", "5"]);
    assert.equal(new Set(rows.map((row) => row.seed)).size, 5);
    const episodes = (await evaluate.saved("Export episodes")).trimEnd().split("\n").map(JSON.parse);
    assert.deepEqual(episodes.map((episode) => episode.format), Array(5).fill("volary-episode"));
  }));

test("a paused evaluation continues after a reload", () =>
  visit({ hash: HASH }, async (page) => {
    const evaluate = new Evaluate(page);
    // Half of them at a time: long enough to be observed on a busy machine.
    await waiting(evaluate, 40, 1.5);
    await evaluate.button("Start").click();
    await page.waitForFunction(() =>
      /Running: [1-9]/.test(document.querySelector(".evaluation-status")?.textContent),
    );
    await page.reload();
    await evaluate.says("Paused");
    const kept = Number((await evaluate.status.innerText()).match(/: (\d+) of 40/)[1]);
    assert.ok(kept > 0, "finished episodes are kept");
    await evaluate.button("Resume").click();
    // Keyboard users keep the focus on the button, which now resumes.
    await evaluate.button("Pause").press("Enter");
    await evaluate.says("Paused");
    assert.ok(await evaluate.button("Resume").evaluate(hasFocus));
    await page.keyboard.press("Enter");
    await evaluate.says("Running");
    // The focus also stays on a task's cell while other results arrive.
    const cell = await page.getByRole("table", { name: "Tasks" }).getByRole("button").first().elementHandle();
    await cell.focus();
    await evaluate.says("Finished: 40 of 40 episodes");
    assert.ok(await cell.evaluate(hasFocus));
  }));

test("an older evaluation stays open while another one runs", () =>
  visit({ hash: HASH }, async (page) => {
    const evaluate = new Evaluate(page);
    await evaluate.plays(2);
    await page.getByRole("link", { name: "All evaluations" }).click();
    await waiting(evaluate, 1, 0);
    await evaluate.button("Start").click();
    await evaluate.says("Finished");
    await page.getByRole("link", { name: "All evaluations" }).click();
    const former = page.getByRole("region", { name: "Previous evaluations" });
    const [earlier, later] = ["dummy", "faults"].map((name) =>
      former.getByRole("button", { name: new RegExp(`^Delete ${name}`) }),
    );
    await later.waitFor();
    await evaluate.field("Trials").fill("7");
    await earlier.focus();
    // Click without moving the focus.
    await later.evaluate((button) => button.click());
    await evaluate.confirmDelete("1 episode");
    await later.waitFor({ state: "detached" });
    assert.ok(await earlier.evaluate(hasFocus));
    assert.equal(await evaluate.field("Trials").inputValue(), "7", "what is being set up stays");
    await page.keyboard.press("Enter");
    await evaluate.confirmDelete("2 episodes");
    await former.waitFor({ state: "detached" });
  }));

test("deleting an evaluation asks first, and spares imported trajectories whose ids begin with its id", () =>
  visit({ hash: HASH }, async (page) => {
    const evaluate = new Evaluate(page);
    await evaluate.plays(2);
    const id = new URL(page.url()).hash.split("/").at(-1);
    await page.getByRole("link", { name: "Review", exact: true }).click();
    const library = await new Library(page).ready();
    await library.rows(2);
    // One id in the form of the evaluation's own ids, and one that only has the same prefix.
    for (const name of [`${id}-000007`, `${id}-copy`]) {
      await library.import([`${name}.json`, trajectory(name, [{ says: `This is ${name}.` }])]);
      await library.link(name).waitFor();
    }
    await page.getByRole("link", { name: "Evaluate", exact: true }).click();
    const former = page.getByRole("region", { name: "Previous evaluations" }).getByRole("button", { name: /^Delete dummy/ });
    await former.click();
    const dialog = page.getByRole("dialog", { name: "Delete evaluation" });
    await dialog.getByText(/2 episodes/).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "hidden" });
    await former.click();
    await evaluate.confirmDelete("2 episodes");
    await former.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Review", exact: true }).click();
    await library.again();
    await library.rows(2);
    for (const name of [`${id}-000007`, `${id}-copy`]) {
      await page.goto(`${HOME}#/review/${name}`);
      await library.transcript.getByText(`This is ${name}.`).waitFor();
    }
  }));

test("finished episodes survive closing the page at that moment, and can be deleted together", () =>
  visit({ hash: HASH }, async (page) => {
    const evaluate = new Evaluate(page);
    await evaluate.plays(300);
    await page.reload();
    await evaluate.says("Finished: 300 of 300 episodes");
    const episodes = (await evaluate.saved("Export episodes")).trimEnd().split("\n").map(JSON.parse);
    assert.equal(new Set(episodes.map((episode) => episode.id)).size, 300);
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    const storage = page.getByRole("region", { name: "Storage" });
    await storage.getByText(/300 episodes, /).waitFor();
    // Delete everything of another evaluation while some of it may not be stored yet.
    await page.getByRole("link", { name: "Evaluate", exact: true }).click();
    await evaluate.plays(200);
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    await storage.getByText(/500 episodes, /).waitFor();
    await storage.getByRole("button", { name: "Delete all" }).click();
    await storage.getByRole("button", { name: "Yes, delete all" }).click();
    await storage.getByText(/\b0 episodes, /).waitFor();
    await page.reload();
    await storage.getByText(/\b0 episodes, /).waitFor();
  }));

test("cancelling abandons running episodes, and the evaluation can continue", () =>
  visit({ hash: HASH }, async (page) => {
    const evaluate = new Evaluate(page);
    await waiting(evaluate, 3, 5);
    await evaluate.button("Start").click();
    await evaluate.button("Cancel").click();
    await evaluate.says("Cancelled: 0 of 3");
    await evaluate.button("Resume").click();
    await evaluate.says("Finished: 3 of 3");
  }));

test("a crashed environment fails only its own cell", () =>
  visit({ hash: HASH, allowedErrors: [/panicked|unreachable/] }, async (page) => {
    const evaluate = new Evaluate(page);
    await evaluate.from("environment:faults");
    await evaluate.field("Seeds").fill("3");
    await evaluate.policy(0).selectOption("Scripted");
    await evaluate.field("Script").fill('[{"name": "crash", "arguments": {}}]');
    await evaluate.button("Start").click();
    await evaluate.says("Finished: 3 of 3 episodes, 3 failed");
    assert.match((await evaluate.row("Scripted")).at(-1), /3 × environment/);
  }));

test("invalid input is marked at its field", () =>
  visit({ hash: HASH }, async (page) => {
    const evaluate = new Evaluate(page);
    await evaluate.field("Trials").fill("0");
    await evaluate.policy(0).selectOption("Scripted");
    await evaluate.field("Script").fill("{");
    await evaluate.button("Start").click();
    assert.equal(await evaluate.field("Trials").getAttribute("aria-invalid"), "true");
    assert.equal(await evaluate.field("Script").getAttribute("aria-invalid"), "true");
  }));

const refuseStorage = (how) => (context) => context.addInitScript(how);

test("refused storage is reported, and the episodes can be exported", () =>
  visit(
    {
      hash: HASH,
      init: refuseStorage(() => {
        indexedDB.open = () => {
          throw new DOMException("Not in this window.", "SecurityError");
        };
      }),
    },
    async (page) => {
      const evaluate = new Evaluate(page);
      await evaluate.from("environment:dummy");
      await evaluate.field("Seeds").fill("3");
      await evaluate.button("Start").click();
      const alert = page.getByRole("alert").filter({ hasText: "lost when this tab is closed" });
      await alert.waitFor();
      await evaluate.says("3 of 3 episodes");
      const text = await evaluate.saved("Save episodes");
      assert.equal(text.trimEnd().split("\n").length, 3);
      for (const dismiss of await page.getByRole("button", { name: "Dismiss" }).all()) await dismiss.click();
    },
  ));

test("a full disk pauses the evaluation and loses nothing", () =>
  visit(
    {
      hash: HASH,
      init: refuseStorage(() => {
        const put = IDBObjectStore.prototype.put;
        IDBObjectStore.prototype.put = function (value, key) {
          if (this.name === "episodes" && !window.roomy) {
            throw new DOMException("No more room.", "QuotaExceededError");
          }
          return put.call(this, value, key);
        };
      }),
    },
    async (page) => {
      const evaluate = new Evaluate(page);
      await evaluate.from("environment:dummy");
      await evaluate.field("Seeds").fill("4");
      await evaluate.button("Start").click();
      await page.getByRole("alert").filter({ hasText: "Storage is full" }).first().waitFor();
      // All of them may be finished before the click.
      await evaluate.button("Resume").click({ timeout: 3_000 }).catch(() => undefined);
      await evaluate.says("4 of 4 episodes");
      await page.evaluate(() => {
        window.roomy = true;
      });
      await evaluate.button("Try to store them").click();
      await page.getByRole("alert").filter({ hasText: "are lost when" }).waitFor({ state: "detached" });
      // While the evaluation is read, the form for a new one is not shown.
      await page.addInitScript(() => {
        const look = () => (window.sawForm ||= document.querySelector("[aria-label='New evaluation']") !== null);
        new MutationObserver(look).observe(document, { childList: true, subtree: true });
      });
      await page.reload();
      await evaluate.says("Finished: 4 of 4 episodes");
      assert.equal(await page.evaluate(() => window.sawForm), false);
    },
  ));

test("the settings list what is stored, and delete it", () =>
  visit({ hash: HASH }, async (page) => {
    const evaluate = new Evaluate(page);
    await evaluate.plays(3);
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    const storage = page.getByRole("region", { name: "Storage" });
    await storage.getByText(/3 episodes, /).waitFor();
    await storage.getByRole("button", { name: "Delete all" }).click();
    await storage.getByRole("button", { name: "Yes, delete all" }).click();
    await storage.getByText(/0 episodes, /).waitFor();
  }));
