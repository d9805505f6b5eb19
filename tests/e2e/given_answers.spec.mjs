// Answers that `volary ask` wrote, in Review: imported with trajectories, and next to the files that `volary view` shows.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "@playwright/test";

import { visit } from "./support/browser.mjs";
import { VOLARY } from "./support/servers.mjs";
import { folder, Library, lines } from "./support/trajectories.mjs";

const DIST = process.env.VOLARY_DIST ?? fileURLToPath(new URL("../../dist", import.meta.url));
const QUESTION = "Did it look?";

/** A line about an episode, with an exact quote. */
function answer(number, label, format = "volary-answer-1") {
  return JSON.stringify({
    format,
    key: String(number).padStart(64, "0"),
    episode: `episode-${number}`,
    name: `run ${number}`,
    question: { text: QUESTION, type: "yes_no" },
    model: "gpt-6-luna",
    time: 1_700_000_000 + number,
    answer: {
      label,
      explanation: `It was asked about ${number}.`,
      evidence: [{ message: 1, quote: `word${number}`, state: "exact" }],
      support: "supported",
      parts: 1,
    },
    input_tokens: 100,
    output_tokens: 10,
    cost: 0.001,
  });
}

/** The columns of the question, grouped by its answers. */
async function grouped(page, library) {
  await page.getByRole("combobox", { name: "Group by" }).selectOption({ label: QUESTION });
  const groups = page.getByRole("table", { name: "Groups" });
  await groups.getByText("yes", { exact: true }).first().waitFor();
  await page.getByRole("combobox", { name: "Group by" }).selectOption({ label: "nothing" });
  await library.rows(4);
}

test("answers that are imported with trajectories are columns, and stay after a reload", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    const half = answer(9, "no").slice(0, 60);
    const file = [answer(0, "yes"), half, answer(1, "no"), answer(2, "yes"), ""].join("\n");
    await library.import(["runs.jsonl", lines(4, 100)], ["answers.jsonl", file]);
    await library.rows(4);
    const report = page.locator(".import-report");
    await report.evaluate((details) => (details.open = true));
    await report.getByText(/Line 2 was skipped/).waitFor();
    await report.getByText(/3 answers of models/).waitFor();
    await grouped(page, library);
    // The page of Ask has them, with their quotes.
    await page.getByRole("link", { name: "Ask", exact: true }).click();
    await page.getByRole("region", { name: "Questions asked before" }).getByRole("link", { name: QUESTION }).click();
    const answers = page.getByRole("region", { name: "Answers" });
    await answers.getByText("It was asked about 2.").waitFor();
    await answers.getByText("exact", { exact: true }).first().waitFor();
    await page.goto(`${page.url().split("#")[0]}#/review`);
    await library.again();
    await library.rows(4);
    await grouped(page, library);
  }));

test("a file of a newer version is refused, and the trajectories are read", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    const file = [answer(0, "yes"), answer(1, "no", "volary-answer-2")].join("\n");
    await library.import(["runs.jsonl", lines(4, 100)], ["answers.jsonl", file]);
    await library.rows(4);
    await page.getByRole("alert").getByText("The answers of models were not read.").waitFor();
    const report = page.locator(".import-report");
    await report.evaluate((details) => (details.open = true));
    await report.getByText(/newer version of Volary \(volary-answer-2\); update Volary/).waitFor();
    assert.equal(await page.getByRole("combobox", { name: "Group by" }).getByRole("option", { name: QUESTION }).count(), 0);
  }));

test("`volary view` shows the answers next to its files", async () => {
  const path = folder([]);
  writeFileSync(join(path, "runs.jsonl"), lines(4, 100));
  mkdirSync(join(path, ".volary"));
  writeFileSync(join(path, ".volary", "answers.jsonl"), `${answer(0, "yes")}\n{\n${answer(1, "no")}\n`);
  const child = spawn(VOLARY, ["view", path, "--json", "--page", DIST], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const { url } = JSON.parse(await new Promise((resolve) => child.stdout.once("data", resolve)));
    const { origin } = new URL(url);
    await visit({ at: url, origins: [origin], allowedErrors: [/icon-[0-9a-f]+\.png' violates/, /status of 40[134]/] }, async (page) => {
      const library = new Library(page);
      await library.ready();
      await library.rows(4);
      await page.getByRole("alert").getByText("Not all answers of models could be read.").waitFor();
      await grouped(page, library);
    });
  } finally {
    child.kill();
    rmSync(path, { recursive: true });
  }
});
