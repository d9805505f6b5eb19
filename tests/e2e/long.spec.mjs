// Long episodes stay light.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { ended, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

after(ended);

test("ten thousand steps: the page holds few of them, and any can be reached", () =>
  visit({ hash: "#/run/dummy" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.field("end_immediately").uncheck();
    await playground.button("Reset").click();
    await playground.says("0 steps");
    await playground.policy.selectOption("Random");
    const settings = page.getByRole("form", { name: "Policy settings" });
    await settings.getByLabel("Maximum steps", { exact: true }).fill("10000");
    await playground.button("Run").click();
    await playground.status.filter({ hasText: "10,000 steps" }).waitFor({ timeout: 120_000 });
    await playground.says("truncated");
    const elements = await page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(elements < 8000, `${elements} elements`);
    await playground.slider.focus();
    await page.keyboard.press("Home");
    await playground.frame.getByText("After the reset").waitFor();
    await playground.messages().filter({ hasText: "Write a 5 word story" }).first().waitFor();
    await page.keyboard.press("End");
    await playground.frame.getByText(/After step 10,?000/).waitFor();
  }));
