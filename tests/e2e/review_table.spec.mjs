// Review: the table's view in the address, navigation between failures, and the cause of a failure.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "@playwright/test";

import { HOME, visit } from "./support/browser.mjs";
import { Library } from "./support/trajectories.mjs";

/** A try of a task by a model, in Volary's own format. A failure has an error in step 2. */
function tried(task, model, reward, { patch } = {}) {
  const id = `${task}-${model}`;
  const step = (content, name, seen, reward = 0, done = false) => ({
    action: { role: "assistant", content, tool_calls: [{ id: "c", name, arguments: { of: id } }] },
    observation: [{ role: "tool", content: seen, name, tool_call_id: "c" }],
    reward,
    done,
    truncated: false,
  });
  const seen = reward < 1 ? `Encountered exception during tool call: no ${id} there` : "taken";
  return {
    format: "volary-episode",
    version: 1,
    id,
    name: id,
    model,
    policy: "tester",
    task: { dataset: "boxes", id: task },
    start: [{ role: "user", content: `Empty the box of ${task}.` }],
    steps: [step("I look.", "look", "a marble"), step("I take it.", "take", seen, reward), step("I am done.", "end", "bye", 0, true)],
    ending: "done",
    metadata: patch ? { target: "an empty box", submission: patch } : {},
  };
}

const PATCH = "diff --git a/box b/box\n--- a/box\n+++ b/box\n@@ -1 +1 @@\n-red marble\n+blue marble\n";

/** `count` tasks by two models; the second fails at every third task, the first at every fifth. */
function runs(count) {
  const lines = [];
  for (let task = 0; task < count; task += 1) {
    lines.push(tried(`task-${task}`, "wren", task % 5 ? 1 : 0));
    lines.push(tried(`task-${task}`, "finch", task % 3 ? 1 : 0, { patch: PATCH }));
  }
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

async function imported(page, text, rows) {
  const review = await new Library(page).ready();
  await review.import(["runs.jsonl", text]);
  await review.rows(rows);
  return review;
}

/** Sorts by a column. */
async function sort(review, name) {
  const heading = review.table.getByRole("columnheader", { name: new RegExp(`^${name}`) });
  await heading.getByRole("button").click();
  return heading;
}

async function filter(page, column, condition) {
  const form = page.getByRole("form", { name: "New filter" });
  await form.getByRole("combobox", { name: "Column" }).selectOption({ label: column });
  await form.getByRole("combobox", { name: "Condition" }).fill(condition);
  await form.getByRole("button", { name: "Filter" }).click();
}

test("search, filter, order, columns and position are in the address and come back after a reload", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await imported(page, runs(40), 80);
    assert.match(await page.title(), /^Trajectories – Review/);
    await filter(page, "Reward", ">= 1");
    await sort(review, "Steps");
    await sort(review, "Name");
    await review.search("taken");
    await review.rows(58);
    await page.waitForURL(/q=taken/);
    await page.locator("summary", { hasText: "Columns" }).click();
    await page.getByRole("checkbox", { name: "Calls", exact: true }).check();
    await page.locator("summary", { hasText: "Columns" }).click();
    await page.locator(".table-body").evaluate((body) => body.scrollTo(0, 800));
    await page.waitForURL(/row=20/);
    const address = page.url();
    for (const part of ["filter=reward~between~1~", "sort=name~up", "columns="]) assert.ok(address.includes(part), address);
    await review.again();
    await review.rows(58);
    await page.waitForFunction(() => document.querySelector(".table-body").scrollTop === 800);
    assert.equal(page.url(), address);
    assert.equal(await page.getByRole("searchbox", { name: "Search" }).inputValue(), "taken");
    await review.table.getByRole("columnheader", { name: "Calls" }).waitFor();
    // Some runs have errors, so this column needs no choice.
    await review.table.getByRole("columnheader", { name: "Errors" }).waitFor();
    const name = review.table.getByRole("columnheader", { name: /^Name/ });
    assert.equal(await name.getAttribute("aria-sort"), "ascending");
    // The same view in another tab.
    const tab = await page.context().newPage();
    await tab.goto(address);
    await new Library(tab).rows(58);
    await tab.close();
    await page.getByRole("button", { name: "Remove filter" }).click();
    await page.waitForURL((url) => !url.hash.includes("filter="));
  }));

