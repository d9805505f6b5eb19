// Policies that need no model.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

const setting = (page, name) =>
  page.getByRole("form", { name: "Policy settings" }).getByLabel(name, { exact: true });

test("random: equal seeds act alike, and the step limit truncates", () =>
  visit({ hash: "#/run/counter" }, async (page) => {
    // High enough that no message is out of sight: those need not stand on the page.
    await page.setViewportSize({ width: 1440, height: 2000 });
    const playground = new Playground(page);
    await playground.ready();
    const run = async () => {
      await playground.policy.selectOption("Random");
      await setting(page, "Maximum steps").fill("6");
      await setting(page, "Delay").fill("0");
      await playground.button("Run").click();
      await playground.says("6 steps", "truncated");
      return playground.messages().allInnerTexts();
    };
    const first = await run();
    await playground.button("Reset").click();
    await playground.says("0 steps");
    const second = await run();
    const words = (texts) => texts.map((text) => text.replaceAll(/[\d.]+ m?s/g, ""));
    assert.deepEqual(words(second), words(first));
  }));

test("a run can be stopped and continued by hand", () =>
  visit({ hash: "#/run/dummy" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.field("end_immediately").uncheck();
    await playground.button("Reset").click();
    await playground.policy.selectOption("Random");
    await setting(page, "Delay").fill("0.2");
    await playground.button("Run").click();
    await playground.says("2 steps");
    await playground.button("Stop").click();
    await playground.button("Run").waitFor();
    const steps = await playground.steps();
    await playground.act("cast_int", { x: 3 });
    await playground.says(`${steps + 1} step`);
  }));

test("shared settings are kept when the policy changes, also after manual play", () =>
  visit({ hash: "#/run/counter" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.policy.selectOption("Random");
    await setting(page, "Maximum steps").fill("7");
    await setting(page, "Delay").fill("0.5");
    for (const policy of ["Manual", "Scripted", "Model", "Random"]) {
      await playground.policy.selectOption(policy);
      if (policy === "Manual" || policy === "Model") continue;
      assert.equal(await setting(page, "Maximum steps").inputValue(), "7", policy);
      assert.equal(await setting(page, "Delay").inputValue(), "0.5", policy);
    }
    // Whatever else is filled in, and as far as it can be.
    await playground.policy.selectOption("Scripted");
    await setting(page, "Script").fill("no script");
    await setting(page, "Maximum steps").fill("9");
    await setting(page, "Delay").fill("-1");
    await playground.button("Run").click();
    await playground.policy.selectOption("Random");
    assert.equal(await setting(page, "Maximum steps").inputValue(), "9");
    assert.equal(await setting(page, "Delay").inputValue(), "0.5");
  }));

test("scripted: the actions of an episode are edited and run again", () =>
  visit({ hash: "#/run/counter" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.act("incr");
    await playground.act("incr");
    await playground.says("2 steps");
    await playground.policy.selectOption("Scripted");
    await playground.button("Use this episode's actions").click();
    await playground.button("Reset").click();
    await playground.says("0 steps");
    await setting(page, "Delay").fill("0");
    await playground.button("Run").click();
    await playground.says("2 steps");
    await playground.messages().filter({ hasText: "counter=2" }).waitFor();
  }));

test("the oracle is offered for environments that have one", () =>
  visit({ hash: "#/run/calculator" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.policy.selectOption("Oracle");
    await playground.button("Run").click();
    await playground.says("done", "Reward 1.0");
    await playground.pick("faults");
    const options = await playground.policy.getByRole("option").allInnerTexts();
    assert.ok(!options.some((option) => option.includes("Oracle")));
    assert.ok(options.includes("Random (any tool, any values)"));
  }));
