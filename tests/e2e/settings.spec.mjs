// Settings: connections to models of every kind, the results of Test connection, prices.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { FAILED, SIZES, accessible, visit } from "./support/browser.mjs";
import { FORMATS, KEY, NOWHERE, Settings, provider, settings } from "./support/connections.mjs";
import { until } from "./support/state.mjs";
import { provided } from "./support/providers.mjs";

provided(provider);

for (const format of Object.keys(FORMATS)) {
  test(`a connection to ${FORMATS[format]} is entered and tested`, () =>
    settings({}, async (settings) => {
      const call = { calls: [{ name: "add", arguments: { x: 2, y: 3 } }] };
      provider.tell({ key: KEY, script: [{ text: "OK." }, call] });
      await settings.connect(format);
      await settings.test();
      await settings.works();
      await settings.result.filter({ hasText: "mock-model of " }).waitFor();
      await settings.result.filter({ hasText: "Response: OK." }).waitFor();
      await settings.result.filter({ hasText: "Tool calls work: it called add." }).waitFor();
      assert.equal(provider.requests.length, 2);
      assert.ok(!provider.requests[0].path.includes(KEY), "the key is in the address");
    }));

  test(`${FORMATS[format]}: a wrong key, a wrong model, a rate limit, a failing server`, () =>
    settings({ allowedErrors: [FAILED] }, async (settings) => {
      await settings.connect(format);
      provider.tell({ key: "another-key-entirely" });
      await settings.test();
      await settings.fails("rejected the API key");
      provider.tell({ key: null });
      provider.tell({ script: [{ status: 404, message: "The model mock-model does not exist", code: "not_found" }] });
      await settings.test();
      await settings.fails("has no model mock-model");
      provider.tell({ script: [{ status: 429, message: "Slow down", retry_after: 7 }], exposes: "retry-after" });
      await settings.test();
      await settings.fails("is rate limiting requests", "Wait 7 s");
      provider.tell({ script: [{ status: 500, message: "Out of order" }] });
      await settings.test();
      await settings.fails("failed", "Out of order");
      provider.tell({ script: [{ html: true }] });
      await settings.test();
      await settings.fails("did not come from a model API", "Check the base URL");
      provider.tell({ script: [{ text: "OK." }] });
      await settings.test();
      await settings.works();
    }));
}

test("a server that rejects pages (CORS) is distinguished from one that does not respond", () =>
  settings({ allowedErrors: [FAILED] }, async (settings) => {
    for (const cors of ["none", "no-preflight"]) {
      provider.tell({ cors });
      await settings.connect("chat");
      await settings.test();
      await settings.fails("cannot be reached", "CORS", new URL(settings.page.url()).origin);
    }
    await settings.connect("chat", { base: `${NOWHERE}/v1` });
    await settings.test();
    await settings.fails("cannot be reached", "Nothing responds");
  }));

test("a local server's instructions for allowing pages are shown", () =>
  settings({ allowedErrors: [FAILED] }, async (settings, page) => {
    provider.tell({ cors: "none" });
    await settings.provider.selectOption("Ollama");
    await settings.group.getByText(`OLLAMA_ORIGINS=${new URL(page.url()).origin}`).waitFor();
    await settings.baseUrl.fill(provider.base("chat"));
    await settings.model.fill("mock-model");
    await settings.test();
    await settings.fails("CORS", `OLLAMA_ORIGINS=${new URL(page.url()).origin}`);
  }));

test("redirects are not followed, so the key goes nowhere else", () =>
  settings({ allowedErrors: [FAILED] }, async (settings) => {
    provider.tell({ script: [{ status: 307, headers: { location: `${provider.base("chat")}/elsewhere` } }] });
    await settings.connect("chat");
    await settings.test();
    await settings.fails("redirects to another address");
    assert.equal(provider.requests.length, 1);
  }));

test("a hanging server times out, before and during its reply", () =>
  settings(
    { axe: false, init: (context) => context.clock.install() },
    async (settings, page) => {
      for (const hang of ["before", "within"]) {
        provider.reset();
        provider.tell({ script: [{ hang, text: "A longer answer." }] });
        await settings.connect("chat");
        await settings.test();
        await until(() => provider.requests.length > 0);
        await new Promise((done) => setTimeout(done, 300));
        await page.clock.runFor(61_000);
        await settings.fails("was cut off", "60 s");
        await until(() => provider.requests[0].aborted, "the request goes on");
      }
    },
  ));