test("the menu of columns closes when the person goes on elsewhere", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await imported(page, runs(2), 4);
    const menu = page.locator("summary", { hasText: "Columns" });
    const cost = page.getByRole("checkbox", { name: "Cost", exact: true });
    await menu.click();
    await cost.check();
    assert.ok(await cost.isVisible(), "a choice within it keeps it open");
    await page.getByRole("heading", { name: "Trajectories", exact: true }).click();
    await cost.waitFor({ state: "hidden" });
    await menu.click();
    await cost.waitFor();
    // Escape closes it wherever the focus is.
    await page.getByRole("searchbox", { name: "Search" }).focus();
    await page.keyboard.press("Escape");
    await cost.waitFor({ state: "hidden" });
    assert.ok(await menu.evaluate((summary) => summary === document.activeElement));
    await review.table.getByRole("columnheader", { name: /^Cost/ }).waitFor();
  }));

test("brackets lead through the filtered table, and the address keeps it", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await imported(page, runs(10), 20);
    await filter(page, "Model", "= finch");
    await review.rows(10);
    await sort(review, "Name");
    await review.link(/task-0-finch/).click();
    const position = page.getByRole("status", { name: "Position in the table" });
    await position.getByText("1 of 10").waitFor();
    await page.keyboard.press("]");
    await page.waitForURL(/task-1-finch/);
    await position.getByText("2 of 10").waitFor();
    assert.match(await page.title(), /Review – Volary$/);
    await page.reload();
    await position.getByText("2 of 10").waitFor();
    await page.getByRole("button", { name: "Next trajectory" }).click();
    await position.getByText("3 of 10").waitFor();
    await page.keyboard.press("[");
    await position.getByText("2 of 10").waitFor();
    await page.getByRole("link", { name: "Trajectories" }).click();
    await review.rows(10);
  }));

test("where there is no further failure, the page says so", () =>
  visit({ hash: "#/review" }, async (page) => {
    const lines = [tried("task-0", "wren", 1), tried("task-1", "finch", 0), tried("task-2", "wren", 1)];
    const review = await imported(page, lines.map((line) => JSON.stringify(line)).join("\n"), 3);
    await sort(review, "Name");
    await review.link(/task-0-wren/).click();
    const next = page.getByRole("button", { name: "Next failure", exact: true });
    const said = page.getByRole("status", { name: "Failures" });
    await next.waitFor();
    assert.equal(await next.getAttribute("aria-disabled"), "false");
    await next.click();
    await page.waitForURL(/task-1-finch/);
    await page.waitForFunction(() => document.querySelector(".sequence [aria-disabled]")?.ariaDisabled === "true");
    assert.equal(await next.getAttribute("title"), "No failure after this one.");
    await page.keyboard.press("e");
    await said.getByText("No failure after this one.").waitFor();
    await page.keyboard.press("E");
    await said.getByText("No failure before this one.").waitFor();
    await page.keyboard.press("]");
    await page.waitForURL(/task-2-wren/);
    await page.waitForFunction(() => !document.querySelector(".sequence [aria-label=Failures]")?.textContent);
  }));

