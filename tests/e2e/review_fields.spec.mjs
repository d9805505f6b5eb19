// Review: mapping of records with an unknown shape, keyboard labels, the chart, and lanes with subagents.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { HOME, visit } from "./support/browser.mjs";
import { Library, trajectory } from "./support/trajectories.mjs";

/** Records of a shape of our own: nested, with a list of tries each. */
const records = (count, from = 0) =>
  Array.from({ length: count }, (_, at) => ({
    q: { text: `What is ${from + at} + 1?` },
    tries: [`It is ${from + at + 1}.`, "I do not know."],
    marks: [1, 0],
    key: `sum-${from + at}`,
    at_step: 7,
  }))
    .map((record) => JSON.stringify(record))
    .join("\n");

test("members are mapped once, and later files of the same shape are read at once", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await new Library(page).ready();
    await review.import(["made.jsonl", records(3)]);
    await page.getByText("made.jsonl contains records of an unknown shape: at_step, key, marks, q, tries.").waitFor();
    await page.getByRole("button", { name: "Map fields" }).click();
    const dialog = page.getByRole("dialog", { name: "Map fields" });
    const choose = (field, path) => dialog.getByRole("combobox", { name: field }).selectOption(path);
    assert.ok(await dialog.getByRole("button", { name: "Read the file" }).isDisabled());
    await choose("Prompt", "q.text");
    const preview = dialog.getByRole("region", { name: "Preview of the first record" });
    await preview.getByText("What is 0 + 1?").waitFor();
    await choose("Answer", "tries");
    await choose("Reward", "marks");
    await choose("Task", "key");
    await choose("Step", "at_step");
    await preview.getByText("It is 1.").waitFor();
    for (const [name, value] of [
      ["Reward", "1"],
      ["Task", "sum-0"],
      ["Step", "7"],
    ]) {
      const fact = preview.locator("dl > div", { hasText: name });
      assert.match(await fact.locator("dd").innerText(), new RegExp(`^${value}`));
    }
    await dialog.getByRole("button", { name: "Read the file" }).click();
    await review.rows(6);
    // At the next visit, a file of the same shape.
    await review.again();
    await review.rows(6);
    await review.import(["more.jsonl", records(2, 10)]);
    await review.rows(10);
    await review.link("sum-10").first().click();
    await review.transcript.getByText("It is 11.").waitFor();
    // A large file is read in pieces by the same mapping, and opened in its place.
    await page.goto(`${HOME}#/review`);
    await review.import(["large.jsonl", records(1, 50_000).replace("50001.", "50001. ".padEnd(5 << 20, "so "))]);
    await review.rows(12);
    await review.link("sum-50000").first().click();
    await review.transcript.getByText("What is 50000 + 1?").waitFor();
    await page.goto(`${HOME}#/review`);
    await page.getByText("Mapped fields: 1 shape").click();
    await page.getByRole("button", { name: /^Forget at_step/ }).click();
    await review.import(["again.jsonl", records(1, 20)]);
    await page.getByRole("button", { name: "Map fields" }).waitFor();
  }));

test("labels on keys, the chart and its address, totals, and subagents below the steps", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await new Library(page).ready();
    const call = (name) => [name, { of: name }];
    const parent = trajectory("parent", [
      { says: "I look.", calls: [call("look")], sees: ["seen"] },
      { says: "All at once.", calls: [call("read"), call("find"), call("ask")], sees: ["a", "b", "c"], reward: 1 },
    ]);
    parent.steps[2].observation.results[2].subagent_trajectory_ref = [{ session_id: "child" }];
    const child = trajectory("child", [{ says: "I helped.", calls: [call("help")], sees: ["done"] }]);
    await review.import(["run/parent.json", parent], ["run/child.json", child]);
    await review.rows(2);
    await review.link("parent").click();
    await review.transcript.getByText("All at once.").waitFor();
    await page.getByRole("img", { name: /1 subagent and 2 parallel calls in 3 lanes/ }).waitFor();
    // Without a label the first key asks for one.
    await page.keyboard.press("G");
    await page.keyboard.press("1");
    await page.getByRole("textbox", { name: "Label on key 1" }).fill("loops");
    await page.keyboard.press("Tab");
    await page.getByRole("button", { name: "1 loops" }).waitFor();
    await page.getByRole("heading", { name: "parent" }).click();
    await page.keyboard.press("1");
    await page.getByRole("list", { name: "Notes" }).getByText("loops").waitFor();
    assert.equal(await page.getByRole("button", { name: "1 loops" }).getAttribute("aria-pressed"), "true");
    const related = page.getByRole("navigation", { name: "Related trajectories" });
    await related.getByRole("link", { name: "child" }).click();
    await review.transcript.getByText("I helped.").waitFor();
    await related.getByText("Subagent of").waitFor();
    await related.getByRole("link", { name: "parent" }).click();
    await review.transcript.getByText("All at once.").waitFor();
    await page.goto(`${HOME}#/review`);
    await review.search("loops");
    await review.rows(1);
    await review.search("");
    await page.getByRole("form", { name: "New filter" }).getByRole("combobox", { name: "Column" }).selectOption({ label: "Labels" });
    await page.getByRole("combobox", { name: "Condition" }).fill("= loops");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await review.rows(1);
    await page.getByRole("button", { name: "Remove filter" }).click();
    await page.getByRole("button", { name: "Chart", exact: true }).click();
    await page.waitForURL(/chart=steps~reward/);
    const area = page.getByRole("slider", { name: /^Reward by steps/ });
    await area.focus();
    await page.keyboard.press("End");
    await page.getByText("parent: steps 2, reward 1").first().waitFor();
    await page.getByText("As a table").click();
    await page.getByRole("table", { name: "Points" }).getByRole("link", { name: "child" }).waitFor();
    await page.getByRole("combobox", { name: "Across" }).selectOption("model");
    await page.waitForURL(/chart=model~reward/);
    await page.getByRole("table", { name: "Means" }).or(page.getByText("As a table")).first().waitFor();
    await page.reload();
    await page.getByRole("slider", { name: /^Reward by model/ }).focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await review.transcript.getByText("I helped.").waitFor();
    await page.goto(`${HOME}#/review`);
    await page.getByRole("button", { name: "Chart", exact: true }).click();
    await page.getByRole("checkbox", { name: "Select all" }).check();
    await page.getByRole("button", { name: "Compare" }).waitFor();
  }));
