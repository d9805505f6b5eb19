// What a newer version of the page stored is shown as far as it can be read, never overwritten by itself, and replaced on
// request.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { HOME, visit } from "./support/browser.mjs";
import { Evaluate, HASH } from "./support/evaluate.mjs";
import { until } from "./support/state.mjs";

/** For `init`: texts that are stored once, as a newer version did in an earlier visit. */
const stored = (texts) => (context) =>
  context.addInitScript(
    ([home, texts]) => {
      // The sandboxed frame of Python has no storage.
      if (globalThis.origin === "null" || !location.href.startsWith(home)) return;
      if (localStorage.getItem("volary.seeded")) return;
      localStorage.setItem("volary.seeded", "yes");
      for (const [name, text] of Object.entries(texts)) localStorage.setItem(`volary.${name}`, text);
    },
    [HOME, texts],
  );

const text = (page, name) => page.evaluate((name) => localStorage.getItem(`volary.${name}`), name);
const notice = (page, what) => page.getByRole("alert").filter({ hasText: `Changes of ${what} are not stored.` });

const CONNECTION = { name: "Mine", provider: "openai-chat", base_url: "http://127.0.0.1:9/v1", model: "m" };
const MODELS = JSON.stringify({
  list: [
    { id: "1", connection: CONNECTION },
    { id: "2", connection: { ...CONNECTION, name: "Theirs", provider: "of-the-future" } },
  ],
  default: "2",
});
const key = (owner) => ({ owner, origin: "http://127.0.0.1:9", key: `sk-${owner}-0123456789` });

test("model connections of a newer version and their keys are not overwritten before the user asks for it", () =>
  visit(
    { hash: "#/settings", init: stored({ models: MODELS, keys: JSON.stringify([key("model.1"), key("model.2")]) }) },
    async (page) => {
      const shown = notice(page, "the model connections");
      await shown.getByText("Another version of this page stored data").waitFor();
      const name = page.getByRole("group", { name: "Model connection" }).getByLabel("Name", { exact: true });
      await name.fill("Changed");
      await name.blur();
      await page.getByRole("button", { name: /^Changed/ }).waitFor();
      assert.equal(await text(page, "models"), MODELS);
      assert.match(await text(page, "keys"), /sk-model\.2-/, "the key of a connection that cannot be read");
      await page.reload();
      await page.getByRole("button", { name: /^Mine/ }).waitFor();
      await name.fill("Changed again");
      await name.blur();
      await shown.getByRole("button", { name: "Replace stored data" }).click();
      await shown.waitFor({ state: "detached" });
      const { list } = JSON.parse(await text(page, "models"));
      assert.deepEqual(list.map(({ connection }) => connection.name), ["Changed again"]);
    },
  ));

test("keys of a newer version stay until all keys are deleted", () => {
  const keys = JSON.stringify({ version: 2, keys: [key("model.1")] });
  return visit({ hash: "#/settings", init: stored({ keys }) }, async (page) => {
    const alert = page.getByRole("alert").filter({ hasText: "Another version of this page stored keys" });
    await alert.waitFor();
    await page.getByRole("radio", { name: /On this device/ }).click({ force: true });
    await page.getByRole("group", { name: "Model connection" }).getByLabel("API key", { exact: true }).fill("sk-new-0123456789");
    await page.getByRole("heading", { name: "Settings" }).click();
    assert.equal(await text(page, "keys"), keys);
    await page.getByRole("button", { name: "Delete all keys", exact: true }).click();
    await alert.waitFor({ state: "detached" });
    assert.equal(await text(page, "keys"), null);
  });
});

