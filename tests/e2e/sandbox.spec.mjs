// The Python sandbox in Chromium, Firefox and WebKit: no probe succeeds, and in the same browser every probe
// succeeds from a worker without policies.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { HOME, launched, visit } from "./support/browser.mjs";
import { firefox, webkit } from "./support/other_browsers.mjs";
import { Playground } from "./support/playground.mjs";
import { PROBES, environment, listener } from "./support/probes.mjs";

// Python takes seconds to load, more on a busy machine, and most in WebKit, which runs it here without a fast JIT.
test.slow();

const { VOLARY_FIREFOX, VOLARY_WEBKIT_DRIVER, VOLARY_WEBKIT } = process.env;
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
async function reached(browser, hash) {
  await browser.open(HOME + hash);
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

async function closedIn(open) {
  const server = await listener();
  try {
    const hash = await linkToProbes(server.origin);
    assert.deepEqual([...server.heard], [], "Chromium");
    const browser = await open();
    try {
      assert.equal(await reached(browser, hash), "[]");
      assert.deepEqual([...server.heard], []);
      await control(browser, server);
    } catch (error) {
      const text = await browser.text().catch(String);
      throw new Error(`${error.message}\nThe page says:\n${text}`, { cause: error });
    } finally {
      await browser.close();
    }
  } finally {
    server.close();
  }
}

/** Chromium with the few calls that the other browsers have. */
async function chromium() {
  const context = await (await launched()).newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  return {
    open: (url) => page.goto(url),
    find: (xpath) => page.locator(`xpath=${xpath}`).first().waitFor(),
    click: (xpath) => page.locator(`xpath=${xpath}`).click(),
    text: () => page.evaluate(() => document.body.innerText),
    stored: () => page.evaluate(async () => void (await navigator.serviceWorker.ready)),
    disconnect: (addresses) => context.route(addresses, (route) => route.abort("internetdisconnected")),
    sandbox: () => page.locator("iframe[title=Python]").getAttribute("sandbox"),
    close: () => context.close(),
  };
}

test("Python reaches nothing in Chromium, where every probe leaks without the sandbox", () => closedIn(chromium));

test("Python reaches nothing in the sandbox that is stored for use without a connection", async () => {
  const server = await listener();
  const browser = await chromium();
  try {
    const hash = await linkToProbes(server.origin);
    assert.equal(await reached(browser, hash), "[]");
    await browser.stored();
    // The page finds no connection to its own host, and the probes have one to the listener.
    await browser.disconnect("**/python/kit.json");
    await browser.open("about:blank");
    assert.equal(await reached(browser, hash), "[]");
    assert.equal(await browser.sandbox(), null, "the service worker has made the origin opaque, not the attribute");
    assert.deepEqual([...server.heard], []);
  } finally {
    await browser.close();
    server.close();
  }
});

test("Python reaches nothing in Firefox, where every probe leaks without the sandbox", async () => {
  test.skip(!VOLARY_FIREFOX, "Firefox is not installed");
  await closedIn(() => firefox(VOLARY_FIREFOX));
});

test("Python reaches nothing in WebKit, where every probe leaks without the sandbox", async () => {
  test.skip(!VOLARY_WEBKIT, "WebKit's driver is not installed");
  await closedIn(() => webkit(VOLARY_WEBKIT_DRIVER, VOLARY_WEBKIT));
});
