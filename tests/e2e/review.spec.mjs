// Review: trajectories of other tools are imported, searched, compared and continued.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { HOME, SIZES, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";
import { Library, trajectory } from "./support/trajectories.mjs";

const ALIKE = [
  { says: "I look.", calls: [["look", { where: "box" }]], sees: ["a marble"] },
  { says: "I take the marble.", calls: [["take", { what: "marble" }]], sees: ["taken"], reward: 1 },
];
const ONE = trajectory("one", [...ALIKE, { says: "The marble is red." }]);
const OTHER = trajectory("other", [...ALIKE, { says: "The marble is blue." }]);

async function library(page, ...files) {
  const review = await new Library(page).ready();
  await review.import(...files);
  return review;
}

for (const size of Object.keys(SIZES)) {
  for (const theme of ["light", "dark"]) {
    test(`a trajectory is imported and read, ${size}, ${theme}`, () =>
      visit({ hash: "#/review", size, theme }, async (page) => {
        const review = await library(page, ["one.json", ONE], ["other.json", OTHER]);
        await review.rows(2);
        await review.link(/one/).click();
        await review.transcript.getByText("I look.").waitFor();
        assert.match(page.url(), /#\/review\/one/);
        await page.keyboard.press("n");
        await page.waitForURL(/step=2/);
        assert.equal(await review.slider.inputValue(), "2");
        await page.keyboard.press("G");
        await review.transcript.getByText("The marble is red.").waitFor();
        await page.getByRole("tab", { name: "Details" }).click();
        await page.getByRole("tabpanel", { name: "Details" }).getByText("model-one").first().waitFor();
        await page.getByRole("tab", { name: "Raw" }).click();
        await page.getByText("as recorded").waitFor();
      }));
  }
}

test("full-text search leads to the step that contains the words", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await library(page, ["one.json", ONE], ["other.json", OTHER]);
    await review.rows(2);
    await page.keyboard.press("/");
    await page.keyboard.type("blue");
    await review.rows(1);
    await review.table.getByText("The marble is").waitFor();
    await review.link(/other/).click();
    await page.waitForURL(/#\/review\/other\?step=3/);
    await review.transcript.getByText("The marble is blue.").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("marble");
    await page.getByRole("search").getByText(/^1 of \d+$/).waitFor();
  }));

test("rows are filtered, sorted and grouped", () =>
  visit({ hash: "#/review" }, async (page) => {
    const short = trajectory("short", []);
    const review = await library(page, ["a.json", ONE], ["b.json", OTHER], ["c.json", short]);
    await review.rows(3);
    const filter = page.getByRole("form", { name: "New filter" });
    await filter.getByRole("combobox", { name: "Column" }).selectOption({ label: "Steps" });
    await filter.getByRole("combobox", { name: "Condition" }).fill(">= 1");
    await filter.getByRole("button", { name: "Filter" }).click();
    await review.rows(2);
    await page.getByRole("button", { name: "Remove filter" }).click();
    await review.rows(3);
    const steps = review.table.getByRole("columnheader", { name: "Steps" });
    await steps.getByRole("button").click();
    assert.equal(await steps.getAttribute("aria-sort"), "ascending");
    assert.match(await review.table.getByRole("link").first().innerText(), /short/);
    const groups = page.getByRole("table", { name: "Groups" });
    const agreement = groups.getByRole("columnheader", { name: "Agreement" });
    await page.getByRole("combobox", { name: "Group by" }).selectOption("task");
    await agreement.waitFor();
    // Agreement is defined only for trials of one task.
    await page.getByRole("combobox", { name: "Group by" }).selectOption("model");
    await agreement.waitFor({ state: "detached" });
    await groups.getByRole("rowheader", { name: "model-other" }).getByRole("button").click();
    await review.rows(1);
  }));

test("two trajectories are compared: the first difference, and what differs there", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await library(page, ["one.json", ONE], ["other.json", OTHER]);
    await review.rows(2);
    await review.table.getByRole("checkbox", { name: "Select all" }).check();
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByText(/First difference:/).waitFor();
    const differences = page.getByRole("region", { name: "Differences" });
    await page.keyboard.press("G");
    await differences.getByText("red", { exact: true }).waitFor();
    await differences.getByText("blue", { exact: true }).waitFor();
  }));

test("selected trajectories are exported and deleted", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await library(page, ["one.json", ONE], ["other.json", OTHER]);
    await review.rows(2);
    await review.table.getByRole("checkbox", { name: /Select .*other/ }).check();
    const formats = page.getByRole("dialog", { name: "Export the selected trajectories" });
    for (const [name, file] of [
      ["Volary (JSON Lines)", "trajectories.jsonl"],
      ["Rows (Parquet)", "trajectories.parquet"],
    ]) {
      await page.getByRole("button", { name: "Export" }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        formats.getByRole("button", { name }).click(),
      ]);
      assert.equal(download.suggestedFilename(), file);
    }
    const [table] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as CSV" }).click(),
    ]);
    assert.equal(table.suggestedFilename(), "trajectories.csv");
    await review.delete();
    await review.rows(1);
  }));