test("cancelling the test aborts the request", () =>
  settings({}, async (settings) => {
    provider.tell({ script: [{ hang: "within", text: "A longer answer." }] });
    await settings.connect("anthropic");
    await settings.test();
    await until(() => provider.requests.length === 1, "no request");
    await settings.button("Cancel test").click();
    await settings.button("Test connection").waitFor();
    await until(() => provider.requests[0].aborted, "the request goes on");
  }));

test("a model that calls no tool is recognised", () =>
  settings({}, async (settings) => {
    provider.tell({ script: [{ text: "OK." }, { text: "The sum is 5." }] });
    await settings.connect("chat");
    await settings.test();
    await settings.works();
    await settings.result.filter({ hasText: "Tool calls do not work: it answered without" }).waitFor();
  }));

test("a missing key is asked for before anything is sent, and another server has no address of a provider", () =>
  settings({}, async (settings, page) => {
    const sent = [];
    page.on("request", (request) => sent.push(request.url()));
    await settings.provider.selectOption("Anthropic");
    assert.match(await settings.baseUrl.inputValue(), /anthropic/);
    await settings.test();
    await settings.fails("The API key is missing.", "Nothing was sent.");
    assert.deepEqual(sent.filter((url) => url.includes("anthropic.com")), []);
    await settings.provider.selectOption({ label: `Other, speaks ${FORMATS.chat}` });
    assert.equal(await settings.baseUrl.inputValue(), "");
    assert.equal(await settings.model.inputValue(), "");
    // From one unknown server to another format, the address is the user's own.
    await settings.baseUrl.fill(provider.base("chat"));
    // As a person does: a field takes its text when it is left.
    await page.keyboard.press("Tab");
    await settings.provider.selectOption({ label: `Other, speaks ${FORMATS.anthropic}` });
    assert.equal(await settings.baseUrl.inputValue(), provider.base("chat"));
  }));

test("missing fields are reported before anything is sent", () =>
  settings({}, async (settings, page) => {
    await settings.provider.selectOption("Ollama");
    await settings.test();
    await settings.fails("Enter the name of a model");
    await settings.baseUrl.fill("localhost:11434");
    await settings.model.fill("qwen");
    await settings.group.getByText("must begin with https:// or http://").waitFor();
    assert.equal(await settings.baseUrl.getAttribute("aria-invalid"), "true");
    await settings.key.fill("ключ");
    await settings.baseUrl.fill(provider.base("chat"));
    await settings.test();
    await settings.fails("contains a character that is not allowed in headers");
    assert.equal(provider.requests.length, 0);
  }));

test("models are listed, and one is picked", () =>
  settings({ allowedErrors: [FAILED] }, async (settings) => {
    for (const format of Object.keys(FORMATS)) {
      provider.tell({ models: ["first-one", "second-one"] });
      await settings.connect(format, { model: "x" });
      await settings.button("List models").click();
      const pick = settings.group.getByRole("combobox", { name: "Listed models" });
      await pick.selectOption("second-one");
      assert.equal(await settings.model.inputValue(), "second-one");
      await settings.baseUrl.fill(`${provider.base(format)}/other`);
      await settings.baseUrl.blur();
      await pick.waitFor({ state: "detached" });
    }
    await settings.connect("chat");
    provider.tell({ key: "another-key-entirely" });
    await settings.button("List models").click();
    await settings.fails("rejected the API key");
  }));

test("connections are added, renamed, duplicated, chosen and deleted", () =>
  settings({}, async (settings, page) => {
    const names = () => settings.connections.locator(".connection-name").allInnerTexts();
    await settings.provider.selectOption("Anthropic");
    await settings.key.fill(KEY);
    await settings.button("Duplicate").click();
    assert.deepEqual(await names(), ["Anthropic", "Anthropic 2"]);
    assert.equal(await settings.key.inputValue(), KEY, "the copy has the key");
    await settings.field("Name").fill("Mine");
    await settings.button("Make default").click();
    await settings.button("Add connection").click();
    await settings.provider.selectOption("Google Gemini");
    assert.equal(await settings.key.inputValue(), "", "another provider gets the key");
    assert.deepEqual(await names(), ["Anthropic", "Mine", "Google Gemini"]);
    await page.reload();
    await settings.group.waitFor();
    assert.deepEqual(await names(), ["Anthropic", "Mine", "Google Gemini"]);
    assert.equal(await settings.field("Name").inputValue(), "Mine", "the default is shown");
    assert.equal(await settings.key.inputValue(), "", "the key was kept");
    await settings.button("Delete").click();
    await settings.button("Delete").click();
    await settings.button("Delete").click();
    assert.deepEqual(await names(), ["OpenAI"], "a draft");
    assert.equal(await page.evaluate(() => JSON.parse(localStorage["volary.models"]).list.length), 0);
  }));

