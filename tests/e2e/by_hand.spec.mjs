// Environments played by hand in the playground.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

test("dummy: a story, its frame and its reward", () =>
  visit({ hash: "#/run/dummy" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    assert.equal(await playground.environment.inputValue(), "dummy");
    await playground.field("task").fill("owls");
    await playground.button("Reset").click();
    await playground.messages().filter({ hasText: "about owls" }).waitFor();
    await playground.act("print_story", { story: "An owl hooted all night" });
    await playground.says("1 step", "Reward 1.0", "done");
    await playground.frame.getByText("After step 1").waitFor();
    await playground.frame.getByRole("tree").getByText("reward").first().waitFor();
  }));

test("several calls make one action, and each response is linked to its call", () =>
  visit({ hash: "#/run/dummy" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.addCall("cast_int", { x: 7.9 });
    await playground.addCall("cast_float", { x: "2.5" });
    const calls = page.getByRole("list", { name: "Calls in this action" });
    assert.equal(await calls.getByRole("listitem").count(), 2);
    await playground.button("Step").click();
    await playground.says("1 step");
    // The message of the reset, the action, and two responses.
    assert.equal(await playground.messages().count(), 4);
    const answer = playground.messages().filter({ hasText: "cast_float" }).last();
    await answer.getByRole("button", { name: /call/i }).click();
    const action = playground.messages().nth(1);
    assert.ok(await action.evaluate((item) => item.contains(document.activeElement) || item === document.activeElement));
  }));

test("counter: undo to any step and continue differently", () =>
  visit({ hash: "#/run/counter" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    for (let step = 1; step <= 3; step += 1) {
      await playground.act("incr");
      await playground.says(`${step} step`);
    }
    await playground.messages().filter({ hasText: "counter=3" }).waitFor();
    await playground.slider.focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await playground.frame.getByText("After step 1").waitFor();
    await page.getByRole("button", { name: "Continue from here" }).nth(1).click();
    await playground.says("1 step");
    await playground.act("decr");
    await playground.says("2 steps");
    await playground.messages().filter({ hasText: "counter=0" }).last().waitFor();
    // Both ways are kept, and compared in one click.
    await page.getByRole("link", { name: "Compare with before" }).click();
    await page.getByRole("status").filter({ hasText: "First difference: step 2" }).waitFor();
    await page.getByRole("link", { name: "counter" }).first().click();
    await page.getByText("1 fork", { exact: true }).click();
    const forks = page.getByRole("list", { name: "Forks" });
    await forks.getByText("forked after step 1, 2 steps").waitFor();
    await forks.getByRole("link", { name: /^Compare with/ }).click();
    await page.getByRole("status").filter({ hasText: "First difference: step 2" }).waitFor();
  }));

test("hands: a broken hand fails its step, and the episode continues", () =>
  visit({ hash: "#/run/hands" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.field("right_hand_broken").check();
    await playground.button("Reset").click();
    await playground.says("0 steps");
    await playground.act("move_right_hand", { distance: 5 });
    await playground.transcript.getByText("Right hand is broken.").first().waitFor();
    // The error is shown in place of the response: it can be copied, and call and error link to each other.
    const call = playground.messages().filter({ hasText: "assistant" }).last();
    const failure = playground.messages().filter({ hasText: "This step failed" });
    const holdsFocus = (item) => item.evaluate((item) => item.contains(document.activeElement));
    await call.getByRole("button", { name: "Go to result" }).click();
    assert.ok(await holdsFocus(failure));
    await failure.getByRole("button", { name: "Go to call" }).click();
    assert.ok(await holdsFocus(call));
    await failure.getByRole("button", { name: "Copy" }).click();
    await page.getByText("Copied").first().waitFor();
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /Right hand is broken\.$/);
    await playground.act("move_left_hand", { distance: 5 });
    await playground.act("smile_and_wave");
    await playground.says("done");
    await playground.frame.getByRole("img").first().waitFor();
  }));

test("slow: the first task succeeds, and a timeout fails its step", () =>
  visit({ hash: "#/run/slow" }, async (page) => {
    const playground = new Playground(page);
    await playground.tools.getByRole("button").first().waitFor();
    await playground.act("slow_tool");
    await playground.says("1 step");
    await playground.frame.getByText(/0\.00 s to 0\.\d\d s/).waitFor();
    await page.getByRole("combobox", { name: "Task", exact: true }).selectOption({ label: "Calls over their limit: the step fails" });
    await playground.says("0 steps");
    await playground.act("slow_tool");
    await playground.transcript.getByText(/TimeoutError/).first().waitFor();
    await playground.says("1 step");
  }));

test("calculator: arguments are checked before anything runs", () =>
  visit({ hash: "#/run/calculator" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const form = await playground.choose("calculator");
    await form.getByLabel("expr", { exact: true }).fill("");
    await playground.field("answer").fill("many");
    await playground.button("Reset").click();
    await playground.configuration.locator("[aria-invalid=true]").waitFor();
    assert.equal(await playground.field("answer").getAttribute("aria-invalid"), "true");
    await playground.says("0 steps");
  }));

test("an expression that would freeze a tab is rejected at once", () =>
  visit({ hash: "#/run/calculator" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.act("calculator", { expr: "9**9**9" });
    await playground.transcript.getByText(/Error using calculator/).waitFor();
  }));
