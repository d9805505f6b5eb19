// The Python sandbox in Chromium, Firefox and WebKit: no probe succeeds, and in the same browser every probe
// succeeds from a worker without policies.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { HOME, visit } from "./support/browser.mjs";
import { inEveryBrowser } from "./support/every_browser.mjs";
import { foreignKit } from "./support/foreign_kit.mjs";
import { Playground } from "./support/playground.mjs";
import { PROBES, environment, listener } from "./support/probes.mjs";
import { staticHost } from "./support/static_host.mjs";

// Python takes seconds to load, more on a busy machine, and most in WebKit, which runs it here without a fast JIT.
test.slow();

const BLOCKED = [/Content Security Policy|Refused|blocked|NetworkError/i];

/** Saves the environment of the probes in Chromium, and gives a link that plays it, as one person sends to another. */
async function linkToProbes(address) {
  let link = "";
  await visit({ hash: "#/environments", allowedErrors: BLOCKED, origins: [address] }, async (page) => {
    await page.getByRole("button", { name: "New environment" }).click();
    await page.getByRole("button", { name: "Use template Counter" }).click();
    const code = page.getByRole("textbox", { name: "Code" });
    await code.click();
    await page.keyboard.press("Control+A");
    await page.evaluate((text) => navigator.clipboard.writeText(text), environment(`${address}/leak`));
    await page.keyboard.press("Control+V");
    await page.getByRole("button", { name: "Save and play" }).click();
    const said = page.getByText(/^reached: /).first();
    await said.waitFor();
    assert.equal(await said.innerText(), "reached: []");
    const playground = new Playground(page);
    await playground.button("Share").click();
    link = await page.getByRole("dialog", { name: "Share this episode" }).getByLabel("Link").inputValue();
  });
  return link.slice(link.indexOf("#"));
}

/** Opens the link, agrees, and reads what the probes reached. */
async function reached(browser, address) {
  await browser.open(address);
  await browser.click("//dialog//button[normalize-space()='Run this code']");
  await browser.find("//*[@role='log']//*[starts-with(normalize-space(), 'reached: ')]");
  const [, said] = (await browser.text()).match(/reached: (\[.*\])/);
  return said;
}

/** Every probe leaks from a plain worker: it reaches the listener, or it says that it got what it was after. */
async function control(browser, server) {
  await browser.open(`${server.origin}/control.html`);
  await browser.find("//*[starts-with(normalize-space(), 'reached: ')]");
  const [, said] = (await browser.text()).match(/reached: (\[.*\])/);
  const leaked = new Set([...JSON.parse(said), ...server.heard]);
  const silent = Object.keys(PROBES).filter((name) => !leaked.has(name));
  assert.deepEqual(silent, [], "these probes prove nothing in this browser");
}

/** Stores the page for use without a connection, and waits until the service worker answers for it. */
const stored = (browser) => browser.run("await storeOffline(); await navigator.serviceWorker.ready;");

inEveryBrowser("Python reaches nothing, and every probe leaks without the sandbox", async (browser) => {
  const server = await listener();
  try {
    const hash = await linkToProbes(server.origin);
    assert.deepEqual([...server.heard], [], "where the link is made");
    assert.equal(await reached(browser, HOME + hash), "[]");
    assert.deepEqual([...server.heard], []);
    await control(browser, server);
  } finally {
    server.close();
  }
});

inEveryBrowser("Python reaches nothing in the sandbox that is stored for use without a connection", async (browser) => {
  const server = await listener();
  const host = await staticHost();
  try {
    const address = host.home + (await linkToProbes(server.origin));
    assert.equal(await reached(browser, address), "[]");
    await stored(browser);
    // The page finds no connection to its own host, and the probes have one to the listener.
    host.lose(/kit\.json$/);
    await browser.open("about:blank");
    assert.equal(await reached(browser, address), "[]");
    const attribute = "return document.querySelector('iframe[title=Python]').getAttribute('sandbox');";
    assert.equal(await browser.run(attribute), null, "the service worker has made the origin opaque, not the attribute");
    assert.deepEqual([...server.heard], []);
  } finally {
    host.close();
    server.close();
  }
});

inEveryBrowser("the document of the sandbox runs nothing that another page gives it", async (browser) => {
  const host = await staticHost();
  const other = await foreignKit();
  const nothing = { framed: "nothing", sandboxed: "nothing", own: "ran apart" };
  try {
    // Another port is the same site, so that its frames share the page's storage; another name is another site.
    for (const name of ["127.0.0.1", "localhost"]) {
      assert.deepEqual(await other.attack(browser, host.home, name), nothing, name);
    }
    // Once a service worker answers for the document.
    await browser.open(`${host.home}#/run/counter`);
    await browser.find("//button[normalize-space()='Step']");
    await stored(browser);
    for (const name of ["127.0.0.1", "localhost"]) {
      assert.deepEqual(await other.attack(browser, host.home, name), nothing, `${name}, with a service worker`);
    }
  } finally {
    other.close();
    host.close();
  }
});