test("50 failures are read with one key each, with the failing line in view", () =>
  visit({ hash: "#/review" }, async (page) => {
    const failures = Array.from({ length: 50 }, (_, at) => tried(`task-${at}`, "finch", 0));
    const successes = Array.from({ length: 50 }, (_, at) => tried(`task-${at}`, "wren", 1));
    const lines = failures.flatMap((one, at) => [successes[at], one]);
    const review = await imported(page, lines.map((line) => JSON.stringify(line)).join("\n"), 100);
    await page.getByRole("heading", { name: "Trajectories", exact: true }).click();
    let keys = 0;
    let last = "";
    const seen = new Set();
    for (let at = 0; at < 50; at += 1) {
      await page.keyboard.press("e");
      keys += 1;
      await page.waitForURL((url) => url.href.includes("finch") && url.href.includes("step=2") && url.href !== last);
      last = page.url();
      const id = last.match(/task-\d+-finch/)[0];
      seen.add(id);
      const line = review.transcript.getByText(`no ${id} there`).first();
      await line.waitFor();
      if (at % 10 === 0) {
        await page.waitForFunction(
          (words) => {
            const log = document.querySelector("[role=log]");
            const texts = document.createTreeWalker(log, NodeFilter.SHOW_TEXT);
            for (let text = texts.nextNode(); text; text = texts.nextNode()) {
              if (!text.data.includes(words)) continue;
              const range = document.createRange();
              range.selectNodeContents(text);
              const { top, bottom } = range.getBoundingClientRect();
              const frame = log.getBoundingClientRect();
              if (top >= frame.top && bottom <= frame.bottom) return true;
            }
            return false;
          },
          `no ${id} there`,
        );
      }
    }
    assert.equal(seen.size, 50);
    assert.ok(keys <= 55);
    await page.getByRole("tab", { name: "Result" }).waitFor();
    assert.equal(await page.getByRole("tab", { name: "Result" }).getAttribute("aria-selected"), "true");
  }));

test("why an episode failed is shown first: error, patch, reward", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await imported(page, JSON.stringify(tried("task-1", "finch", 0, { patch: PATCH })), 1);
    await review.link(/finch/).click();
    const result = page.getByRole("tabpanel", { name: "Result" });
    await result.getByText("Failed").waitFor();
    await result.getByText("Reward 0.0").waitFor();
    await result.getByText("an empty box").waitFor();
    await result.getByRole("heading", { name: "Last error" }).waitFor();
    await result.getByText("no task-1-finch there").waitFor();
    await result.getByText("1 line added, 1 line removed").waitFor();
    assert.equal((await result.locator(".patch-added").innerText()).trim(), "+blue marble");
    await result.getByRole("button", { name: "Go to step 2" }).click();
    await page.waitForURL(/step=2/);
  }));

test("tasks by models in three inputs, and where the models differ", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await imported(page, runs(30), 60);
    await page.getByRole("combobox", { name: "Group by" }).selectOption("task");
    await page.getByRole("combobox", { name: "and", exact: true }).selectOption("model");
    const groups = page.getByRole("table", { name: "Groups" });
    await groups.getByRole("columnheader", { name: "wren" }).waitFor();
    assert.equal(await groups.getByRole("row").count(), 32, "with the totals");
    await groups.getByRole("row", { name: /^All .* n=60/ }).waitFor();
    const told = page.getByRole("status", { name: "Comparison" });
    // Both fail at 0 and 15; finch alone at 8 others, wren alone at 4 others.
    await told.getByText(/^4 wins, 18 ties, 8 losses · mean difference -0.13/).waitFor();
    await told.getByText(/sign test p = 0.3877/).waitFor();
    await page.reload();
    await groups.getByRole("columnheader", { name: "wren" }).waitFor();
    assert.match(page.url(), /group=task~model/);
    await page.getByRole("table", { name: "Where they differ" }).getByRole("button", { name: "task-3", exact: true }).click();
    await review.rows(2);
  }));

test("one group is a mean with its interval, and groups are sorted", () =>
  visit({ hash: "#/review" }, async (page) => {
    await imported(page, runs(10), 20);
    await page.getByRole("combobox", { name: "Group by" }).selectOption("model");
    const groups = page.getByRole("table", { name: "Groups" });
    await groups.getByRole("row", { name: /finch 10 0.6 ± 0.37 6 of 10 \(31–83%\)/ }).waitFor();
    await groups.getByRole("button", { name: "Mean reward" }).click();
    assert.match(await groups.getByRole("rowheader").first().innerText(), /finch/);
    await groups.getByRole("button", { name: "Mean reward" }).click();
    assert.match(await groups.getByRole("rowheader").first().innerText(), /wren/);
    await page.waitForURL(/group-sort=reward~down/);
  }));

test("columns that tell nothing are hidden, and named", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await imported(page, runs(5), 10);
    const hidden = page.locator(".hidden-columns");
    await hidden.getByText(/Same in all rows: .*Agent tester/).waitFor();
    await hidden.getByText(/Empty: .*Cost/).waitFor();
    assert.equal(await review.table.getByRole("columnheader", { name: "Cost" }).count(), 0);
    await page.getByRole("button", { name: "Show all columns" }).click();
    await review.table.getByRole("columnheader", { name: "Cost" }).waitFor();
  }));