/** The other values: where they are changed, and how a person changes them. */
const VALUES = [
  {
    what: "the prices",
    name: "prices",
    text: '[{"model":"future","price":{"input":1,"output":2,"per":"second"}}]',
    hash: "#/settings",
    change: (page) => page.getByRole("region", { name: "Prices" }).getByRole("button", { name: /^(Remove|Delete)/ }).first().click(),
  },
  {
    what: "the limits",
    name: "python-limits",
    text: '{"seconds":90,"megabytes":512,"cores":2}',
    hash: "#/settings",
    change: async (page) => {
      const field = page.getByLabel("Time limit (seconds)");
      assert.equal(await field.inputValue(), "90");
      await field.fill("30");
      await field.blur();
    },
  },
  {
    what: "the list of servers",
    name: "servers",
    text: '[{"name":"Old","url":"http://127.0.0.1:9","size":1,"frames":true},{"name":"New","sockets":["a"]}]',
    hash: "#/settings",
    change: (page) => page.getByRole("region", { name: "Task dataset servers" }).getByRole("button", { name: /Remove|Forget|Delete/ }).first().click(),
  },
  {
    what: "your environments",
    name: "python-files",
    text: '{"files":[],"folders":[{"name":"mine","files":[]}]}',
    hash: "#/environments",
    change: async (page) => {
      await page.getByRole("button", { name: "New environment" }).click();
      await page.getByRole("button", { name: "Use template Counter" }).click();
      await page.getByRole("textbox", { name: "Code" }).waitFor();
    },
  },
  {
    what: "your progress",
    name: "lessons",
    text: '{"version":2,"lessons":{"loop":{"met":[1]}}}',
    hash: "#/learn",
    change: (page) => page.getByRole("button", { name: "Reset all progress" }).click(),
  },
];

for (const { what, name, text: before, hash, change } of VALUES) {
  test(`${what} of a newer version are not overwritten, and the page says so`, () =>
    visit({ hash, init: stored({ [name]: before }) }, async (page) => {
      await notice(page, what).waitFor();
      await change(page);
      await notice(page, what).waitFor();
      assert.equal(await text(page, name), before);
      await notice(page, what).getByRole("button", { name: "Replace stored data" }).click();
      await notice(page, what).waitFor({ state: "detached" });
      await until(async () => (await text(page, name)) !== before, "it is replaced on request");
    }));
}

/** In the page: gives the first record of a store a later format. */
async function withLaterFormat(store) {
  const done = (request) => new Promise((resolve, reject) => ((request.onsuccess = () => resolve(request.result)), (request.onerror = () => reject(request.error))));
  const database = await done(indexedDB.open("volary"));
  const records = database.transaction(store, "readwrite").objectStore(store);
  const [key] = await done(records.getAllKeys());
  const later = JSON.stringify({ ...JSON.parse(await done(records.get(key))), format: 2 });
  await done(records.put(later, key));
  database.close();
  return [key, later];
}

test("an evaluation with a result of a newer version is not continued", () =>
  visit({ hash: HASH }, async (page) => {
    const evaluate = new Evaluate(page);
    await evaluate.plays(3);
    const [key, later] = await page.evaluate(withLaterFormat, "results");
    await page.reload();
    await evaluate.alert("The evaluation cannot be read.").filter({ hasText: "newer version" }).waitFor();
    const now = await page.evaluate(async (key) => {
      const done = (request) => new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
      const database = await done(indexedDB.open("volary"));
      const value = await done(database.transaction("results").objectStore("results").get(key));
      database.close();
      return value;
    }, key);
    assert.equal(now, later);
  }));

test("a full local storage is reported where an environment is written, and storing works once there is space", () =>
  visit({ hash: "#/environments" }, async (page) => {
    await page.getByRole("button", { name: "New environment" }).click();
    // Another page of the origin takes all of the space.
    await page.evaluate(() => {
      for (let size = 4 << 20; size > 0; size >>= 1) {
        try {
          for (let place = 0; ; place += 1) localStorage.setItem(`other-${size}-${place}`, "x".repeat(size));
        } catch {
          // Full for this size.
        }
      }
    });
    await page.getByRole("button", { name: "Use template Counter" }).click();
    await page.getByRole("textbox", { name: "Code" }).waitFor();
    const shown = notice(page, "your environments");
    await shown.getByText("The browser's storage is full or disabled.").waitFor();
    await page.evaluate(() => {
      for (const key of Object.keys(localStorage)) if (key.startsWith("other-")) localStorage.removeItem(key);
    });
    await shown.getByRole("button", { name: "Store again" }).click();
    await shown.waitFor({ state: "detached" });
    await page.reload();
    await page.getByRole("textbox", { name: "Code" }).waitFor();
    assert.match(await text(page, "python-files"), /Counter/);
  }));
