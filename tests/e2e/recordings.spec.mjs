// Recordings of other tools as they are found: sessions named by a UUID, system prompts that fill the screen, blocks that no
// reader knows, reasoning within texts, empty messages, failures without scores, files of unknown formats.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { SIZES, visit } from "./support/browser.mjs";
import { Library, trajectory } from "./support/trajectories.mjs";

const SESSION = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const TASK = "Sort the birds in birds.txt by their wingspan.";

/** A session of a coding agent, whose user message begins with what the agent adds. */
function session(id = SESSION) {
  const recorded = trajectory(id, [
    { says: "I look first.", calls: [["bash", { command: "head -n 3 birds.txt", timeout: 9 }]], sees: ["wren 17"] },
    { says: "Sorted." },
  ]);
  recorded.agent.model_name = "small";
  const rules = { source: "system", message: "Be careful with every bird.\n".repeat(200) };
  const context = "<environment_context>\n  <cwd>/birds</cwd>\n</environment_context>";
  recorded.steps[0].message = `${context}\n\n${TASK}`;
  recorded.steps.unshift(rules);
  recorded.steps.forEach((step, place) => (step.step_id = place + 1));
  return recorded;
}

/** Messages as models are asked with them. */
const BLOCKS = {
  messages: [
    { role: "user", content: [{ type: "text", text: "Which bird is this?" }, { type: "video", place: "aviary" }] },
    {
      role: "assistant",
      content: [{ type: "redacted_thinking", data: "QUJDRA==" }, { type: "text", text: "Show it again." }],
    },
    { role: "user", content: "Here." },
    { role: "assistant", content: "<think>It has a short tail.</think>\n\nIt is a wren." },
    { role: "user", content: "Sure?" },
    { role: "assistant", content: "" },
  ],
};

async function imported(page, ...files) {
  const review = await new Library(page).ready();
  await review.import(...files.map((content, place) => [`file-${place}.jsonl`, content]));
  return review;
}

async function opened(page, name, ...files) {
  const review = await imported(page, ...files);
  await review.link(name).first().click();
  await review.transcript.getByRole("listitem").first().waitFor();
  return review;
}

test("a session without a name is named by its first prompt, and the outline shows commands", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await opened(page, TASK, session());
    await page.getByRole("heading", { name: TASK, level: 1 }).waitFor();
    const outline = page.getByRole("list", { name: "Outline" });
    await outline.getByText("bash: head -n 3 birds.txt").waitFor();
    await page.getByRole("link", { name: "Trajectories" }).first().click();
    assert.equal(await review.table.getByText(SESSION).count(), 0);
  }));

for (const size of Object.keys(SIZES)) {
  test(`the task stands above a long system prompt, ${size}`, () =>
    visit({ hash: "#/review", size }, async (page) => {
      const review = await opened(page, "birds", session("birds"));
      const task = page.getByRole("button", { name: `Task: ${TASK}` });
      await task.waitFor();
      const box = await task.boundingBox();
      assert.ok(box.y + box.height < page.viewportSize().height, "without scrolling");
      await task.click();
      await review.transcript.getByText(TASK).first().waitFor();
      await page.waitForFunction(() => CSS.highlights.size > 0);
    }));
}

test("unknown blocks, reasoning in texts and empty messages are shown as what they are", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await opened(page, /./, BLOCKS);
    const { transcript } = review;
    await transcript.getByText("Which bird is this?", { exact: true }).waitFor();
    await transcript.getByText("Show it again.", { exact: true }).waitFor();
    await transcript.getByText(/^Reasoning, encrypted by the provider \(8 /).waitFor();
    await transcript.getByText("It is a wren.", { exact: true }).waitFor();
    await transcript.getByText("The message is empty.").waitFor();
    const reasoning = transcript.getByText("It has a short tail.");
    assert.equal(await reasoning.count(), 0, "it is folded");
    assert.equal(await transcript.getByText("<think>").count(), 0);
    await transcript.getByRole("button", { name: "Thinking" }).click();
    await reasoning.waitFor();
    // A hit within folded reasoning opens it.
    await transcript.getByRole("button", { name: "Thinking" }).click();
    await reasoning.waitFor({ state: "detached" });
    await page.getByRole("searchbox", { name: "Find in episode" }).fill("short tail");
    await page.getByRole("searchbox", { name: "Find in episode" }).press("Enter");
    await reasoning.waitFor();
    // Most is known of a step in the outline without its reasoning.
    await page.getByRole("list", { name: "Outline" }).getByText("It is a wren.").waitFor();
  }));

test("a failure opens its result, also without scores", () =>
  visit({ hash: "#/review" }, async (page) => {
    const failed = trajectory("failed", [{ says: "The answer is wren.", reward: 0 }]);
    failed.final_metrics = { extra: {} };
    failed.steps.at(-1).extra.done = true;
    await opened(page, "failed", failed);
    await page.getByRole("tab", { name: "Result", selected: true }).waitFor();
    const panel = page.getByRole("tabpanel", { name: "Result" });
    await panel.getByText("Failed", { exact: true }).waitFor();
    await panel.getByRole("heading", { name: "Last message" }).waitFor();
    await panel.getByText("The answer is wren.").waitFor();
  }));

test("columns are as wide as their contents, and no text reaches into the next one", () =>
  visit({ hash: "#/review" }, async (page) => {
    const long = "a-model-with-a-long-name-2026";
    const files = ["wren", "robin"].map((name, place) => {
      const recorded = trajectory(name, [{ says: "Done.", reward: place }, { says: "Done." }].slice(place));
      recorded.agent.model_name = place === 0 ? long : "small";
      return recorded;
    });
    const review = await imported(page, ...files);
    await review.link("wren").waitFor();
    const row = review.table.getByRole("row").filter({ hasText: "wren" });
    const texts = row.getByRole("cell");
    for (const cell of await texts.all()) {
      const [inner, outer] = await cell.evaluate((cell) => [cell.scrollWidth, cell.clientWidth]);
      assert.ok(inner <= outer, `${await cell.textContent()}: ${inner} > ${outer}`);
    }
    const head = review.table.getByRole("row").first().getByRole("columnheader");
    const lefts = async (cells) => (await cells.all()).map((cell) => cell.evaluate((cell) => cell.getBoundingClientRect().left));
    const [heads, cells] = [await Promise.all(await lefts(head)), await Promise.all(await lefts(texts))];
    heads.forEach((left, place) => assert.ok(Math.abs(left - cells[place]) < 1.5, `column ${place}`));
  }));

test("many files of unknown formats take one line", () =>
  visit({ hash: "#/review" }, async (page) => {
    const record = (number) => JSON.stringify({ [`bird${number}`]: "wren", wingspan: number });
    const unknown = Array.from({ length: 5 }, (_, number) => `${record(number)}\n${record(number)}\n`);
    // Next to a single episode, other files would be kept with it.
    const other = trajectory("other", [{ says: "Done." }]);
    const review = await imported(page, session(), other, ...unknown);
    await review.link(TASK).waitFor();
    const summary = page.getByText("Unknown formats: 5 files");
    await summary.waitFor();
    assert.equal(await page.getByRole("button", { name: "Map fields" }).count(), 0);
    const row = await review.link(TASK).boundingBox();
    assert.ok(row.y < page.viewportSize().height / 2, `the first row is at ${row.y}`);
    await summary.click();
    assert.equal(await page.getByRole("button", { name: "Map fields" }).count(), 5);
  }));