test("a phone shows name, reward and outcome first", () =>
  visit({ hash: "#/review", size: "narrow" }, async (page) => {
    const review = await imported(page, runs(5), 10);
    const places = await Promise.all(
      ["Name", "Reward", "Outcome"].map(async (name) => {
        const box = await review.table.getByRole("columnheader", { name: new RegExp(`^${name}`) }).boundingBox();
        return [box.x, box.x + box.width];
      }),
    );
    assert.ok(places.every(([, end]) => end <= 390), JSON.stringify(places));
    assert.ok(places[0][0] < places[1][0] && places[1][0] < places[2][0]);
  }));

test("notes are columns: filtered by verdict and words", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await imported(page, runs(5), 10);
    await review.link(/task-1-wren/).click();
    await review.transcript.getByText("I look.").waitFor();
    await page.keyboard.press("a");
    await page.getByRole("textbox", { name: "Note", exact: true }).fill("asks twice");
    await page.getByRole("form", { name: "Note" }).getByLabel("Verdict").selectOption("bad");
    await page.getByRole("button", { name: "Add note" }).click();
    await page.goto(`${HOME}#/review`);
    await filter(page, "Notes", "twice");
    await review.rows(1);
    await page.getByRole("button", { name: "Remove filter" }).click();
    await filter(page, "Verdict", "= bad");
    await review.rows(1);
  }));

test("keys and addresses are listed before an export and a copy, and can be masked", () =>
  visit({ hash: "#/review" }, async (page) => {
    const key = `sk-ant-${"a1".repeat(20)}`;
    const one = tried("task-1", "finch", 1);
    one.start[0].content = `Use ${key} and write to ada@example.org.`;
    one.metadata = { owner: "ada@example.org" };
    const review = await imported(page, JSON.stringify(one), 1);
    await review.link(/finch/).click();
    await review.transcript.getByText("I look.").waitFor();
    await page.getByRole("button", { name: "Export", exact: true }).click();
    const check = page.getByRole("region", { name: "Check before sharing" });
    await check.getByText("This episode has 1 API key, 1 e-mail address.").waitFor();
    await check.getByText("Places", { exact: true }).click();
    await check.getByText("start[0].content").first().waitFor();
    await check.getByText(/e-mail address .* at 2 places/).waitFor();
    const saved = async () => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Volary JSON" }).click(),
      ]);
      return readFile(await download.path(), "utf8");
    };
    // Keys are masked unless one decides otherwise.
    const masked = await saved();
    assert.ok(!masked.includes(key) && !masked.includes("ada@example.org") && masked.includes("[API key]"));
    await page.getByRole("button", { name: "Export", exact: true }).click();
    await check.getByRole("checkbox", { name: "Mask them" }).uncheck();
    assert.ok((await saved()).includes(key));
    await page.getByRole("button", { name: "Copy all" }).click();
    const note = page.getByRole("status", { name: "Copied text" });
    await note.getByText("The copied text has 1 API key, 1 e-mail address.").waitFor();
    await note.getByRole("button", { name: "Copy masked" }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(copied.includes("[API key]") && !copied.includes(key), copied);
    // Several rows are checked together.
    await page.goBack();
    await review.rows(1);
    const two = tried("task-2", "heron", 0);
    two.start[0].content = "Mail grace@example.org.";
    await review.import(["two.jsonl", JSON.stringify(two)]);
    await review.rows(2);
    await review.table.getByRole("checkbox", { name: "Select all" }).check();
    await page.getByRole("button", { name: "Export", exact: true }).click();
    await page.getByRole("button", { name: "Volary (JSON Lines)" }).click();
    const question = page.getByRole("dialog", { name: "Save this file?" });
    await question.getByText(/1 API key, 2 e-mail addresses/).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      question.getByRole("button", { name: "Save masked" }).click(),
    ]);
    const both = await readFile(await download.path(), "utf8");
    assert.equal(both.trim().split("\n").length, 2);
    assert.ok(!both.includes(key) && !both.includes("@example.org"), both);
  }));
