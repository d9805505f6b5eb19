// A smoke journey in Firefox and WebKit: play, Review, storage, and a pupil's hand-in as a file work. All other journeys
// run in Chromium.

import { deflateSync } from "node:zlib";
import { test } from "@playwright/test";

import { HOME } from "./support/browser.mjs";
import { firefox, webkit } from "./support/other_browsers.mjs";

const { VOLARY_FIREFOX, VOLARY_WEBKIT_DRIVER, VOLARY_WEBKIT } = process.env;

// Step is disabled while the playground's code is loading.
const enabled = (name) => `//button[normalize-space()='${name}' and @aria-disabled='false']`;
const field = (name) => `//form[@aria-label='calculator']//*[(self::input or self::textarea) and @id=//label[normalize-space()='${name}']/@for]`;

/** The link of an assignment without a class server. */
const ASSIGNMENT = JSON.stringify({
  format: "volary-assignment",
  version: 1,
  id: "9f2c",
  title: "Counting",
  deadline: "",
  tasks: [{ title: "Count", environment: "counter" }],
});
const GIVEN = `1${deflateSync(ASSIGNMENT).toString("base64url")}`;

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
    // A pupil plays a task and hands in a file.
    await browser.open(`${HOME}?class#/class?a=${GIVEN}`);
    await browser.click("//button[normalize-space()='Start']");
    await browser.click("//button[normalize-space()='incr']");
    await browser.click("//button[normalize-space()='Send']");
    await browser.find("//*[@role='status' and contains(., 'You started 1 of 1 task.')]");
    await browser.type("//input[@id=//label[normalize-space()='Your name']/@for]", "Ada\t");
    await browser.click("//button[normalize-space()='Save the file to hand in']");
    await browser.find("//*[@role='status' and contains(., 'Saved on')]");
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
