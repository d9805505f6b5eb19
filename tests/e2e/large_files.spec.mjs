// Large files: they are stored unchanged, and the library stores the byte range of each trajectory.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "@playwright/test";

import { HOME, inWorkers, visit } from "./support/browser.mjs";
import { until } from "./support/state.mjs";
import { Library, folder, lines, trajectory } from "./support/trajectories.mjs";

const ONE = trajectory("one", [{ says: "The marble is red." }]);
/** As much as a file must have to stay where it is. */
const LARGE = lines(600, 10_000);

/** Workers that hear nothing of each other, as when both are at work at the same moment. */
const DEAF = inWorkers("BroadcastChannel.prototype.postMessage = () => {};");

test("rows of a large file are tagged, and deleted a few or all", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    await library.import(["large.jsonl", LARGE], ["one.json", ONE]);
    await library.rows(601);
    await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
    const choose = async (...ids) => {
      for (const id of ids) await library.table.getByRole("checkbox", { name: `Select ${id}`, exact: true }).check();
    };
    const first = [0, 1, 2, 3].map((number) => `episode-${number}`);
    await choose(first[0]);
    const tags = page.getByRole("form", { name: "Tags" });
    await tags.getByLabel("Tag", { exact: true }).fill("good");
    await tags.getByRole("button", { name: "Add tag" }).click();
    const showTags = async () => {
      await page.getByText("Columns", { exact: true }).click();
      await page.getByRole("checkbox", { name: "Tags" }).check();
    };
    await showTags();
    await library.table.getByText("good").waitFor();
    // One row with a tag, and two without.
    await choose(...first.slice(1, 3));
    await library.delete();
    await library.rows(598);
    // The table updates before the database does.
    await until(async () => (await page.evaluate(storedRows)) === 598);
    await library.again();
    await library.rows(598);
    await library.table.getByRole("checkbox", { name: "Select all" }).check();
    const saved = (await library.exported()).trimEnd().split("\n").map((text) => JSON.parse(text).id);
    const left = lines(600, 1).split("\n").map((text) => JSON.parse(text).session_id).slice(3);
    assert.deepEqual(saved.sort(), [...left, "one"].sort());
    await library.table.getByRole("checkbox", { name: "Select all" }).uncheck();
    // Delete the rest of it; the rows next to it stay.
    await choose(first[3]);
    await tags.getByLabel("Tag", { exact: true }).fill("last");
    await tags.getByRole("button", { name: "Add tag" }).click();
    await showTags();
    await library.table.getByText("last").waitFor();
    await library.table.getByRole("checkbox", { name: "Select all" }).check();
    await library.search("marble");
    await library.rows(1);
    await library.table.getByRole("checkbox", { name: "Select one", exact: true }).uncheck();
    await library.search("");
    await library.rows(598);
    await library.delete();
    await library.rows(1);
    await until(async () => (await page.evaluate(storedRows)) === 1);
    await library.again();
    await library.rows(1);
    // Imported again, everything is there, without tags.
    await library.import(["large.jsonl", LARGE]);
    await library.rows(601);
    await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
    await library.again();
    await library.rows(601);
    await showTags();
    for (const tag of ["good", "last"]) assert.equal(await library.table.getByText(tag, { exact: true }).count(), 0, tag);
  }));

for (const size of ["wide", "narrow"]) {
  test(`only visible rows are in the document, ${size}`, () =>
    visit({ hash: "#/review", size }, async (page) => {
      const library = await new Library(page).ready();
      await library.import(["large.jsonl", LARGE]);
      await library.rows(600);
      await library.link("episode-0").waitFor();
      const drawn = () => library.table.getByRole("row").count();
      assert.ok((await drawn()) < 80, `${await drawn()} rows`);
      await library.link("episode-0").hover();
      await page.mouse.wheel(0, 4_000);
      await library.link("episode-100").waitFor();
      assert.ok((await drawn()) < 80, `${await drawn()} rows`);
    }));
}

/** In the page: how many rows the database stores. */
async function storedRows() {
  const done = (request) => new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
  const database = await done(indexedDB.open("volary"));
  const count = await done(database.transaction("sheets").objectStore("sheets").index("keys").count());
  database.close();
  return count;
}

test("an id of a large file and one of a small file are never the same", () =>
  visit({ hash: "#/review", init: DEAF }, async (page) => {
    const tab = await page.context().newPage();
    await tab.goto(`${HOME}#/review`);
    const [here, there] = [await new Library(page).ready(), await new Library(tab).ready()];
    await Promise.all([page, tab].map((one) => one.getByText("No trajectories yet").waitFor()));
    const small = (number, says) => [`${number}.json`, trajectory(`episode-${number}`, [{ says }])];
    // Many ids that sort between its ids, and one that is equal to one of them.
    const between = Array.from({ length: 250 }, (_, number) => JSON.stringify(trajectory(`episode-1-${number}`, [{ says: "One of many." }])));
    await here.import(small(5, "The marble is red."), ["many.jsonl", between.join("\n")]);
    await here.rows(251);
    await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
    // Each of them existed when the other tab, which does not know about it, imports an equal one.
    await there.import(["large.jsonl", LARGE]);
    await there.rows(600, 601);
    await tab.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
    await here.import(small(7, "The marble is blue."));
    await here.rows(252, 253);
    await here.again();
    await here.rows(852);
    for (const [id, says] of [["episode-5", "red"], ["episode-5 (2)", "word5"], ["episode-7", "word7"], ["episode-7 (2)", "blue"]]) {
      await page.goto(`${HOME}#/review/${encodeURIComponent(id)}`);
      await here.transcript.getByText(says).first().waitFor();
    }
  }));

