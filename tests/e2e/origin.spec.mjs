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
    assert.equal(new Set(files).size, files.length, `loaded twice: ${files.join(" ")}`);
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