test("a file that is not a trajectory is reported, and changes nothing", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await library(page, ["one.json", ONE]);
    await review.rows(1);
    await review.import(["nonsense.txt", "hello"]);
    const alert = page.getByRole("alert").filter({ hasText: "Nothing could be imported." });
    await alert.waitFor();
    const { y, height } = await alert.boundingBox();
    assert.ok(y >= 0 && y + height <= page.viewportSize().height, `in sight, not at ${y} to ${y + height}`);
    await review.rows(1);
  }));

test("markup in every field stays text", () =>
  visit({ hash: "#/review" }, async (page) => {
    const evil = "<img src=x onerror=document.title='executed'><script>document.title='executed'</script>";
    const hostile = trajectory(evil, [
      { says: evil, calls: [[evil, { [evil]: evil }]], sees: [evil] },
    ]);
    const review = await library(page, [`${evil.slice(0, 20)}.json`, hostile]);
    await review.rows(1);
    await review.table.getByRole("link").first().click();
    await review.transcript.getByText("onerror").first().waitFor();
    assert.notEqual(await page.title(), "executed");
  }));

test("an address of an unknown trajectory is reported", () =>
  visit({ hash: "#/review/nowhere" }, async (page) => {
    await page.getByRole("alert").getByText("This trajectory cannot be shown.").waitFor();
    await page.getByRole("link", { name: "All trajectories" }).click();
    await page.getByRole("heading", { name: "Trajectories", exact: true }).waitFor();
  }));

test("a note is attached to a step, stored, and exported", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await library(page, ["one.json", ONE]);
    await review.rows(1);
    await review.link(/one/).click();
    await review.transcript.getByText("I look.").waitFor();
    await page.keyboard.press("j");
    await page.getByRole("tab", { name: "Notes" }).click();
    const form = page.getByRole("form", { name: "Note" });
    // The selected step, without a choice.
    await form.getByText("About: Step 1").waitFor();
    assert.equal(await form.getByRole("button", { name: "This step" }).getAttribute("aria-pressed"), "true");
    await form.getByLabel("Note", { exact: true }).fill("It looks before it takes.");
    await form.getByLabel("Verdict").selectOption("good");
    await form.getByLabel("Your name").fill("ada");
    await form.getByRole("button", { name: "Add note" }).click();
    const notes = page.getByRole("list", { name: "Notes" });
    await notes.getByText("It looks before it takes.").waitFor();
    await notes.getByRole("button", { name: "Step 1" }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save notes" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), "annotations.json");
  }));

test("two tabs do not overwrite each other's notes", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await library(page, ["one.json", ONE]);
    const tab = await page.context().newPage();
    await tab.goto(`${HOME}#/review`);
    const note = async (where, text) => {
      await where.getByRole("link", { name: /one/ }).first().click();
      await where.getByRole("tab", { name: "Notes" }).click();
      const form = where.getByRole("form", { name: "Note" });
      await form.getByLabel("Note", { exact: true }).fill(text);
      await form.getByRole("button", { name: "Add note" }).click();
      await where.getByRole("list", { name: "Notes" }).getByText(text).waitFor();
    };
    await review.rows(1);
    await note(page, "Written first.");
    await note(tab, "Written second.");
    for (const where of [page, tab]) {
      const notes = where.getByRole("list", { name: "Notes" });
      for (const text of ["Written first.", "Written second."]) await notes.getByText(text).waitFor();
      await where.reload();
      await where.getByRole("tab", { name: "Notes" }).click();
      for (const text of ["Written first.", "Written second."]) await notes.getByText(text).waitFor();
    }
  }));

test("an episode of the playground is read, checked and continued", () =>
  visit({ hash: "#/run/counter" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.act("incr");
    await playground.says("1 step");
    await page.getByRole("link", { name: "Review" }).click();
    const review = await new Library(page).ready();
    await review.rows(1);
    await review.table.getByRole("link").first().click();
    await page.getByRole("button", { name: "Check" }).click();
    await page.getByText("match the recording").waitFor();
    await page.getByRole("button", { name: "Open in the playground" }).click();
    await playground.says("1 step");
  }));

test("an episode is exported in each format", () =>
  visit({ hash: "#/review" }, async (page) => {
    const review = await library(page, ["one.json", ONE]);
    await review.rows(1);
    await review.link(/one/).click();
    await review.transcript.getByText("I look.").waitFor();
    for (const [name, ending] of [
      ["Volary JSON", ".json"],
      ["Messages (JSONL)", ".jsonl"],
      ["ATIF", ".atif.json"],
      ["Inspect log", ".inspect.json"],
      ["ldp (JSONL)", ".ldp.jsonl"],
      ["Page (HTML)", ".html"],
      ["Markdown", ".md"],
    ]) {
      await page.getByRole("button", { name: "Export", exact: true }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("dialog").getByRole("button", { name }).click(),
      ]);
      assert.ok(download.suggestedFilename().endsWith(ending), download.suggestedFilename());
    }
  }));
