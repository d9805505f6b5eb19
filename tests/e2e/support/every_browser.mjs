// Chromium, Firefox and WebKit with the same few calls, for probes that must fail in all of them.

import { test } from "@playwright/test";

import { launched } from "./browser.mjs";
import { firefox, webkit } from "./other_browsers.mjs";

const { VOLARY_FIREFOX, VOLARY_WEBKIT_DRIVER, VOLARY_WEBKIT } = process.env;

/** Chromium with the calls that the other browsers have. */
async function chromium() {
  const context = await (await launched()).newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  return {
    open: (url) => page.goto(url),
    find: (xpath) => page.locator(`xpath=${xpath}`).first().waitFor(),
    click: (xpath) => page.locator(`xpath=${xpath}`).click(),
    text: () => page.evaluate(() => document.body.innerText),
    run: async (body, frame) => {
      const target = frame ? await (await page.waitForSelector(frame)).contentFrame() : page;
      return target.evaluate(`(async () => { ${body} })()`);
    },
    close: () => context.close(),
  };
}

const BROWSERS = [
  { name: "Chromium", open: chromium, isThere: true },
  { name: "Firefox", open: () => firefox(VOLARY_FIREFOX), isThere: VOLARY_FIREFOX },
  { name: "WebKit", open: () => webkit(VOLARY_WEBKIT_DRIVER, VOLARY_WEBKIT), isThere: VOLARY_WEBKIT },
];

/** A test for each browser. `journey` gets the open browser. The tests of a browser that is not installed are skipped. */
export function inEveryBrowser(title, journey) {
  for (const { name, open, isThere } of BROWSERS) {
    test(`${title}, in ${name}`, async () => {
      test.skip(!isThere, `${name} is not installed`);
      const browser = await open();
      try {
        await journey(browser);
      } catch (error) {
        const text = await browser.text().catch(String);
        throw new Error(`${error.message}\nThe page says:\n${text}`, { cause: error });
      } finally {
        await browser.close();
      }
    });
  }
}
