// Misbehaving environments and invalid inputs: the page reports them and continues.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

async function faults(page) {
  const playground = new Playground(page);
  await playground.ready();
  return playground;
}

test("a panic ends its episode, not the page", () =>
  visit({ hash: "#/run/faults", allowedErrors: [/unreachable|panicked|crash/i] }, async (page) => {
    const playground = await faults(page);
    await playground.act("nest", { depth: 3 });
    await playground.says("1 step");
    await playground.act("crash");
    await playground.alert.waitFor();
    await playground.says("crashed");
    assert.ok((await playground.messages().count()) >= 3, "the steps before are kept");
    await playground.alert.getByRole("button", { name: "Dismiss" }).click();
    await playground.button("Reset").click();
    await playground.says("0 steps", "in progress");
    await playground.act("nest", { depth: 2 });
    await playground.says("1 step");
  }));

test("a hanging step can be stopped, and the previous steps stay", () =>
  visit({ hash: "#/run/faults" }, async (page) => {
    const playground = await faults(page);
    await playground.act("nest", { depth: 1 });
    await playground.says("1 step");
    await playground.act("wait", { seconds: 50 });
    await playground.button("Stop").click();
    await playground.act("nest", { depth: 2 });
    await playground.says("2 steps");
  }));

test("a flood of text is folded, and its size is shown", () =>
  visit({ hash: "#/run/faults" }, async (page) => {
    const playground = await faults(page);
    await playground.act("flood", { megabytes: 10 });
    await playground.says("1 step");
    await playground.transcript.getByText(/10\.\d MB/).first().waitFor();
    const characters = await page.evaluate(() => document.body.textContent.length);
    assert.ok(characters < 500_000, `${characters} characters in the page`);
  }));

test("hostile texts stay texts", () =>
  visit({ hash: "#/run/faults" }, async (page) => {
    const playground = await faults(page);
    const title = await page.title();
    await playground.act("markup");
    await playground.says("1 step");
    await playground.act("fail", { text: "<img src=x onerror=\"document.title='caught'\">" });
    await playground.says("2 steps");
    assert.equal(await page.title(), title);
    assert.equal(await page.locator("main script, main iframe").count(), 0);
    assert.equal(await page.locator("main img[src='x']").count(), 0);
  }));

test("numbers that JSON cannot represent are shown", () =>
  visit({ hash: "#/run/faults" }, async (page) => {
    const playground = await faults(page);
    await playground.act("bad_numbers");
    await playground.says("1 step");
    await playground.frame.getByText(/nan/i).first().waitFor();
  }));

for (const hash of [
  "#/run/no-such-environment",
  "#/nowhere/at/all",
  "#/run/calculator?e=%%%",
  "#/run/calculator?e=v1.AAAA",
  "#/run/calculator?step=99999999999999999999",
  `#/run/${"x".repeat(5000)}`,
]) {
  test(`the address ${hash.slice(0, 40)} still opens a playground`, () =>
    visit({ hash }, async (page) => {
      const playground = new Playground(page);
      await playground.ready();
      await playground.says("0 steps");
    }));
}