test("prices are changed, added, removed and restored", () =>
  settings({}, async (settings, page) => {
    const input = page.getByLabel("Input of gpt-6-luna", { exact: true });
    await input.fill("0.25");
    await input.press("Enter");
    await page.getByLabel("Model name").fill("my-model");
    await settings.button("Add price").click();
    await page.getByLabel("Model name").fill("my-model");
    await settings.button("Add price").click();
    await page.getByRole("alert").getByText("my-model has a price already").waitFor();
    await page.getByLabel("Output of my-model", { exact: true }).fill("3");
    await settings.button("Remove the price of gpt-6-astra").click();
    await page.reload();
    assert.equal(await input.inputValue(), "0.25");
    assert.equal(await page.getByLabel("Output of my-model", { exact: true }).inputValue(), "3");
    assert.equal(await page.getByLabel("Input of gpt-6-astra", { exact: true }).count(), 0);
    await input.fill("a lot");
    await input.press("Enter");
    assert.equal(await input.inputValue(), "0.25", "no amount");
    await settings.button("Restore built-in prices").click();
    await page.getByLabel("Input of gpt-6-astra", { exact: true }).waitFor();
    assert.equal(await input.inputValue(), "0.1");
  }));

test("by keyboard alone", () =>
  settings({}, async (settings, page) => {
    provider.tell({ key: KEY, script: [{ text: "OK." }] });
    await settings.provider.focus();
    await settings.provider.selectOption({ label: `Other, speaks ${FORMATS.chat}` });
    for (const value of [provider.base("chat"), "mock-model"]) {
      await page.keyboard.press("Tab");
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.type(value);
    }
    await page.keyboard.press("Tab"); // List models
    await page.keyboard.press("Tab");
    await page.keyboard.type(KEY);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await settings.works();
    assert.ok(
      await settings.button("Test connection").evaluate((button) => button === document.activeElement),
      "the focus went elsewhere",
    );
  }));

test("the navigation leads there and back", () =>
  visit({}, async (page) => {
    const link = (name) => page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true });
    await page.getByRole("log", { name: "Transcript" }).getByRole("listitem").first().waitFor();
    await link("Settings").click();
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    assert.equal(await link("Settings").getAttribute("aria-current"), "page");
    await link("Playground").click();
    await page.getByRole("log", { name: "Transcript" }).getByRole("listitem").first().waitFor();
  }));

for (const size of Object.keys(SIZES)) {
  for (const theme of ["light", "dark"]) {
    test(`appearance, ${size}, ${theme}`, () =>
      settings({ size, theme, allowedErrors: [FAILED] }, async (settings, page) => {
        const looksWell = async (name) => {
          const { content, window } = await page.evaluate(() => ({
            content: document.documentElement.scrollWidth,
            window: document.documentElement.clientWidth,
          }));
          assert.ok(content <= window, `the page is ${content - window} px too wide`);
          await accessible(page);
          if (process.env.SHOTS) {
            await page.screenshot({ path: `${process.env.SHOTS}/${name}-${size}-${theme}.png`, fullPage: true });
          }
        };
        await looksWell("empty");
        provider.tell({ script: [{ text: "OK." }] });
        await settings.connect("anthropic");
        await settings.button("Add connection").click();
        await settings.provider.selectOption("Ollama");
        await settings.button("Add connection").click();
        await settings.connect("chat");
        await settings.test();
        await settings.works();
        await settings.button("List models").click();
        await settings.group.getByRole("combobox", { name: "Listed models" }).waitFor();
        await looksWell("works");
        provider.tell({ key: "another-key-entirely" });
        await settings.test();
        await settings.fails("rejected the API key");
        await looksWell("fails");
      }));
  }
}
