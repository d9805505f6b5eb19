// The library where the browser keeps nothing, or no more: what is said, and that nothing is lost that was read.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { HOME, inWorkers, visit } from "./support/browser.mjs";
import { Library, lines, trajectory } from "./support/trajectories.mjs";

const ONE = trajectory("one", [{ says: "The marble is red." }]);
/** As much as a file must have to stay where it is. */
const LARGE = lines(600, 10_000);

/** Reads a small and a large file, opens, searches and saves what is in them, in the same visit. */
async function readAndSaved(page, alert) {
  const library = new Library(page);
  await library.import(["one.json", ONE]);
  await library.rows(1);
  await page.getByRole("alert").filter({ hasText: "This can't be kept for the next visit." }).filter({ hasText: alert }).waitFor();
  await library.import(["large.jsonl", LARGE]);
  await library.rows(601);
  await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
  await library.search("word599");
  await library.rows(1);
  await library.table.getByRole("link").first().click();
  await library.transcript.getByText("word599").first().waitFor();
  await page.getByRole("link", { name: "Review" }).click();
  await library.search("marble");
  await library.rows(1);
  await library.link(/one/).click();
  await library.transcript.getByText("The marble is red.").waitFor();
  await page.getByRole("link", { name: "Review" }).click();
  await library.search("");
  await library.table.getByRole("checkbox", { name: "Choose all" }).check();
  const saved = (await library.exported()).trimEnd().split("\n").map(JSON.parse);
  assert.equal(new Set(saved.map((episode) => episode.id)).size, 601);
  const texts = JSON.stringify(saved);
  for (const words of ["word321 ", "The marble is red."]) assert.ok(texts.includes(words), words);
  return library;
}

/** For `init`: the same in the page and in its workers. */
const everywhere = (code) => async (context) => {
  await context.addInitScript(code);
  await inWorkers(code)(context);
};

test("where nothing may be kept, all that was read is there until the page is left, and can be saved", () =>
  visit(
    {
      hash: "#/review",
      init: everywhere(`indexedDB.open = () => {
        throw new DOMException("Not in this window.", "SecurityError");
      };`),
    },
    async (page) => {
      const library = await new Library(page).ready();
      await readAndSaved(page, /refuses to keep anything/);
      await page.getByText(/large\.jsonl .*import the file again/).waitFor();
      await page.reload();
      await library.ready();
      await page.getByText("Nothing to read yet").waitFor();
    },
  ));

/** Gives the page so many bytes of room; as many as there are, if none are named. */
async function room(page, quotaSize) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Storage.overrideQuotaForOrigin", { origin: new URL(HOME).origin, quotaSize });
}

test("where the disk is full, nothing that was read is lost, and what a person then marks is kept with its text", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    await page.getByText("Nothing to read yet").waitFor();
    await room(page, 1);
    await readAndSaved(page, /There is no more room/);
    await room(page);
    await library.table.getByRole("checkbox", { name: "Choose all" }).uncheck();
    await library.search("marble");
    await library.rows(1);
    await library.table.getByRole("checkbox", { name: /Choose .*one/ }).check();
    const tags = page.getByRole("form", { name: "Tags" });
    await tags.getByLabel("Tag", { exact: true }).fill("good");
    await tags.getByRole("button", { name: "Add tag" }).click();
    await library.import(["large.jsonl", LARGE]);
    await page.locator(".import-report").filter({ hasNotText: "stays where it is" }).waitFor();
    await page.reload();
    await library.ready();
    for (const [words, says] of [["marble", "The marble is red."], ["word321", "word321"]]) {
      await library.search(words);
      await library.rows(1);
      await library.table.getByRole("link").first().click();
      await library.transcript.getByText(says).first().waitFor();
      await page.getByRole("link", { name: "Review" }).click();
    }
  }));
