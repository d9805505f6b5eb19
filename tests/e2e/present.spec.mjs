// Presentations by keyboard only: a lesson, a sequence of links, and an episode of Review.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { HOME, accessible, visit } from "./support/browser.mjs";

test("a lesson and a sequence are presented by keyboard only", () =>
  visit({ hash: "#/learn/agent-loop" }, async (page) => {
    const press = (key) => page.keyboard.press(key);
    const position = (text) => page.getByText(text, { exact: true }).waitFor();
    await page.getByRole("button", { name: "Present" }).focus();
    await press("Enter");
    const shown = page.getByRole("region", { name: /^Presentation:/ });
    await shown.getByRole("heading", { level: 1 }).waitFor();
    await page.getByRole("navigation", { name: "Main" }).waitFor({ state: "hidden" });
    // As a clicker does, through texts to the episode, whose steps appear one by one.
    const bakery = page.getByRole("region", { name: "A short episode" });
    for (let slide = 2; !(await bakery.isVisible()); slide++) {
      await press("PageDown");
      await page.getByText(new RegExp(`^${slide} of `)).waitFor();
    }
    await page.getByText(/step 0 of 2$/).waitFor();
    assert.equal(await bakery.getByRole("listitem").filter({ hasText: "Step 1" }).count(), 0);
    await press("Space");
    await page.getByText(/step 1 of 2$/).waitFor();
    await press("ArrowRight");
    await page.getByText(/step 2 of 2$/).waitFor();
    await accessible(page);
    await page.bringToFront();
    await press("PageUp");
    await page.getByText(/step 1 of 2$/).waitFor();
    assert.match(page.url(), /#\/learn\/agent-loop\?slide=\d+$/);
    await press("Escape");
    await page.getByRole("button", { name: "Present" }).waitFor();
    assert.match(page.url(), /#\/learn\/agent-loop$/);
    // A key before the slides of another lesson are there has no effect.
    await page.goto(`${HOME}#/learn/tools?slide=2`);
    await press("PageDown");
    await page.getByText(/^[23] of /).waitFor();
    // Left by an address, it leaves nothing behind.
    await page.goto(`${HOME}#/settings`);
    await page.getByRole("navigation", { name: "Main" }).waitFor();

    // A sequence: a form makes the link of a talk.
    await page.goto(`${HOME}#/learn/present`);
    await page.getByRole("textbox", { name: "Links" }).fill("#/run/calculator?task=easy-02\n#/run/counter\n");
    await page.getByText("2 slides").waitFor();
    await press("Tab");
    await press("Enter");
    const task = page.getByRole("region", { name: /easy-02/ });
    await position("1 of 2");
    await task.getByRole("button", { name: "Play", exact: true }).focus();
    await press("Space");
    await task.getByRole("button", { name: "submit_answer" }).focus();
    await press("Enter");
    await task.getByLabel("answer").focus();
    await page.keyboard.type("1");
    await press("Enter");
    await position("1 of 2 · step 1 of 1");
    await press("PageDown");
    await page.getByRole("region", { name: "counter" }).waitFor();
    await position("2 of 2");
    await press("Escape");
    await page.getByRole("textbox", { name: "Links" }).waitFor();
  }));
