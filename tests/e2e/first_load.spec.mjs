// The requests of a first visit, the parts that load lazily, and failures to load a lazy part.

import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { gzipSync } from "node:zlib";

import { visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

/** Of all that is fetched until the first problem can be played, gzipped, in bytes. */
const LIMIT = 450_000;

const name = (url) => new URL(url).pathname.split("/").pop();
/** All wasm but the first part. */
const isLater = (url) => url.endsWith(".wasm") && name(url) !== "volary_bg.wasm";

/** All wasm but the first part takes half a second longer, as on a slow connection, where a press comes long before its code. */
const slowly = (context) =>
  context.route((url) => isLater(url.href), async (route) => {
    await new Promise((done) => setTimeout(done, 500));
    await route.continue();
  });

test("a first view needs at most 450 KB, and no lazy part", () => {
  const answers = [];
  const init = async (context) => {
    context.on("response", (answer) => answers.push(answer));
    // Nothing else arrives.
    await context.route((url) => isLater(url.href), () => undefined);
  };
  return visit({ init, axe: false }, async (page) => {
    await new Playground(page).ready();
    let bytes = 0;
    const sizes = new Map();
    // The worker, which starts then, has some of it from the browser's cache.
    for (const answer of answers) {
      if (sizes.has(answer.url())) continue;
      const size = gzipSync(await answer.body()).length;
      sizes.set(answer.url(), size);
      bytes += size;
    }
    assert.ok(bytes <= LIMIT, `${bytes} bytes: ${[...sizes].map(([url, size]) => `${name(url)} ${size}`).join(", ")}`);
    await page.context().unrouteAll({ behavior: "ignoreErrors" });
  });
});

test("the rest loads after the first view, with the worker", () =>
  visit({ axe: false }, async (page, { requests }) => {
    const rest = page.waitForRequest((request) => name(request.url()) === "split_environments.wasm");
    const playground = new Playground(page);
    await playground.ready();
    const shown = await playground.transcript.innerText();
    await rest;
    assert.ok(requests.some(isLater));
    assert.equal(await playground.transcript.innerText(), shown, "it looks as it did");
    assert.equal(page.workers().length, 1);
    await playground.act("calculator", { expr: "1 + 1" });
    await playground.says("1 step");
    assert.equal(page.workers().length, 1, "the worker that was started early is used");
  }));

test("a click waits for its code", () =>
  visit({ axe: false, init: slowly }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    // Immediately, without even moving the pointer.
    await playground.button("Step").dispatchEvent("click");
    await page.getByText("Required", { exact: true }).waitFor();
  }));

test("the first click on Raw JSON waits for its code", () =>
  visit({ axe: false, size: "narrow", init: slowly }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const raw = playground.configuration.getByRole("button", { name: "Raw JSON" });
    await raw.click();
    await playground.configuration.getByRole("textbox", { name: "JSON" }).waitFor();
    assert.equal(await raw.getAttribute("aria-pressed"), "true");
  }));

test("the first click on Copy waits for its code", () =>
  visit({ axe: false, size: "narrow", init: slowly }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const message = playground.messages().first();
    await message.getByRole("button", { name: "Copy" }).click();
    await page.getByText("Copied", { exact: true }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(copied.length > 20, copied);
    assert.ok((await message.innerText()).includes(copied));
  }));

test("what is chosen while its code loads stays chosen", () =>
  visit({ axe: false, init: slowly }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const task = page.getByRole("combobox", { name: "Task", exact: true });
    const chosen = () => task.locator("option:checked").innerText();
    await task.selectOption({ label: "Custom" });
    assert.equal(await chosen(), "Custom");
    // All tasks are listed once the code is there.
    await task.locator("option").nth(10).waitFor({ state: "attached" });
    assert.equal(await chosen(), "Custom");
    await playground.act("calculator", { expr: "1 + 1" });
    await playground.says("1 step");
    assert.equal(await chosen(), "Custom");
  }));

test("choices that wait for their code are made in order", () =>
  visit({ axe: false, init: slowly }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.environment.selectOption("library_desk");
    await page.getByRole("combobox", { name: "Task", exact: true }).selectOption({ label: "Custom" });
    await playground.tools.getByRole("button").first().waitFor();
    const task = page.getByRole("combobox", { name: "Task", exact: true });
    await task.locator("option").nth(2).waitFor({ state: "attached" });
    assert.equal(await playground.environment.inputValue(), "library_desk");
    assert.equal(await task.locator("option:checked").innerText(), "Custom");
  }));

test("code that fails to load is reported, and can be retried", () => {
  const allowedErrors = [/Failed to (load|fetch)/, /net::ERR/, /compil/i];
  const init = (context) => context.route((url) => isLater(url.href), (route) => route.abort());
  return visit({ axe: false, allowedErrors, init }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.button("Step").dispatchEvent("click");
    await playground.alert.getByText("The environments could not be loaded.").waitFor();
    await page.context().unrouteAll();
    await playground.act("calculator", { expr: "1 + 1" });
    await playground.says("1 step");
  });
});
