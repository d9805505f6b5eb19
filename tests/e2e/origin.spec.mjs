// What the page loads, and from where.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { HOME, ended, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

after(ended);

test("everything comes from the page's own folder, once", () =>
  visit({}, async (page, { requests }) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.act("calculator", { expr: "1 + 1" });
    await playground.says("1 step");
    const files = requests.filter((url) => /^http/.test(url)).map((url) => url.split("#")[0]);
    for (const url of files) assert.ok(url.startsWith(HOME), url);
    const wasm = files.filter((url) => url.endsWith(".wasm"));
    assert.equal(wasm.length, 1, wasm.join(" "));
    // The worker runs the same two scripts as the page, which the browser has in its cache by then.
    const again = files.filter((url, place) => files.indexOf(url) !== place);
    const scripts = /\/(start|volary)(-[0-9a-f]+)?\.js$/;
    assert.deepEqual(again.filter((url) => !scripts.test(url)), [], "loaded twice");
    assert.equal(new Set(again).size, again.length, "loaded three times");
  }));

test("the policy forbids what the page does not need", () =>
  visit({}, async (page) => {
    const policy = await page
      .locator("meta[http-equiv='Content-Security-Policy']")
      .getAttribute("content");
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval'(?<!wasm-unsafe-eval')/);
    assert.equal(await page.locator("script:not([src])").count(), 0, "an inline script");
  }));
