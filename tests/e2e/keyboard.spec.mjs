// Keyboard-only operation.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

/** Presses Tab until an element with this role and name has the focus. */
async function tabTo(page, locator) {
  for (let presses = 0; presses < 120; presses += 1) {
    if (await locator.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail("Tab never got there");
}

test("an episode from start to end without a mouse", () =>
  visit({ hash: "#/run/calculator" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await tabTo(page, playground.tools.getByRole("button", { name: "calculator" }));
    await page.keyboard.press("Enter");
    await tabTo(page, page.getByRole("form", { name: "calculator" }).getByLabel("expr"));
    await page.keyboard.type("20 + 22");
    await tabTo(page, playground.button("Add call"));
    await page.keyboard.press("Enter");
    await tabTo(page, playground.button("Step"));
    await page.keyboard.press("Enter");
    await playground.says("1 step");
    await playground.messages().filter({ hasText: "42" }).first().waitFor();
  }));

test("keys move along the episode, and ? lists them", () =>
  visit({ hash: "#/run/counter" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    for (let step = 1; step <= 3; step += 1) {
      await playground.act("incr");
      await playground.says(`${step} step`);
    }
    await page.locator("body").evaluate(() => document.activeElement?.blur());
    const at = (text) => playground.frame.getByText(text, { exact: true }).waitFor();
    await page.keyboard.press("k");
    await at("After step 2");
    await page.keyboard.press("j");
    await at("After step 3");
    await page.keyboard.press("g");
    await at("After the reset");
    await page.keyboard.press("G");
    await at("After step 3");
    // A word explains itself where it is, without a mouse.
    await page.getByRole("button", { name: "What does “seed” mean?" }).focus();
    await page.keyboard.press("Enter");
    const meaning = page.getByText("The same seed gives the same episode.").first();
    await meaning.waitFor();
    await page.keyboard.press("Escape");
    await meaning.waitFor({ state: "hidden" });
    await page.locator("body").evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Help" });
    await help.waitFor();
    const part = (name) => help.getByRole("region", { name });
    await part("Keyboard shortcuts").getByText("Undo the last step").waitFor();
    await part("Glossary").getByText("The episode was stopped from outside").waitFor();
    await part("About").getByText(/^Volary \d+\.\d+\.\d+$/).waitFor();
    // Each document is there.
    for (const link of await part("Documentation").getByRole("link").all()) {
      const reply = await page.request.get(await link.evaluate((link) => link.href));
      assert.ok(reply.ok(), await link.innerText());
    }
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "hidden" });
  }));

test("keys run, undo, reset and share", () =>
  visit({ hash: "#/run/counter" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.policy.selectOption("Random");
    await page.getByRole("form", { name: "Policy settings" }).getByLabel("Maximum steps", { exact: true }).fill("3");
    await page.locator("body").evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("r");
    await playground.says("3 steps");
    await page.keyboard.press("u");
    await playground.says("2 steps");
    await page.keyboard.press("s");
    const share = page.getByRole("dialog", { name: "Share this episode" });
    await share.waitFor();
    await page.keyboard.press("Escape");
    await share.waitFor({ state: "hidden" });
    await page.keyboard.press("R");
    await playground.says("0 steps");
  }));

test("shortcuts do not act in text fields", () =>
  visit({ hash: "#/run/dummy" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const form = await playground.choose("print_story");
    await form.getByLabel("story").focus();
    await page.keyboard.type("jkgG?p");
    assert.equal(await form.getByLabel("story").inputValue(), "jkgG?p");
    assert.equal(await page.getByRole("dialog").count(), 0);
  }));

test("stepping by keyboard keeps the focus, however long a step takes", () =>
  visit({ hash: "#/run/slow" }, async (page) => {
    const playground = new Playground(page);
    await playground.tools.getByRole("button").first().waitFor();
    await playground.showConfiguration();
    await playground.field("tool_seconds").fill("0.6");
    await playground.field("limit_seconds").fill("30");
    await playground.button("Reset").click();
    await playground.says("0 steps");
    await playground.choose("slow_tool");
    const has = (button) => button.evaluate((element) => element === document.activeElement);
    const step = playground.button("Step");
    await step.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Step", exact: true, disabled: true }).waitFor();
    // One frame later the browser would move the focus away from a disabled button.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    assert.ok(await has(step), "the step is under way");
    await page.keyboard.press("Enter");
    await playground.says("1 step");
    assert.ok(await has(step));
    await page.keyboard.press("Enter");
    await playground.says("2 steps");
    const undo = playground.button("Undo");
    await undo.focus();
    for (const left of ["1 step", "0 steps"]) {
      await page.keyboard.press("Enter");
      await playground.says(left);
      assert.ok(await has(undo), left);
    }
    assert.equal(await playground.alert.count(), 0);
  }));
