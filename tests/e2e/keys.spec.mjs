// API keys in the settings: storage, removal, and no occurrence of a key anywhere else.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { startProvider } from "../support/provider.mjs";
import { FAILED, HOME } from "./support/browser.mjs";
import { FORMATS, KEY, NOWHERE, Settings, provider, settings } from "./support/connections.mjs";
import { stateOf } from "./support/state.mjs";
import { provided } from "./support/providers.mjs";

provided(provider);

test("keys stay in memory unless the user chooses otherwise", () =>
  settings({}, async (settings, page) => {
    const kept = async () => {
      const { local, session } = await stateOf(page);
      return { local: local.includes(KEY), session: session.includes(KEY) };
    };
    const again = async () => {
      await page.reload();
      await settings.group.waitFor();
    };
    await settings.connect("chat");
    await settings.field("Name").focus();
    assert.deepEqual(await kept(), { local: false, session: false });
    await settings.keep(/In this tab/).check();
    assert.deepEqual(await kept(), { local: false, session: true });
    await again();
    assert.equal(await settings.key.inputValue(), KEY);
    await settings.keep(/On this device/).check();
    assert.deepEqual(await kept(), { local: true, session: false });
    await page.getByText("can read them at any time, whoever made it").waitFor();
    await again();
    assert.ok(await settings.keep(/On this device/).isChecked());
    await settings.keep(/In memory/).check();
    assert.deepEqual(await kept(), { local: false, session: false });
    assert.equal(await settings.key.inputValue(), KEY, "still in memory");
    await again();
    assert.equal(await settings.key.inputValue(), "");
  }));

test("one click forgets all keys, wherever they are", () =>
  settings({}, async (settings, page) => {
    await settings.connect("chat");
    await settings.keep(/On this device/).check();
    await page.getByRole("status", { name: "API keys" }).filter({ hasText: "1 key stored." }).waitFor();
    await settings.button("Delete all keys").click();
    await page.getByRole("status", { name: "API keys" }).filter({ hasText: "All keys deleted." }).waitFor();
    assert.equal(await settings.key.inputValue(), "");
    const { local, session } = await stateOf(page);
    assert.ok(!local.includes(KEY) && !session.includes(KEY));
    assert.ok(await settings.keep(/In memory/).isChecked());
  }));

test("keys removed in one tab are removed in the other", () =>
  settings({ allowedErrors: [FAILED] }, async (settings, page) => {
    await settings.connect("chat");
    await settings.keep(/On this device/).check();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole("button", { name: "Delete all keys", exact: true }).click();
    await other.getByRole("status", { name: "API keys" }).filter({ hasText: "All keys deleted." }).waitFor();
    provider.tell({ key: KEY });
    await settings.test();
    await settings.fails("requires an API key");
    assert.ok(!JSON.stringify(provider.requests).includes(KEY));
  }));

test("no key occurs anywhere in the page's state", async () => {
  const said = [];
  await settings(
    {
      allowedErrors: [FAILED],
      init: (context) => context.on("console", (message) => said.push(message.text())),
    },
    async (settings, page, { requests }) => {
      for (const format of Object.keys(FORMATS)) {
        await settings.connect(format);
        provider.tell({ script: [{ text: `You sent ${KEY}.` }] });
        await settings.test();
        await settings.works();
        // A provider that repeats the key, in its error and in an HTML page.
        provider.tell({ script: [{ status: 401, message: `Incorrect API key provided: ${KEY}` }] });
        await settings.test();
        await settings.fails("rejected");
        provider.tell({ script: [{ status: 400, message: `Authorization: Bearer ${KEY}` }] });
        await settings.test();
        await settings.fails("YOUR_API_KEY");
      }
      for (const hash of ["#/", "#/settings"]) {
        await page.evaluate((hash) => (location.hash = hash), hash);
        const { page: state, local, session } = await stateOf(page);
        for (const text of [state, local, session, ...requests, ...said]) {
          assert.ok(!text.includes(KEY), `the key is in: ${text.slice(0, 200)}`);
        }
      }
    },
  );
  assert.ok(!said.join("\n").includes(KEY));
});

