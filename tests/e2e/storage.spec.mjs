// The library when the browser refuses to store data, or runs out of space: the report, and that no imported data
// is lost.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "@playwright/test";

import { HOME, inWorkers, visit } from "./support/browser.mjs";
import { keys, put, restored, unpacked } from "./support/database.mjs";
import { Evaluate } from "./support/evaluate.mjs";
import { Library, lines, trajectory } from "./support/trajectories.mjs";

const ONE = trajectory("one", [{ says: "The marble is red." }]);
/** As much as a file must have to stay where it is. */
const LARGE = lines(600, 10_000);

/** Reads a small and a large file, opens, searches and saves what is in them, in the same visit. */
async function readAndSaved(page, alert) {
  const library = new Library(page);
  await library.import(["one.json", ONE]);
  await library.rows(1);
  await page.getByRole("alert").filter({ hasText: "This cannot be stored for the next visit." }).filter({ hasText: alert }).waitFor();
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
  await library.table.getByRole("checkbox", { name: "Select all" }).check();
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

test("without storage, imported data stays until the page is closed, and can be exported", () =>
  visit(
    {
      hash: "#/review",
      init: everywhere(`indexedDB.open = () => {
        throw new DOMException("Not in this window.", "SecurityError");
      };`),
    },
    async (page) => {
      const library = await new Library(page).ready();
      await readAndSaved(page, /refuses to store data/);
      await page.getByText(/large\.jsonl .*import the file again/).waitFor();
      await page.reload();
      await library.ready();
      await page.getByText("No trajectories yet").waitFor();
    },
  ));

/** Sets the page's storage quota in bytes; without a number, restores the browser's own. */
async function room(page, quotaSize) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Storage.overrideQuotaForOrigin", { origin: new URL(HOME).origin, quotaSize });
}

test("with a full disk nothing imported is lost, and a later tag is stored with its text", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    await page.getByText("No trajectories yet").waitFor();
    await room(page, 1);
    await readAndSaved(page, /Storage is full/);
    await room(page);
    await library.table.getByRole("checkbox", { name: "Select all" }).uncheck();
    await library.search("marble");
    await library.rows(1);
    await library.table.getByRole("checkbox", { name: /Select .*one/ }).check();
    const tags = page.getByRole("form", { name: "Tags" });
    await tags.getByLabel("Tag", { exact: true }).fill("good");
    await tags.getByRole("button", { name: "Add tag" }).click();
    await library.import(["large.jsonl", LARGE]);
    await page.locator(".import-report").filter({ hasNotText: "was not copied" }).waitFor();
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

/** The one of stored records that cannot be read. */
const unreadable = (page) => page.getByRole("region", { name: "Unreadable records" });

/** A record of the journal with one row, as earlier versions wrote it. */
function journaled(id, text = JSON.stringify({ row: { id, name: id, steps: 0, calls: 0, outcome: "done" } })) {
  return ["summaries", JSON.stringify([id, text.length]), { hex: Buffer.from(text).toString("hex") }];
}

test("unreadable records are preserved, listed and exported, and the others are read", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    await library.import(["one.json", ONE]);
    await library.rows(1);
    const [store, ids, bytes] = journaled("damaged");
    await page.evaluate(put, [
      ["journal", "1-good", journaled("good")],
      ["journal", "2-cut", [store, ids, { hex: bytes.hex.slice(0, -2) }]],
      ["journal", "3-later", [...journaled("later"), 99]],
      ["journal", "4-good", journaled("also good")],
      ["summaries", "no json", "{"],
      ["summaries", "no text", 7],
    ]);
    await library.again();
    await library.rows(3);
    await page.getByRole("alert").filter({ hasText: "4 stored records cannot be read." }).waitFor();
    assert.deepEqual(await page.evaluate(keys, "journal"), ["2-cut", "3-later"], "only what was stored is deleted");
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    const shown = unreadable(page);
    await shown.getByText("4 stored records cannot be read").waitFor();
    await shown.getByText("Show records", { exact: true }).click();
    await shown.getByText("journal 3-later: its format 99 is unknown to this version").waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      shown.getByRole("button", { name: "Export raw records" }).click(),
    ]);
    const raw = (await readFile(await download.path(), "utf8")).trimEnd().split("\n").map(JSON.parse);
    assert.deepEqual(raw.map(({ store, key }) => [store, key]).sort(), [["journal", "2-cut"], ["journal", "3-later"], ["sheets", "no json"], ["summaries", "no text"]]);
    assert.deepEqual(raw.find(({ key }) => key === "2-cut").value, [store, ids, { hex: bytes.hex.slice(0, -2) }]);
    await shown.getByRole("button", { name: "Delete unreadable records" }).click();
    await shown.getByRole("button", { name: "Yes, delete unreadable records" }).click();
    await shown.waitFor({ state: "detached" });
    assert.deepEqual(await page.evaluate(keys, "journal"), []);
    await page.getByRole("link", { name: "Review", exact: true }).click();
    await library.again();
    await library.rows(3);
    for (const dismiss of await page.getByRole("button", { name: "Dismiss" }).all()) await dismiss.click();
  }));

