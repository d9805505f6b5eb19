// Connections to task dataset servers in the settings: failures, several servers, appearance.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { FAILED, SIZES, accessible } from "./support/browser.mjs";
import { ORIGIN, bothServers, freePort, ours, scripted, taskFile, theirs } from "./support/servers.mjs";
import { Servers, connecting } from "./support/settings_servers.mjs";

const { our, their } = bothServers();

test("a failed connection names its cause", async () => {
  const silent = `http://127.0.0.1:${await freePort()}`;
  const [strict, closed, server] = await Promise.all([
    ours(["--gsm8k", taskFile()]),
    theirs(["--key", "s3cret"]),
    scripted(),
  ]);
  const urls = [silent, strict.url, closed.url, server.url, "http://10.255.255.1:9"];
  // Before the page loads: a timer that was set by the real clock could no longer be cleared.
  const init = (context) => context.clock.install();
  await connecting(urls, { allowedErrors: [FAILED], init }, async (page, servers) => {
    const says = async (url, ...words) => {
      await servers.enter(url, { name: "X" });
      for (const word of words) await servers.alert.getByText(word).first().waitFor();
    };
    await says("soon", /is not a web address/);
    await says("ftp://127.0.0.1", /is not a web address/);
    await says(silent, /Nothing responds at/, /Start the server/);
    // Our server without the page's origin, and the original in its default configuration: both need CORS, and
    // the page shows the lines to copy.
    for (const url of [strict.url, closed.url]) {
      await says(url, /does not allow pages from/, /app\.add_middleware/);
      const lines = servers.alert.locator("pre").first();
      assert.match(await lines.innerText(), new RegExp(`allow_origins=\\["${ORIGIN}"\\]`));
      await servers.alert.getByRole("button", { name: "Copy" }).first().click();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await lines.innerText());
    }
    await accessible(page);
    server.tell({ "/info": { text: "<!doctype html><title>It works!</title>" } });
    await says(server.url, /is not a TaskDatasetServer/);
    server.tell({ "/info": { status: 404, body: { detail: "Not Found" } } });
    await says(server.url, /is not a TaskDatasetServer/);
    const paths = { "/start": {}, "/reset": {}, "/step": {}, "/close": {} };
    server.tell({
      "/info": { status: 404, body: { detail: "Not Found" } },
      "/openapi.json": { status: 200, body: { paths } },
    });
    await says(server.url, /a different version/, /lacks \/close_old_envs, \/info/);
    server.tell({ "/info": { status: 503, body: { detail: "Too many" } } });
    await says(server.url, /is overloaded/);
    server.tell({ "/info": { status: 500, body: { detail: "Oh" } } });
    await says(server.url, /The server failed/);
    server.tell({ "/info": { hang: true } });
    await servers.enter(server.url, { name: "X" });
    await page.getByText("Contacting the server").waitFor();
    await page.clock.runFor(20_000);
    await servers.alert.getByText("did not answer in time").first().waitFor();
  });
  await Promise.all([strict.stop(), closed.kill(), server.close()]);
});

test("several servers: rename, test, close old environments, remove", async () => {
  const ids = [];
  for (let count = 0; count < 3; count += 1) {
    const reply = await fetch(`${our.url}/start`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ task_idx: count }),
    });
    ids.push((await reply.json()).env_id);
  }
  await connecting([our.url, their.url], {}, async (page, servers) => {
    await servers.connect(our.url, { name: "Ours" });
    await servers.connect(their.url, { name: "Theirs" });
    const entry = servers.server("Ours");
    await entry.getByText("3 running environments").waitFor();
    await entry.getByText("Running environments", { exact: true }).click();
    await entry.getByText(ids[0]).waitFor();
    await accessible(page);
    await entry.getByLabel("Idle time in seconds").fill("0");
    await entry.getByRole("button", { name: "Close idle environments" }).click();
    await entry.getByText("Closed 3 environments.").waitFor();
    await servers.server("Theirs").getByText("does not provide frames").waitFor();

    await page.reload();
    await servers.server("Ours").getByRole("button", { name: "Check Ours" }).click();
    await servers.server("Ours").getByText("0 running environments").waitFor();
    await servers.server("Ours").getByRole("button", { name: "Remove Ours" }).click();
    await servers.server("Ours").waitFor({ state: "detached" });
    await servers.server("Theirs").waitFor();
  });
  await our.runs(0);
});

test("a typed key stays with the address it was typed for", async () => {
  const [first, second] = await Promise.all([scripted(), scripted()]);
  await connecting([first.url, second.url], { allowedErrors: [FAILED] }, async (page, servers) => {
    await servers.url.fill(first.url);
    await servers.key.fill("s3cret-key");
    await servers.url.fill(second.url);
    await servers.name.focus();
    await servers.section.getByText(`for ${first.url} stays with that address`).waitFor();
    assert.equal(await servers.key.inputValue(), "");
    await servers.url.fill(first.url);
    await servers.name.focus();
    assert.equal(await servers.key.inputValue(), "s3cret-key", "the key is back");
    await servers.url.fill(second.url);
    await servers.name.fill("Class");
    await servers.button.click();
    await servers.server("Class").getByText("Connected.").waitFor();
    assert.ok(second.asked.length > 0);
    assert.deepEqual(second.keys.filter(Boolean), [], "the key went to another origin");
  });
  await Promise.all([first.close(), second.close()]);
});

test("two tabs keep each other's servers", async () => {
  await connecting([our.url, their.url], {}, async (page, servers) => {
    const second = await page.context().newPage();
    await second.goto(page.url());
    const other = new Servers(second);
    await other.button.waitFor();
    await servers.connect(our.url, { name: "Ours" });
    await other.connect(their.url, { name: "Theirs" });
    for (const tab of [servers, other]) {
      await tab.server("Ours").waitFor();
      await tab.server("Theirs").waitFor();
    }
    await servers.server("Theirs").getByRole("button", { name: "Remove Theirs" }).click();
    await other.server("Theirs").waitFor({ state: "detached" });
    await other.server("Ours").getByRole("button", { name: "Check Ours" }).click();
    await other.server("Ours").getByText("Connected.").waitFor();
    await page.reload();
    await servers.server("Ours").waitFor();
    assert.equal(await servers.known.getByRole("listitem").filter({ has: page.getByRole("heading") }).count(), 1);
  });
});

const nobody = `http://127.0.0.1:${await freePort()}`;
for (const size of Object.keys(SIZES)) {
  for (const theme of ["light", "dark"]) {
    test(`appearance, ${size}, ${theme}`, () =>
      connecting([our.url, nobody], { size, theme, allowedErrors: [FAILED] }, async (page, servers, playground) => {
        await servers.connect(our.url);
        await servers.enter(nobody);
        await servers.alert.waitFor();
        await accessible(page);
        const shots = process.env.VOLARY_SHOTS;
        if (shots) await page.screenshot({ path: `${shots}/servers-${size}-${theme}.png`, fullPage: true });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${wide} pixels too wide`);
        await page.getByRole("link", { name: "Play on Class" }).click();
        await playground.ready();
        await playground.act("calculator", { expr: "6 * 7" });
        await playground.says("1 step");
        if (shots) await page.screenshot({ path: `${shots}/played-${size}-${theme}.png` });
      }));
  }
}
