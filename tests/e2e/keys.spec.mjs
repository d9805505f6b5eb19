// Settings: where keys live, forgetting them, and that none is found anywhere else.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { FAILED } from "./support/browser.mjs";
import { FORMATS, KEY, provider, settings } from "./support/connections.mjs";
import { stateOf } from "./support/state.mjs";
import { provided } from "./support/providers.mjs";

provided(provider);

test("keys stay in memory, unless another choice is made", () =>
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
    await settings.keep(/With this tab/).check();
    assert.deepEqual(await kept(), { local: false, session: true });
    await again();
    assert.equal(await settings.key.inputValue(), KEY);
    await settings.keep(/On this device/).check();
    assert.deepEqual(await kept(), { local: true, session: false });
    await page.getByText("can read them, whoever made it").waitFor();
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
    await page.getByRole("status", { name: "Keys" }).filter({ hasText: "1 key is kept." }).waitFor();
    await settings.button("Forget all keys").click();
    await page.getByRole("status", { name: "Keys" }).filter({ hasText: "All keys are forgotten." }).waitFor();
    assert.equal(await settings.key.inputValue(), "");
    const { local, session } = await stateOf(page);
    assert.ok(!local.includes(KEY) && !session.includes(KEY));
    assert.ok(await settings.keep(/In memory/).isChecked());
  }));

test("keys that one tab forgets are forgotten in the other", () =>
  settings({ allowedErrors: [FAILED] }, async (settings, page) => {
    await settings.connect("chat");
    await settings.keep(/On this device/).check();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole("button", { name: "Forget all keys", exact: true }).click();
    await other.getByRole("status", { name: "Keys" }).filter({ hasText: "All keys are forgotten." }).waitFor();
    provider.tell({ key: KEY });
    await settings.test();
    await settings.fails("wants an API key");
    assert.ok(!JSON.stringify(provider.requests).includes(KEY));
  }));

test("no key is found anywhere in the page's state", async () => {
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
        // A provider that repeats the key, in its error and in a web page.
        provider.tell({ script: [{ status: 401, message: `Incorrect API key provided: ${KEY}` }] });
        await settings.test();
        await settings.fails("does not accept");
        provider.tell({ script: [{ status: 400, message: `Authorization: Bearer ${KEY}` }] });
        await settings.test();
        await settings.fails("YOUR_API_KEY");
      }
      for (const hash of ["#/", "#/settings"]) {
        await page.evaluate((hash) => (location.hash = hash), hash);
        const { page: state, local, session } = await stateOf(page);
        for (const text of [state, local, session, ...requests, ...said]) {
          assert.ok(!text.includes(KEY), `the key stands in: ${text.slice(0, 200)}`);
        }
      }
    },
  );
  assert.ok(!said.join("\n").includes(KEY));
});
