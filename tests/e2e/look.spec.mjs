// Every environment at both sizes and in both themes: nothing overflows, axe reports nothing.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { SIZES, accessible, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

async function fits(page) {
  const { content, window } = await page.evaluate(() => ({
    content: document.documentElement.scrollWidth,
    window: document.documentElement.clientWidth,
  }));
  assert.ok(content <= window, `the page is ${content - window} px too wide`);
}

for (const size of Object.keys(SIZES)) {
  for (const theme of ["light", "dark"]) {
    test(`an episode, ${size}, ${theme}`, () =>
      visit({ size, theme }, async (page) => {
        const playground = new Playground(page);
        await playground.ready();
        await fits(page);
        await accessible(page);
        await playground.act("calculator", { expr: "1 / 0 + 2 * (3 - 4)" });
        await playground.says("1 step");
        await fits(page);
        await accessible(page);
        for (const environment of ["dummy", "counter", "hands", "slow", "faults"]) {
          await playground.environment.selectOption(environment);
          await playground.tools.getByRole("button").first().waitFor();
          await fits(page);
          await accessible(page);
        }
      }));
  }
}

test("dialogs and alerts are accessible in both themes", async () => {
  for (const theme of ["light", "dark"]) {
    await visit({ theme }, async (page) => {
      const playground = new Playground(page);
      await playground.ready();
      await playground.button("Export").click();
      await page.getByRole("dialog").waitFor();
      await accessible(page);
      await page.keyboard.press("Escape");
      await playground.button("Share").click();
      await page.getByRole("dialog").waitFor();
      await accessible(page);
      await page.keyboard.press("Escape");
    });
  }
});

test("printing shows the transcript only", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.act("calculator", { expr: "1 + 1" });
    await playground.says("1 step");
    await page.emulateMedia({ media: "print" });
    assert.ok(await playground.messages().first().isVisible());
    for (const hidden of [playground.environment, playground.button("Step"), playground.slider]) {
      assert.ok(!(await hidden.isVisible()), "controls are printed");
    }
  }));

test("a long episode is printed completely, and scrolls as before afterwards", () =>
  visit({ hash: "#/run/dummy", axe: false }, async (page) => {
    const playground = new Playground(page);
    await playground.plays(60);
    const steps = () => page.locator("[data-step]").count();
    const seen = await steps();
    assert.ok(seen < 40, `${seen} steps stand on the page`);
    await page.evaluate(() => {
      globalThis.printed = 0;
      // The page's own listener runs first.
      addEventListener("beforeprint", () => {
        globalThis.printed = document.querySelectorAll("[data-step]").length;
      });
    });
    await page.pdf();
    assert.equal(await page.evaluate(() => globalThis.printed), 61);
    await page.waitForFunction(() => document.querySelectorAll("[data-step]").length < 40);
  }));