test("a key stays with the address it was entered for", async () => {
  const other = await startProvider();
  const options = { origins: [provider.url, other.url, NOWHERE, "http://localhost:11434"], allowedErrors: [FAILED] };
  await settings(options, async (settings, page) => {
    const elsewhere = settings.group.getByRole("status", { name: "Keys for other addresses" });
    const former = new URL(provider.url).origin;
    await settings.connect("chat");
    await settings.test();
    await settings.works();
    assert.match(provider.requests[0].headers.authorization, new RegExp(KEY), "it was sent");
    assert.equal(await elsewhere.count(), 0);
    // Another path of the same origin uses the same key.
    await settings.baseUrl.fill(`${provider.url}/other/v1`);
    await settings.model.focus();
    assert.equal(await settings.key.inputValue(), KEY);

    await settings.baseUrl.fill(other.base("chat"));
    await settings.model.focus();
    await elsewhere.filter({ hasText: `for ${former} stays with that address` }).waitFor();
    assert.equal(await settings.key.inputValue(), "");
    await settings.test();
    await settings.works();
    await settings.button("List models").click();
    await page.getByLabel("Listed models").waitFor();
    // A provider with a preset base URL.
    await settings.provider.selectOption("Ollama");
    await elsewhere.filter({ hasText: `for ${former} stays with that address` }).waitFor();
    assert.equal(await settings.key.inputValue(), "");
    // The test asks for words and for a tool call; the third lists the models.
    assert.equal(other.requests.length, 3);
    assert.ok(!JSON.stringify(other.requests).includes(KEY), "the key went to another origin");

    // One key for each of them.
    await settings.connect("chat", { base: other.base("chat"), key: "another-key-0123" });
    await settings.test();
    await settings.works();
    assert.match(other.requests.at(-1).headers.authorization, /another-key-0123/);
    await settings.baseUrl.fill(provider.base("chat"));
    await settings.model.focus();
    assert.equal(await settings.key.inputValue(), KEY, "the key is back");
    assert.equal(await elsewhere.count(), 0);
    await settings.test();
    await settings.works();
    assert.match(provider.requests.at(-1).headers.authorization, new RegExp(KEY));
    assert.ok(!JSON.stringify(provider.requests).includes("another-key"));
    await page.getByRole("status", { name: "API keys", exact: true }).filter({ hasText: "2 keys stored." }).waitFor();
    await settings.button("Delete").click();
    await page.getByRole("status", { name: "API keys", exact: true }).filter({ hasText: "No keys stored." }).waitFor();
  });
  await other.close();
});

test("the settings say who else can read keys and the library", () =>
  settings({}, async (settings, page) => {
    const { origin } = new URL(HOME);
    await page.getByText(`Other pages on ${origin} share this page's origin`).waitFor();
    await page.getByText("host this page on its own domain").waitFor();
    await page.getByText(`Other pages on ${origin} can read and change it.`).waitFor();
    assert.equal(await page.getByText("over plain http").count(), 0, "a page of this machine is no reason to warn");
  }));

test("a page served over plain http warns next to the key fields", () => {
  const far = "http://volary.example/";
  const init = (context) =>
    context.route(`${far}**`, async (route) => {
      const url = HOME + route.request().url().slice(far.length);
      await route.fulfill({ response: await route.fetch({ url }) });
    });
  return settings({ origins: [new URL(far).origin], init }, async (_, page) => {
    await page.goto(`${far}#/settings`);
    await new Settings(page).group.getByText("loaded over plain http").waitFor();
    const form = page.getByRole("group", { name: "Task dataset server", exact: true });
    await form.getByText("loaded over plain http").waitFor();
  });
});

test("two tabs keep each other's connections, and drop keys of deleted ones", () =>
  settings({}, async (settings, page) => {
    const second = await page.context().newPage();
    await second.goto(page.url());
    const other = new Settings(second);
    await other.group.waitFor();
    const named = (settings, name) => settings.connections.getByRole("button", { name: new RegExp(name) });

    await settings.connect("chat");
    await settings.field("Name").fill("First");
    await settings.model.focus();
    // The other tab is notified, and its own connection appears here.
    await named(other, "First").waitFor();
    await other.button("Add connection").click();
    await other.field("Name").fill("Second");
    await other.model.focus();
    await named(settings, "Second").waitFor();
    await settings.field("Name").fill("First again");
    await settings.model.focus();
    await named(other, "First again").waitFor();
    await page.reload();
    await settings.group.waitFor();
    assert.equal(await settings.connections.getByRole("listitem").count(), 2);

    // A key in this tab whose connection is deleted in the other one.
    await named(settings, "First again").click();
    await settings.key.fill(KEY);
    await settings.keep(/In this tab/).check();
    await page.getByRole("status", { name: "API keys", exact: true }).filter({ hasText: "1 key stored." }).waitFor();
    await named(other, "First again").click();
    await other.button("Delete").click();
    await named(settings, "First again").waitFor({ state: "detached" });
    await page.getByRole("status", { name: "API keys", exact: true }).filter({ hasText: "No keys stored." }).waitFor();
    assert.ok(!(await stateOf(page)).session.includes(KEY));
    // The first tab now shows the remaining connection, which can be edited.
    await settings.field("Name").fill("Left");
    await settings.model.focus();
    await named(other, "Left").waitFor();
    assert.equal(await settings.connections.getByRole("listitem").count(), 1);
  }));

test("a list of hundreds of thousands of models is shown in part", () =>
  settings({}, async (settings, page) => {
    const models = Array.from({ length: 150_000 }, (_, number) => `model-${number}`);
    provider.tell({ models: [...models.slice(0, 10), "x".repeat(500), ...models.slice(10)] });
    await settings.connect("chat");
    await settings.button("List models").click();
    const listed = page.getByLabel("Listed models");
    await listed.getByText("Choose one of the first 2,000, or type one of the 148,001 others").waitFor({ state: "attached" });
    assert.equal(await listed.locator("option").count(), 2001);
    provider.tell({ models: [...models, ...models, ...models].map((name) => name.padEnd(20, "-")) });
    await settings.button("List models").click();
    await settings.fails("exceeds");
  }));
