// A smoke journey in Firefox and WebKit: play, Review and storage work. All other journeys run in Chromium.

import { test } from "@playwright/test";

import { HOME } from "./support/browser.mjs";
import { firefox, webkit } from "./support/other_browsers.mjs";

const { VOLARY_FIREFOX, VOLARY_WEBKIT_DRIVER, VOLARY_WEBKIT } = process.env;

// Step is disabled while the playground's code is loading.
const enabled = (name) => `//button[normalize-space()='${name}' and @aria-disabled='false']`;
const field = (name) => `//form[@aria-label='calculator']//*[(self::input or self::textarea) and @id=//label[normalize-space()='${name}']/@for]`;

async function journey(browser) {
  try {
    await browser.open(`${HOME}#/run/calculator`);
    await browser.click("//ul[@aria-label='Tools']//button[normalize-space()='calculator']");
    await browser.type(field("expr"), "6 * 7");
    await browser.click(enabled("Step"));
    await browser.find("//*[@role='log']//*[normalize-space()='42']");
    await browser.find("//*[@role='status' and @aria-label='Episode' and contains(., '1 step')]");
    // Leaving the episode stores it, and the next visit finds it.
    await browser.click("//nav//a[normalize-space()='Review']");
    const row = "//*[@role='table' or self::table]//a[contains(., 'calculator')]";
    await browser.find(row);
    // Another address of the same page, because a driver may return from a reload before it has begun.
    await browser.open(`${HOME}?again#/review`);
    await browser.click(row);
    await browser.find("//*[@role='log']//*[normalize-space()='42']");
  } catch (error) {
    const text = await browser.text().catch(String);
    throw new Error(`${error.message}\nThe page says:\n${text}`, { cause: error });
  } finally {
    await browser.close();
  }
}

test("Firefox plays, reviews and stores an episode", async () => {
  test.skip(!VOLARY_FIREFOX, "Firefox is not installed");
  await journey(await firefox(VOLARY_FIREFOX));
});

test("WebKit plays, reviews and stores an episode", async () => {
  test.skip(!VOLARY_WEBKIT, "WebKit's driver is not installed");
  await journey(await webkit(VOLARY_WEBKIT_DRIVER, VOLARY_WEBKIT));
});