test("data stored by an older version opens, and large files can be added", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    await library.import(["one.json", ONE]);
    await library.rows(1);
    await library.again();
    await library.rows(1);
    // Version 4 stored each row in a record of its own.
    await page.evaluate(asBefore);
    await library.again();
    await library.rows(1);
    await library.import(["large.jsonl", LARGE]);
    await library.rows(601);
    await library.again();
    await library.rows(601);
    await library.search("marble");
    await library.rows(1);
    await library.link(/one/).click();
    await library.transcript.getByText("The marble is red.").waitFor();
  }));

/** In the page: the database as version 4 had it, with what is in it. */
async function asBefore() {
  const done = (request) => new Promise((resolve, reject) => ((request.onsuccess = () => resolve(request.result)), (request.onerror = () => reject(request.error))));
  const now = await done(indexedDB.open("volary"));
  const kept = [];
  for (const name of now.objectStoreNames) {
    if (name === "summaries") continue;
    const store = now.transaction(name).objectStore(name);
    const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
    if (name === "sheets") kept.push(["summaries", values.flatMap(({ keys, texts }) => keys.map((key, place) => [key, texts[place]]))]);
    else kept.push([name, keys.map((key, place) => [key, values[place]])]);
  }
  now.close();
  await done(indexedDB.deleteDatabase("volary"));
  const opening = indexedDB.open("volary", 4);
  opening.onupgradeneeded = () => kept.forEach(([name]) => opening.result.createObjectStore(name));
  const former = await done(opening);
  for (const [name, records] of kept) {
    const store = former.transaction(name, "readwrite").objectStore(name);
    await Promise.all(records.map(([key, value]) => done(store.put(value, key))));
  }
  former.close();
}

test("a large file is read in slices, searched, and opened by range, also at the next visit", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    await library.import(["large.jsonl", LARGE]);
    await library.rows(600);
    await library.search("word321");
    await library.rows(1);
    await library.search("");
    await library.rows(600);
    // A search also covers trajectories that arrive while it runs.
    await library.search("amber");
    await page.getByText("No trajectories match.").waitFor();
    await library.import(["amber.json", trajectory("amber", [{ says: "The marble is amber." }])]);
    await library.rows(1);
    await library.search("");
    await library.rows(601);
    await library.again();
    await library.rows(601);
    await library.search("word599");
    await library.rows(1);
    await library.table.getByRole("link").first().click();
    await library.transcript.getByText("word599").first().waitFor();
    // A second import creates no duplicates.
    await page.getByRole("link", { name: "Review" }).click();
    await library.search("");
    await library.import(["large.jsonl", LARGE]);
    await page.getByText("large.jsonl is in the library").waitFor();
    await library.rows(601);
  }));

/** A worker that waits before each slice of a file, and in which copies of files take long. */
const SLOW = inWorkers(`
  const put = IDBObjectStore.prototype.put;
  IDBObjectStore.prototype.put = function (value, key) {
    if (this.name === "files") {
      const end = performance.now() + 15_000;
      const goOn = () => {
        if (performance.now() < end) this.count().onsuccess = goOn;
      };
      goOn();
    }
    return put.call(this, value, key);
  };
  const read = Blob.prototype.arrayBuffer;
  Blob.prototype.arrayBuffer = async function () {
    await new Promise((resolve) => setTimeout(resolve, 400));
    return read.call(this);
  };`);

test("an import is cancelled at once, and its finished part stays", () =>
  visit({ hash: "#/review", init: SLOW }, async (page) => {
    const path = folder([["huge.jsonl", `${lines(40, 400_000)}\n`]]);
    const library = await new Library(page).ready();
    await library.give("Import", [join(path, "huge.jsonl")]);
    const rows = library.table.getByRole("link");
    await rows.first().waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    const asked = Date.now();
    await page.getByText(/Cancelled\. \d+ trajector/).waitFor();
    const took = Date.now() - asked;
    assert.ok(took < 2500, `${took} ms`);
    await page.getByText(/was not copied into this browser/).waitFor();
    const count = Number(await library.table.getAttribute("aria-rowcount")) - 1;
    assert.ok(count > 0 && count < 40, `${count} rows`);
    await rows.first().click();
    await library.transcript.getByText(/word\d/).first().waitFor();
  }));

test("two tabs that import at the same time do not overwrite each other", () =>
  visit({ hash: "#/review", init: DEAF }, async (page) => {
    const tab = await page.context().newPage();
    await tab.goto(`${HOME}#/review`);
    const [here, there] = [await new Library(page).ready(), await new Library(tab).ready()];
    await Promise.all([page, tab].map((one) => one.getByText("No trajectories yet").waitFor()));
    const seven = (says) => trajectory("7", [{ says }]);
    await Promise.all([
      here.import(["red.json", seven("The marble is red.")], ["one.json", ONE], ["large.jsonl", LARGE]),
      there.import(["blue.json", seven("The marble is blue.")], ["one.json", ONE], ["other.jsonl", lines(300, 20_000)]),
    ]);
    // The second importer learns which ids were taken.
    await Promise.all([here.rows(602, 903), there.rows(302, 903)]);
    for (const one of [page, tab]) await one.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
    await here.again();
    await here.rows(903);
    for (const [words, count] of [["red", 2], ["blue", 1], ["word599", 1], ["word299", 2], ["\"Task 7\"", 2]]) {
      await here.search(words);
      await here.rows(count);
    }
    for (const [id, says] of [["7", /red|blue/], ["7 (2)", /red|blue/]]) {
      await page.goto(`${HOME}#/review/${encodeURIComponent(id)}`);
      await here.transcript.getByText(says).waitFor();
    }
  }));
