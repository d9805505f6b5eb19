// Storage that fills up, is deleted or is closed while the page is open: what is lost is named, what is made afterwards is
// stored, and nothing waits for ever.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { FAILED, HOME, visit } from "./support/browser.mjs";
import { Evaluate, HASH } from "./support/evaluate.mjs";
import { connected, story } from "./support/models.mjs";
import { Playground } from "./support/playground.mjs";
import { FAILED_LOADS, provided } from "./support/providers.mjs";
import { until } from "./support/state.mjs";
import { Library, trajectory } from "./support/trajectories.mjs";

const provider = provided();

const ONE = trajectory("one", [{ says: "The marble is red." }]);
const TWO = trajectory("two", [{ says: "The marble is blue." }]);
const ORIGIN = new URL(HOME).origin;

/** Sends a command to the browser's developer tools. */
async function devtools(page, command, parameters) {
  const session = await page.context().newCDPSession(page);
  await session.send(command, { origin: ORIGIN, ...parameters });
}

/** Sets the page's storage quota in bytes; without a number, restores the browser's own. */
const room = (page, quotaSize) => devtools(page, "Storage.overrideQuotaForOrigin", { quotaSize });

/** As **Clear site data** does while the page is open. */
const cleared = (page) => devtools(page, "Storage.clearDataForOrigin", { storageTypes: "all" });

/** Another page of the origin deletes the database. */
async function deleted(page) {
  const other = await page.context().newPage();
  await other.goto(`${HOME}app/manifest.webmanifest`);
  const how = await other.evaluate(
    () =>
      new Promise((resolve) => {
        const request = indexedDB.deleteDatabase("volary");
        request.onsuccess = () => resolve("deleted");
        request.onblocked = () => resolve("blocked");
        request.onerror = () => resolve("failed");
      }),
  );
  assert.equal(how, "deleted", "the page closes its database");
  await other.close();
}

test("an episode played on a full disk is reported, and in the library once there is space", () =>
  visit({ hash: "#/run/counter" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await room(page, 1);
    await playground.act("incr");
    await playground.says("1 step");
    await page.getByRole("link", { name: "Review", exact: true }).click();
    const library = await new Library(page).ready();
    await library.rows(1);
    const alert = page.getByRole("alert").filter({ hasText: "The episode is not stored" });
    await alert.getByText("Storage is full").waitFor();
    await alert.getByRole("button", { name: "Dismiss" }).click();
    await room(page);
    await page.getByRole("link", { name: "Playground", exact: true }).click();
    await playground.act("incr");
    await playground.says("2 steps");
    await page.getByRole("link", { name: "Review", exact: true }).click();
    const steps = library.table.getByRole("cell", { name: "2", exact: true });
    await steps.waitFor();
    await library.rows(1);
    await library.again();
    await steps.waitFor();
    await library.rows(1);
  }));

for (const [how, lose] of [
  ["cleared", cleared],
  ["deleted by another page", deleted],
]) {
  test(`a library whose storage is ${how} says so when an episode is opened, and stores what is imported next`, () =>
    visit({ hash: "#/review", allowedErrors: [FAILED] }, async (page) => {
      const library = await new Library(page).ready();
      await library.import(["one.json", ONE]);
      await library.rows(1);
      await lose(page);
      await library.link(/one/).click();
      await page.getByRole("alert").filter({ hasText: "It is not in the library." }).waitFor();
      await page.getByRole("link", { name: "Review", exact: true }).click();
      await library.import(["two.json", TWO]);
      await library.link(/two/).waitFor();
      await library.again();
      await library.rows(1);
      await library.link(/two/).click();
      await library.transcript.getByText("The marble is blue.").waitFor();
    }));

  test(`an episode that is played while the storage is ${how} is stored with its next step`, () =>
    visit({ hash: "#/run/counter", allowedErrors: [FAILED] }, async (page) => {
      const playground = new Playground(page);
      await playground.ready();
      await playground.act("incr");
      await playground.says("1 step");
      await page.getByRole("link", { name: "Review", exact: true }).click();
      const library = await new Library(page).ready();
      await library.rows(1);
      await page.getByRole("link", { name: "Playground", exact: true }).click();
      await lose(page);
      await playground.act("incr");
      await playground.says("2 steps");
      await page.getByRole("link", { name: "Review", exact: true }).click();
      await library.table.getByRole("cell", { name: "2", exact: true }).first().waitFor();
      await library.again();
      await library.rows(1);
      await library.link(/counter/).click();
      await page.getByText("2 steps").first().waitFor();
    }));
}