/** In the page: what a newer version of it does to the database. */
async function upgraded() {
  const opening = indexedDB.open("volary", 99);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore("of the future");
    opening.result.deleteObjectStore("drafts");
  };
  await new Promise((resolve, reject) => ((opening.onsuccess = resolve), (opening.onerror = () => reject(opening.error))));
  opening.result.close();
}

test("a database of a newer version is read and exported without changes", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    await library.import(["one.json", ONE]);
    await library.rows(1);
    await page.evaluate(upgraded);
    // A page that was open before finds it again.
    await library.link(/one/).click();
    await library.transcript.getByText("The marble is red.").waitFor();
    await page.getByRole("link", { name: "Review" }).click();
    await library.again();
    await library.rows(1);
    const alert = page.getByRole("alert").filter({ hasText: "newer version of this page stored data" });
    await alert.filter({ hasText: "is read-only" }).waitFor();
    await library.link(/one/).click();
    await library.transcript.getByText("The marble is red.").waitFor();
    await page.getByRole("link", { name: "Review" }).click();
    await library.table.getByRole("checkbox", { name: "Select all" }).check();
    assert.match(await library.exported(), /The marble is red\./);
    await library.import(["two.json", trajectory("two", [{ says: "The marble is blue." }])]);
    await library.rows(2);
    await page.getByRole("alert").filter({ hasText: "This cannot be stored for the next visit." }).waitFor();
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    await page.getByRole("region", { name: "Storage" }).getByText("is read-only").waitFor();
    await page.getByRole("link", { name: "Review", exact: true }).click();
    await library.again();
    await library.rows(1);
    assert.equal(await page.evaluate(async () => (await indexedDB.databases()).find(({ name }) => name === "volary").version), 99);
  }));

/**
 * What a page of version 5, before rows and evaluations were stored as they are now, had stored when it was closed a
 * moment after an evaluation: a played episode, a small and a large file, tags, two evaluations, and a journal. Made by
 * that page with `dumped` and `packed` of support/database.mjs.
 */
const FORMER = new URL("./fixtures/database_v5.json.gz", import.meta.url);

test("data of an earlier version is migrated once", () =>
  visit({ hash: "#/settings" }, async (page) => {
    await page.evaluate(restored, unpacked(FORMER));
    // A document of its own reads the restored database; an address that differs in its hash alone loads none. Leaving
    // while parts of this one load would fail them.
    await page.getByRole("region", { name: "Storage" }).waitFor();
    await page.waitForLoadState("networkidle");
    await page.goto("about:blank");
    await page.goto(`${HOME}#/review`);
    const library = await new Library(page).ready();
    const isThere = async () => {
      await library.rows(1 + 1 + 420 + 3 + 120);
      await page.getByText("Columns", { exact: true }).click();
      await page.getByRole("checkbox", { name: "Tags" }).check();
      await library.search("marble");
      await library.rows(1);
      await library.table.getByText("good", { exact: true }).waitFor();
      await library.link(/one/).click();
      await library.transcript.getByText("The marble is red.").waitFor();
      await page.getByRole("link", { name: "Review", exact: true }).click();
      await library.search("word321");
      await library.rows(1);
      await library.table.getByRole("link").first().click();
      await library.transcript.getByText("word321").first().waitFor();
      await page.getByRole("link", { name: "Review", exact: true }).click();
      // Tagged, so its row had a record of its own beside the one of the file.
      await library.search("word171");
      await library.rows(1);
      await library.table.getByText("large", { exact: true }).waitFor();
      await library.search("");
      await page.getByRole("link", { name: "Evaluate", exact: true }).click();
      const former = page.getByRole("region", { name: "Previous evaluations" });
      await former.getByRole("link").first().click();
      const evaluate = new Evaluate(page);
      await evaluate.says("120 of 120 episodes");
      const episodes = (await evaluate.saved("Export episodes")).trimEnd().split("\n").map(JSON.parse);
      assert.equal(new Set(episodes.map((episode) => episode.id)).size, 120);
      for (const store of ["journal", "summaries"]) assert.deepEqual(await page.evaluate(keys, store), [], store);
    };
    await isThere();
    await page.goto(`${HOME}#/review`);
    await library.again();
    await isThere();
  }));
