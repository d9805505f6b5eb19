// Long episodes stay light.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { ended, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

after(ended);

test("ten thousand steps: the page holds few of them, and any can be reached", () =>
  visit({ hash: "#/run/dummy" }, async (page) => {
    const playground = new Playground(page);
    await playground.plays(10_000);
    await playground.says("truncated");
    // However fast the steps came, who was at the end still is.
    await playground.transcript.getByRole("button", { name: "10,000", exact: true }).waitFor();
    assert.equal(await playground.button("To the end").count(), 0);
    const elements = await page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(elements < 8000, `${elements} elements`);
    // Nor does it grow while another page is shown.
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    await page.waitForTimeout(1000);
    const blocks = await page.evaluate(() => document.querySelectorAll("[data-step]").length);
    assert.ok(blocks < 30, `${blocks} blocks`);
    await page.getByRole("link", { name: "Playground", exact: true }).click();
    await playground.transcript.getByRole("button", { name: "10,000", exact: true }).waitFor();
    assert.equal(await playground.button("To the end").count(), 0);
    await playground.slider.focus();
    await page.keyboard.press("Home");
    await playground.frame.getByText("After the reset").waitFor();
    await playground.messages().filter({ hasText: "Write a 5 word story" }).first().waitFor();
    await page.keyboard.press("End");
    await playground.frame.getByText(/After step 10,?000/).waitFor();
  }));
