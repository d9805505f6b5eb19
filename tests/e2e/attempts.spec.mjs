// State after an attempt: drafts stay; notices and unfinished turns are removed.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { accessible, visit } from "./support/browser.mjs";
import { cast, endless, playedOn } from "./support/models.mjs";
import { Playground } from "./support/playground.mjs";
import { provided } from "./support/providers.mjs";

const provider = provided();
const played = playedOn(provider);

test("arguments typed for a tool survive selecting another tool", () =>
  visit({ hash: "#/run/calculator" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.choose("calculator", { expr: "6 * 7" });
    await playground.choose("submit_answer", { answer: "4" });
    const form = await playground.choose("calculator");
    assert.equal(await form.getByLabel("expr", { exact: true }).inputValue(), "6 * 7");
    const other = await playground.choose("submit_answer");
    assert.equal(await other.getByLabel("answer", { exact: true }).inputValue(), "4");
    // Adding the call consumes the draft.
    await playground.addCall("calculator");
    assert.equal(await (await playground.choose("calculator")).getByLabel("expr", { exact: true }).inputValue(), "");
  }));

test("Run after the end starts a new episode of the same task", () =>
  visit({ hash: "#/run/calculator" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.policy.selectOption("Oracle");
    await playground.button("Run").click();
    await playground.says("1 step", "done");
    await page.getByText("The episode is over. Press Reset").waitFor();
    await playground.button("Run").click();
    // The former episode can be brought back, so this is another one.
    await playground.button("Previous episode").waitFor();
    await playground.says("1 step", "done");
    assert.equal(await playground.alert.count(), 0);
  }));

test("Run leads a person to the choice of who acts", () =>
  visit({ hash: "#/run/calculator" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.button("Run").click();
    const dialog = page.getByRole("dialog", { name: "Who should act?" });
    await dialog.getByRole("link", { name: "Connect model" }).waitFor();
    await accessible(page);
    await dialog.getByRole("button", { name: "Oracle", exact: true }).click();
    await playground.says("1 step", "done");
    assert.equal(await playground.policy.inputValue(), "Oracle");
    assert.equal(await dialog.isVisible(), false);
  }));

test("Run without a model leads to connecting one, and Step says that none is connected", () =>
  visit({ hash: "#/run/dummy" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    await playground.policy.selectOption("Model");
    await playground.button("Step").click();
    await playground.alert.filter({ hasText: "No model is connected." }).waitFor();
    await playground.alert.getByRole("button", { name: "Dismiss" }).click();
    await playground.button("Run").click();
    await page.getByRole("dialog", { name: "Who should act?" }).getByRole("link", { name: "Connect model" }).click();
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    await page.getByRole("link", { name: "Playground", exact: true }).click();
    assert.equal(await playground.policy.inputValue(), "Model");
  }));

test("a notice is removed by the next attempt and is not shown on other pages", () =>
  played({}, async (playground, page) => {
    await endless(playground);
    provider.tell({ script: [{ status: 401, message: "No such key for mock-model" }], otherwise: { calls: [cast(1)] } });
    const fail = async () => {
      await playground.button("Step").click();
      await page.getByRole("button", { name: "Dismiss" }).first().waitFor();
    };
    await fail();
    await playground.act("cast_int", { x: 2 });
    await playground.says("1 step");
    assert.equal(await page.locator(".notices").getByRole("alert").count(), 0, "a success follows");
    provider.tell({ script: [{ status: 401, message: "No such key for mock-model" }] });
    await fail();
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    assert.equal(await page.locator(".notices").getByRole("alert").count(), 0, "another page is shown");
  }));

test("going back after a model's steps leaves no stale turn", () =>
  played({}, async (playground, page) => {
    provider.tell({ otherwise: { calls: [cast(1)] } });
    await endless(playground);
    for (const steps of ["1 step", "2 steps"]) {
      await playground.button("Step").click();
      await playground.says(steps);
    }
    await playground.button("Undo").click();
    await playground.says("1 step");
    await page.waitForTimeout(300);
    assert.equal(await playground.turn.count(), 0);
    assert.equal(await page.getByRole("button", { name: "Stop request" }).count(), 0);
  }));

test("the configuration is disabled while another environment's code loads", async () => {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  // The code that plays.
  const init = (context) => context.route(/split_play\.wasm$/, async (route) => { await held; await route.continue(); });
  await visit({ init }, async (page) => {
    const playground = new Playground(page);
    await playground.tools.getByRole("button").first().waitFor();
    await playground.environment.selectOption("counter");
    assert.ok(await page.locator("[inert]").count() > 0, "the fields of the calculator are inert");
    release();
    await playground.ready();
    await page.waitForFunction(() => document.querySelectorAll("[inert]").length === 0);
  });
});

test("a call whose arguments are not JSON shows them, with the tool's name", () =>
  played({}, async (playground) => {
    provider.tell({ script: [{ calls: [{ name: "cast_int", arguments: '{"x": 1' }] }], otherwise: { calls: [cast(1)] } });
    await endless(playground);
    await playground.button("Step").click();
    await playground.says("1 step");
    await playground.transcript.getByText("arguments are not valid JSON").waitFor();
    await playground.transcript.getByText('{"x": 1', { exact: true }).waitFor();
    await playground.transcript.getByText("cast_int", { exact: true }).first().waitFor();
  }));
