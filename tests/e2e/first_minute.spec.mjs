// A newcomer's first minute.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { ended, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

after(ended);

test("a problem stands ready, and a hint leads to its reward", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const hint = page.getByRole("complementary", { name: "First steps" });
    assert.equal(await hint.getByRole("listitem").count(), 3);
    assert.equal(await playground.environment.inputValue(), "calculator");
    await playground.says("0 steps");

    await playground.act("calculator", { expr: "6 * 7" });
    await playground.says("1 step");
    assert.match(await playground.messages().last().innerText(), /calculator[\s\S]*42/);

    await playground.policy.selectOption("Oracle");
    await playground.button("Run").click();
    await playground.says("done", "Reward 1.0");
    await playground.button("Reset").click();
    await playground.says("0 steps");
    await hint.waitFor({ state: "hidden" });
    await page.reload();
    await playground.ready();
    assert.equal(await hint.count(), 0, "the hint came back");
  }));

test("the hint goes when it is dismissed", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const hint = page.getByRole("complementary", { name: "First steps" });
    await hint.getByRole("button", { name: /Dismiss/ }).click();
    await hint.waitFor({ state: "hidden" });
  }));

test("pages that are not built are not linked", () =>
  visit({}, async (page) => {
    const links = page.getByRole("navigation").getByRole("link");
    assert.deepEqual(await links.allInnerTexts(), ["Playground"]);
  }));
