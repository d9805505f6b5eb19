// Offline use after one visit. The site must be built by `cargo xtask build`, which lists the files.

import assert from "node:assert/strict";
import { expect, test } from "@playwright/test";

import { FAILED, HOME, visit } from "./support/browser.mjs";
import { LATER, deployments } from "./support/deployments.mjs";
import { Playground } from "./support/playground.mjs";
import { Library, trajectory } from "./support/trajectories.mjs";

/** Resolves when the files of the first view and of a step are stored. */
const stored = (page) =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    return registration.active.state;
  });

/** Resolves when what the page loaded before the service worker was there is stored, too. */
async function usedStored(page) {
  const areStored = () =>
    page.evaluate(async () => {
      const used = performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".wasm"));
      const found = await Promise.all(used.map(({ name }) => caches.match(name)));
      return found.every(Boolean);
    });
  await expect.poll(areStored, { timeout: 20_000 }).toBe(true);
}

/** Opens the help, and stores all files. */
async function storeWhole(page) {
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Help" });
  await help.getByText("the playground works, and every page that you used before").waitFor();
  await help.getByRole("button", { name: /^Make available offline \([\d.]+ MB\)$/ }).click();
  await help.getByText("is stored in the browser and works without a connection").waitFor({ timeout: 60_000 });
  await page.keyboard.press("Escape");
}

test("after one visit the playground and the pages that were used work without a connection", () =>
  visit({ offline: true, allowedErrors: [FAILED, /Failed to fetch/] }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const settings = page.getByRole("heading", { name: "Settings", level: 1 });
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    await settings.waitFor();
    await stored(page);
    await usedStored(page);
    await page.context().setOffline(true);
    await page.reload();
    await settings.waitFor();
    await page.getByRole("link", { name: "Playground", exact: true }).click();
    await playground.ready();
    await playground.act("calculator", { expr: "6 * 7" });
    await playground.says("1 step");
    // A page that was never used says what is missing, and opens once there is a connection.
    await page.getByRole("link", { name: "Evaluate", exact: true }).click();
    const missing = page.getByRole("alert").filter({ hasText: "you are offline" });
    await missing.waitFor();
    await page.context().setOffline(false);
    await missing.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Evaluate", level: 1 }).waitFor();
  }));

test("all pages work without a connection once the user asked for it", () =>
  visit({ offline: true, allowedErrors: [FAILED] }, async (page) => {
    await new Playground(page).ready();
    await page.mouse.move(200, 200);
    await stored(page);
    await storeWhole(page);
    await page.context().setOffline(true);
    await page.reload();
    for (const name of ["Evaluate", "Settings", "Learn"]) {
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
    }
    await page.getByRole("link", { name: "Review", exact: true }).click();
    const library = await new Library(page).ready();
    await library.import(["one.json", trajectory("one", [{ says: "The marble is red." }])]);
    await library.rows(1);
    await page.context().setOffline(false);
  }));

test("Python that was used once starts without a connection", () =>
  visit({ hash: "#/environments", offline: true, allowedErrors: [FAILED] }, async (page) => {
    test.slow();
    const check = async () => {
      await page.getByRole("textbox", { name: "Code" }).waitFor();
      await page.getByRole("button", { name: "Save and check" }).click();
      // Python takes long to start on a busy machine.
      const result = page.getByRole("status", { name: "Result" });
      await result.getByText("is ready to be played").waitFor({ timeout: 60_000 });
    };
    await page.getByRole("button", { name: "New environment" }).click();
    await page.getByRole("button", { name: "Use template Counter" }).click();
    await check();
    await stored(page);
    await usedStored(page);
    await page.context().setOffline(true);
    await page.reload();
    await check();
    await page.context().setOffline(false);
  }));

test("the version that is served counts while there is a connection", () =>
  visit({ offline: true, axe: false }, async (page) => {
    await new Playground(page).ready();
    await page.mouse.move(200, 200);
    await stored(page);
    // Another version is served now: the document comes from the network, not from the store.
    const served = page.waitForResponse((response) => response.url().startsWith(HOME) && response.request().isNavigationRequest());
    await page.reload();
    assert.ok((await served).ok());
    const sources = await page.evaluate(async () => {
      const names = await caches.keys();
      const cache = await caches.open(names[0]);
      const paths = (await cache.keys()).map((request) => new URL(request.url).pathname);
      return { names, count: paths.length, python: paths.filter((path) => path.includes("/python/")).length };
    });
    assert.equal(sources.names.length, 1, "one version is stored");
    assert.ok(sources.count > 10);
    assert.equal(sources.python, 0);
  }));

test("the page can be installed", () =>
  visit({}, async (page) => {
    const href = await page.locator("link[rel=manifest]").evaluate((link) => link.href);
    const manifest = await (await page.request.get(href)).json();
    assert.equal(new URL(manifest.start_url, href).href, HOME);
    for (const icon of manifest.icons) {
      const reply = await page.request.get(new URL(icon.src, href).href);
      assert.equal(reply.headers()["content-type"], icon.type);
    }
  }));

/** A visit to a site of which another version is deployed later. */
async function visitDeployed(prepare, check) {
  const other = await deployments();
  try {
    // The browser may still ask for the icon of the page that the visit left.
    const allowedErrors = [FAILED, /icon-[0-9a-f]+\.png' violates/, /HTTP status code is not ok/];
    await visit({ offline: true, axe: false, origins: [other.origin], allowedErrors }, async (page) => {
      // Requests of the page that is left would fail.
      await page.waitForLoadState("networkidle");
      await page.goto("about:blank");
      await page.goto(other.origin);
      const playground = new Playground(page);
      await playground.ready();
      await page.mouse.move(200, 200);
      await stored(page);
      await prepare(page);
      other.deploy();
      other.asked();
      await check(page, playground, other);
    });
  } finally {
    other.close();
  }
}

test("a tab goes on after another version was deployed, and reloads for what it never used", () =>
  visitDeployed(
    async () => {},
    async (page, playground) => {
      await playground.act("calculator", { expr: "6 * 7" });
      await playground.says("1 step");
      await page.getByRole("link", { name: "Settings", exact: true }).click();
      const missing = page.getByRole("alert").filter({ hasText: "the site was updated" });
      await missing.getByRole("button", { name: "Reload the page" }).click();
      await page.waitForFunction((title) => document.title === title, LATER);
    },
  ));

test("a tab that is stored whole opens pages that it never opened after another version was deployed", () =>
  visitDeployed(storeWhole, async (page, playground, other) => {
    for (const name of ["Settings", "Evaluate", "Learn"]) {
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
    }
    // Workers, too: one that is started now, and one that loads more of its code for another format.
    await page.getByRole("link", { name: "Review", exact: true }).click();
    const library = await new Library(page).ready();
    await library.import(["one.json", trajectory("one", [{ says: "The marble is red." }])]);
    await library.rows(1);
    await page.getByRole("link", { name: "Playground", exact: true }).click();
    await playground.act("calculator", { expr: "6 * 7" });
    await playground.says("1 step");
    // Paths with a hash are those of this version.
    const gone = other.asked().filter((path) => /-[0-9a-f]{16}[./]/.test(path));
    assert.deepEqual(gone, [], "everything comes from the store");
    // The tab is still served by its version after the browser stored the later one, and the next document is the later.
    await page.evaluate(async () => (await navigator.serviceWorker.ready).update());
    await page.getByRole("link", { name: "Environments", exact: true }).click();
    await page.getByRole("heading", { name: "Environments", level: 1 }).waitFor();
    await page.reload();
    await page.waitForFunction((title) => document.title === title, LATER);
  }));
