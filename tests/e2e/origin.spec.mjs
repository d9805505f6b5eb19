// Requests of the page and their origins, its Content-Security-Policy, and framing by other sites.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { HOME, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";
import { site } from "./support/site.mjs";

test("everything is loaded from the page's own folder, once", () => {
  const answers = [];
  const init = async (context) => context.on("response", (answer) => answers.push(answer));
  return visit({ init }, async (page, { requests }) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.act("calculator", { expr: "1 + 1" });
    await playground.says("1 step");
    const files = requests.filter((url) => /^http/.test(url));
    for (const url of files) assert.ok(url.startsWith(HOME), url);
    // Page and worker both request some parts; the browser has them cached by then or revalidates them. No body
    // is transferred twice.
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

test("in a frame of another site the page does not start", async () => {
  const other = await site((path, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end(`<!doctype html><html lang="en"><title>Other</title><iframe title="Volary" src="${HOME}#/run/counter"></iframe></html>`);
  });
  try {
    // As on GitHub Pages, which sends no header against framing: the page itself has to refuse.
    const init = (context) =>
      context.route(HOME, async (route) => {
        const response = await route.fetch();
        const { "content-security-policy": _, ...headers } = response.headers();
        await route.fulfill({ response, headers });
      });
    await visit({ origins: [other.origin], axe: false, init }, async (page, { requests }) => {
      await new Playground(page).ready();
      requests.length = 0;
      await page.goto(other.origin);
      const frame = page.frameLocator("iframe");
      await frame.getByRole("heading", { name: "Volary does not start inside another site" }).waitFor();
      await page.waitForTimeout(500);
      assert.equal(await frame.getByRole("main").count(), 0, "the page started");
      const [tab] = await Promise.all([
        page.context().waitForEvent("page"),
        frame.getByRole("link", { name: "Open Volary in its own tab" }).click(),
      ]);
      await new Playground(tab).ready();
      assert.equal(tab.url(), `${HOME}#/run/counter`);
    });
  } finally {
    other.close();
  }
});

test("in a frame of its own site the page starts", () =>
  visit(
    {
      axe: false,
      init: (context) =>
        context.route(`${HOME}frame.html`, (route) =>
          route.fulfill({
            contentType: "text/html",
            body: `<!doctype html><html lang="en"><title>Same</title><iframe title="Volary" width="1200" height="800" src="${HOME}"></iframe></html>`,
          }),
        ),
    },
    async (page) => {
      // A page that is left while it loads reports files that it no longer receives.
      await new Playground(page).ready();
      await page.goto(`${HOME}frame.html`);
      await page.frameLocator("iframe").getByRole("log", { name: "Transcript" }).getByRole("listitem").first().waitFor();
    },
  ));

test("no text becomes markup or a script", () =>
  visit({ allowedErrors: [/Trusted/i] }, async (page) => {
    await new Playground(page).ready();
    // As code of the page itself would: scripts evaluated by the test are not always subject to the page's policy.
    const refused = await page.evaluate(() => {
      const refused = (act) => {
        try {
          act();
        } catch (error) {
          return error.name;
        }
        return "done";
      };
      return {
        innerHTML: refused(() => (document.createElement("div").innerHTML = "<b>x</b>")),
        template: refused(() => (document.createElement("template").innerHTML = "<b>x</b>")),
        worker: refused(() => new Worker("start.js")),
        script: refused(() => (document.createElement("script").text = "1")),
        second: refused(() => trustedTypes.createPolicy("volary", {})),
        other: refused(() => trustedTypes.createPolicy("default", { createHTML: (text) => text })),
      };
    });
    assert.deepEqual(Object.values(refused), Array(6).fill("TypeError"), JSON.stringify(refused));
    // The page itself still works.
    const playground = new Playground(page);
    await playground.act("calculator", { expr: "6 * 7" });
    await playground.says("1 step");
  }));