/** A visit to the evaluations with a model among the policies. */
function evaluated(journey) {
  const seat = connected({ kind: "openai-chat", base: provider.base("chat") });
  return visit({ hash: HASH, allowedErrors: FAILED_LOADS, ...seat }, (page) => journey(new Evaluate(page), page));
}

const told = (more = {}) => ({ calls: [story("Once.")], ...more });

test("an evaluation on a disk that is full pauses, and loses nothing once there is space", () =>
  evaluated(async (evaluate, page) => {
    provider.tell({ otherwise: told() });
    await page.getByRole("form", { name: "New evaluation" }).waitFor();
    await room(page, 1);
    await evaluate.leaveToModel(4);
    await page.getByRole("alert").filter({ hasText: "Storage is full" }).first().waitFor();
    await room(page);
    const lost = page.getByRole("alert").filter({ hasText: "The results are not stored." });
    await until(async () => {
      // Episodes that were still running when the disk was full may be refused after the first click.
      if (await lost.isVisible()) await evaluate.button("Try to store them").click({ timeout: 2_000 }).catch(() => undefined);
      await page.waitForTimeout(500);
      return !(await lost.isVisible());
    }, "the results are stored once there is space");
    await evaluate.button("Resume").click({ timeout: 3_000 }).catch(() => undefined);
    await evaluate.says("Finished: 4 of 4 episodes");
    await page.reload();
    await evaluate.says("Finished: 4 of 4 episodes");
    assert.equal(provider.requests.length, 4, "nothing is paid for twice");
    for (const dismiss of await page.getByRole("button", { name: "Dismiss" }).all()) await dismiss.click();
  }));

test("an evaluation whose database is deleted while it runs is still whole in the page, and can be exported", () =>
  evaluated(async (evaluate, page) => {
    provider.tell({ script: [told(), told({ delay: 3_000 })], otherwise: told() });
    await evaluate.leaveToModel(3);
    await evaluate.says("1 of 3");
    await deleted(page);
    await evaluate.says("Finished: 3 of 3 episodes");
    const results = (await evaluate.saved("Export JSONL")).trimEnd().split("\n");
    assert.equal(results.length, 3);
    assert.equal(provider.requests.length, 3);
    await page.reload();
    await evaluate.alert("Evaluation not found.").waitFor();
  }));

test("a page that cannot be stored for use without a connection says so, and is stored at the next visit", () =>
  visit({ offline: true, allowedErrors: [/Quota|quota/] }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await room(page, 200_000);
    await page.mouse.move(200, 200);
    const active = () =>
      page.evaluate(async () => {
        const registration = await navigator.serviceWorker.getRegistration();
        return Boolean(registration?.active);
      });
    await page.waitForTimeout(8_000);
    await until(async () => (await page.evaluate(() => caches.keys())).length === 0, "nothing is stored in part");
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("it is not stored in the browser").waitFor();
    assert.equal(await active(), false);
    await page.keyboard.press("Escape");
    await room(page);
    await page.reload();
    await playground.ready();
    await page.mouse.move(300, 300);
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  }));

/** In the page: takes all space of the local storage, as another page of the origin can. */
function fill() {
  for (let size = 4 << 20; size > 0; size >>= 1) {
    try {
      for (let place = 0; ; place += 1) localStorage.setItem(`other-${size}-${place}`, "x".repeat(size));
    } catch {
      // Full for this size.
    }
  }
}

test("a note that does not fit is reported, stays in the page, and is stored with the next one", () =>
  visit({ hash: "#/review" }, async (page) => {
    const library = await new Library(page).ready();
    await library.import(["one.json", ONE]);
    await library.link(/one/).click();
    await library.transcript.getByText("The marble is red.").waitFor();
    const open = () => page.getByRole("tab", { name: /^Notes/ }).click();
    await open();
    await page.evaluate(fill);
    const write = async (text) => {
      const form = page.getByRole("form", { name: "Note" });
      await form.getByLabel("Note", { exact: true }).fill(text);
      await form.getByRole("button", { name: "Add note" }).click();
    };
    await write("A red one.");
    const alert = page.getByRole("alert").filter({ hasText: "The note cannot be stored for the next visit." });
    await alert.getByText("storage is full").waitFor();
    await page.getByText("A red one.").first().waitFor();
    await page.evaluate(() => {
      for (const key of Object.keys(localStorage)) if (key.startsWith("other-")) localStorage.removeItem(key);
    });
    await write("Still red.");
    await page.reload();
    await open();
    for (const text of ["A red one.", "Still red."]) await page.getByText(text).first().waitFor();
  }));
