// Alternative inputs: raw JSON instead of forms, playback instead of arrow keys, the clipboard.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

const copied = (page) => page.evaluate(() => navigator.clipboard.readText());

test("raw JSON arguments are accepted, or the error is shown", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const form = await playground.choose("calculator");
    await form.getByRole("button", { name: "Raw JSON" }).click();
    const raw = form.getByLabel("JSON", { exact: true });
    await raw.fill('{"expr": 5');
    await playground.button("Step").click();
    // The argument checker may still have to load.
    await form.locator('textarea[aria-invalid="true"], input[aria-invalid="true"]').first().waitFor();
    await playground.says("0 steps");
    await raw.fill('{"expr": "5 * 5"}');
    await playground.button("Step").click();
    await playground.says("1 step");
    await playground.messages().filter({ hasText: "25" }).first().waitFor();
  }));

test("playback runs through the episode and stops at its end", () =>
  visit({ hash: "#/run/counter" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.policy.selectOption("Oracle");
    await playground.button("Run").click();
    await playground.says("10 steps", "done");
    await page.getByRole("combobox", { name: "Speed" }).selectOption("20");
    await playground.button("Play").click();
    await playground.frame.getByText(/After (the reset|step [1-9])$/).waitFor();
    await playground.frame.getByText("After step 10").waitFor();
    await playground.button("Play").waitFor();
  }));

test("messages, frames and links can be copied", () =>
  visit({}, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.act("calculator", { expr: "6 * 7" });
    await playground.says("1 step");
    await playground.messages().last().getByRole("button", { name: "Copy" }).click();
    await page.getByText("Copied").first().waitFor();
    assert.equal(await copied(page), "42");
    await playground.frame.getByRole("button", { name: "Copy" }).click();
    await playground.frame.getByText("Copied").waitFor();
    assert.ok("state" in JSON.parse(await copied(page)));
    await playground.button("Share").click();
    const dialog = page.getByRole("dialog", { name: "Share this episode" });
    await dialog.getByRole("button", { name: "Copy link" }).click();
    await dialog.getByText("Copied").waitFor();
    assert.equal(await copied(page), await dialog.getByLabel("Link").inputValue());
  }));

test("a link leads to the step where it was made, and the address follows", () =>
  visit({ hash: "#/run/counter" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    for (const steps of ["1 step", "2 steps"]) {
      await playground.act("incr");
      await playground.says(steps);
    }
    // An address without the episode names no step.
    assert.doesNotMatch(page.url(), /step=/);
    await playground.slider.focus();
    await page.keyboard.press("Home");
    await playground.frame.getByText("After the reset").waitFor();
    await playground.button("Share").click();
    const dialog = page.getByRole("dialog", { name: "Share this episode" });
    const link = await dialog.getByLabel("Link").inputValue();
    await page.goto("about:blank");
    await page.goto(link);
    await playground.says("2 steps");
    await playground.frame.getByText("After the reset").waitFor();
    await playground.slider.focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/step=1/);
    await page.keyboard.press("End");
    await page.waitForURL((url) => !url.hash.includes("step="));
    await page.reload();
    await playground.frame.getByText("After step 2").waitFor();
  }));

test("a disabled Step says why, and what to do instead", () =>
  visit({ hash: "#/run/counter" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.policy.selectOption("Oracle");
    await playground.button("Run").click();
    await playground.says("10 steps", "done");
    assert.ok(await playground.button("Step").isDisabled());
    await page.getByText("The episode is over.").waitFor();
    await playground.button("Undo").click();
    await playground.says("9 steps", "in progress");
    await playground.act("incr");
    await playground.says("10 steps", "done");
  }));

test("an invalid script marks its field", () =>
  visit({ hash: "#/run/counter" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.policy.selectOption("Scripted");
    const script = page.getByRole("form", { name: "Policy settings" }).getByLabel("Script", { exact: true });
    await script.fill('[{"name": "incr", ');
    await playground.button("Run").click();
    await page.locator("[aria-invalid=true]").waitFor();
    await playground.says("0 steps");
    await script.fill('[{"name": "incr", "arguments": {}}, {"name": "incr", "arguments": {}}]');
    await playground.button("Run").click();
    await playground.says("2 steps");
  }));

test("a reload brings task, seed, policy, steps and selection back", () =>
  visit({ hash: "#/run/calculator" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const task = page.getByRole("combobox", { name: "Task" });
    // The first interaction loads the other tasks.
    await page.mouse.move(10, 10);
    await task.selectOption({ index: 3 });
    const chosen = await task.inputValue();
    await page.getByRole("textbox", { name: "Seed", exact: true }).fill("7");
    await playground.button("Reset").click();
    await playground.policy.selectOption("Random");
    await page.waitForURL(/task=.*seed=7.*policy=random/);
    const restored = async () => {
      await page.reload();
      await playground.ready();
      assert.equal(await task.inputValue(), chosen);
      assert.equal(await page.getByRole("textbox", { name: "Seed", exact: true }).inputValue(), "7");
      assert.equal(await playground.policy.inputValue(), "Random");
    };
    await restored();
    await playground.policy.selectOption("Manual");
    await playground.act("calculator", { expr: "1 + 1" });
    await playground.says("1 step");
    await playground.policy.selectOption("Random");
    await page.waitForURL(/policy=random.*e=/);
    await restored();
    await playground.says("1 step");
    await playground.slider.focus();
    await page.keyboard.press("Home");
    await page.waitForURL(/step=0/);
    await restored();
    await playground.frame.getByText("After the reset").waitFor();
  }));

test("a reload brings back an episode that is too long for an address", () =>
  // Leaving a page cancels the code that it is loading, which browsers log as an error.
  visit({ hash: "#/run/dummy", allowedErrors: [/Failed to fetch|compilation aborted/] }, async (page) => {
    const playground = new Playground(page);
    await playground.plays(600);
    // It is stored when the user leaves it.
    await page.getByRole("link", { name: "Review", exact: true }).click();
    await page.getByRole("link", { name: "Playground", exact: true }).click();
    await page.waitForURL(/id=played-/);
    await page.reload();
    await playground.says("600 steps");
  }));
