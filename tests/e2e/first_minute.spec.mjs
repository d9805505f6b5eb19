// A newcomer's first minute.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { SIZES, inWorkers, visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

test("a problem is ready, and the guide leads to its reward", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const hint = page.getByRole("complementary", { name: "First steps" });
    assert.equal(await hint.getByRole("listitem").count(), 3);
    assert.equal(await playground.environment.inputValue(), "calculator");
    await playground.says("0 steps");

    // The frame does not repeat the problem; set-up, tool and its buttons fit a small laptop.
    assert.equal(await playground.frame.getByText("Problem", { exact: true }).count(), 0);
    await page.setViewportSize({ width: 1280, height: 720 });
    const { y, height } = await playground.button("Add call").boundingBox();
    assert.ok(y + height <= 720, `Add call ends at ${y + height}`);
    await page.setViewportSize(SIZES.wide);

    await playground.act("calculator", { expr: "6 * 7" });
    await playground.says("1 step");
    assert.match(await playground.messages().last().innerText(), /calculator[\s\S]*42/);
    const results = playground.frame.getByRole("table", { name: "Calculations" });
    await results.getByRole("row").first().waitFor();
    assert.deepEqual(await results.getByRole("row").allInnerTexts(), ["6 * 7 → 42"]);

    await playground.policy.selectOption("Oracle");
    await playground.button("Run").click();
    await playground.says("done", "Reward 1.0");
    await hint.waitFor({ state: "hidden" });
    const next = page.getByRole("complementary", { name: "Next task" });
    const [, title] = (await next.innerText()).match(/^(.*)/);
    await next.getByRole("button", { name: "Next task" }).click();
    await playground.says("0 steps", "open");
    await next.waitFor({ state: "hidden" });
    const task = page.getByRole("combobox", { name: "Task", exact: true });
    assert.equal(await task.locator("option:checked").innerText(), title);
    await page.reload();
    await playground.ready();
    assert.equal(await hint.count(), 0, "the hint came back");
  }));

test("on a phone the problem and the next action are on the first screen", () =>
  visit({ size: "narrow" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const expression = page.getByRole("form", { name: "calculator" }).getByLabel("expr", { exact: true });
    // The bar with Step is always on top.
    const seen = [playground.button("Step"), playground.messages().first(), playground.tools, expression];
    const tops = [];
    for (const part of seen) {
      const { y } = await part.boundingBox();
      assert.ok(y < SIZES.narrow.height, `${part} is at ${y}`);
      tops.push(y);
    }
    assert.deepEqual(tops, [...tops].sort((a, b) => a - b), "the problem comes first");
    for (const name of ["Transcript", "Tools", "Setup", "Frame", "Policy"]) {
      await page.getByRole("navigation", { name: "Panes" }).getByRole("button", { name, exact: true }).click();
    }
    // The target of a jump is not hidden below the bar.
    await page.getByRole("navigation", { name: "Panes" }).getByRole("button", { name: "Setup" }).click();
    await playground.environment.click({ trial: true });
  }));

test("controls do not move when the tools load", () =>
  visit({ hash: "#/run/dummy", init: inWorkers("for (const end = Date.now() + 1000; Date.now() < end; );") }, async (page) => {
    const playground = new Playground(page);
    const box = playground.field("end_immediately");
    await box.waitFor();
    const seen = await box.boundingBox();
    await playground.tools.getByRole("button", { name: "print_story", exact: true }).waitFor();
    assert.deepEqual(await box.boundingBox(), seen);
  }));

test("after a mistake that ends the episode, the guide says how to continue", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const hint = page.getByRole("complementary", { name: "First steps" });
    await playground.act("calculator", { expr: "6 *" });
    await playground.says("done");
    await hint.getByText("A failed step ended the episode. Press Undo and try again.").waitFor();
    await playground.button("Undo").click();
    await playground.says("0 steps", "open");
    await hint.getByText("Submit your answer").waitFor();
  }));

test("the guide can be dismissed", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const hint = page.getByRole("complementary", { name: "First steps" });
    await hint.getByRole("button", { name: /Dismiss/ }).click();
    await hint.waitFor({ state: "hidden" });
  }));

test("every linked page exists", () =>
  visit({}, async (page) => {
    const links = page.getByRole("navigation", { name: "Main" }).getByRole("link");
    await links.first().waitFor();
    const names = await links.allInnerTexts();
    const known = ["Playground", "Review", "Evaluate", "Environments", "Learn", "Settings"];
    assert.deepEqual(names, known.filter((name) => names.includes(name)));
    assert.equal(names[0], "Playground");
    for (const name of names.reverse()) {
      await links.filter({ hasText: name }).click();
      await page.locator(`nav a[aria-current=page]`).filter({ hasText: name }).waitFor();
      await page.getByRole("main").getByRole("heading").first().waitFor();
      assert.equal(await page.getByRole("alert").count(), 0);
    }
  }));
