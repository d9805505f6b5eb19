// What the page loads, and from where.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { HOME, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

test("everything comes from the page's own folder, once", () => {
  const answers = [];
  const init = async (context) => context.on("response", (answer) => answers.push(answer));
  return visit({ init }, async (page, { requests }) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.act("calculator", { expr: "1 + 1" });
    await playground.says("1 step");
    const files = requests.filter((url) => /^http/.test(url));
    for (const url of files) assert.ok(url.startsWith(HOME), url);
    // Page and worker ask for some parts both; the browser has them by then, or asks whether what it
    // has is still good. No body comes twice.
    const bodies = [];
    for (const answer of answers) {
      if ((await answer.request().sizes()).responseBodySize > 0) bodies.push(answer.url());
    }
    const again = bodies.filter((url, place) => bodies.indexOf(url) !== place);
    assert.deepEqual(again, [], "loaded twice");
  });
});

test("the policy forbids what the page does not need", () =>
  visit({}, async (page) => {
    const policy = await page
      .locator("meta[http-equiv='Content-Security-Policy']")
      .getAttribute("content");
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval'(?<!wasm-unsafe-eval')/);
    assert.equal(await page.locator("script:not([src])").count(), 0, "an inline script");
  }));
