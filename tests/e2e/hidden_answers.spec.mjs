// Reviewer-only fields: the correct answer is hidden from the player until the episode is done.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

const masked = (locator) => locator.evaluate((field) => getComputedStyle(field).webkitTextSecurity);

test("the answer is hidden until the episode is done", () =>
  visit({ hash: "#/run/calculator" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const shown = playground.frame.getByRole("tree").getByText("answer", { exact: false });
    assert.equal(await shown.count(), 0, "it is hidden from the first view on");
    const note = playground.frame.getByText("Hidden until the episode is done: answer.");
    // The code that can reveal it is loaded at the first sign of a person.
    await page.mouse.move(600, 400);
    await note.waitFor();
    assert.equal(await shown.count(), 0);
    await playground.frame.getByRole("button", { name: "Copy" }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(copied.includes('"problem"') && !copied.includes('"answer"'), copied);
    await playground.frame.getByRole("button", { name: "Reveal" }).click();
    await shown.first().waitFor();
    assert.equal(await note.count(), 0);
    // Another try hides it again, and a wrong answer is not told the right one.
    await playground.button("Reset").click();
    await note.waitFor();
    await playground.act("submit_answer", { answer: "1" });
    await playground.says("1 step", "done");
    await playground.frame.getByText("1 is wrong.").waitFor();
    await shown.first().waitFor();
    assert.equal(await note.count(), 0);
  }));

for (const [environment, field] of [["calculator", "answer"], ["hotpotqa", "correct_answer"]]) {
  test(`${environment}: the configured answer is masked until it is edited`, () =>
    visit({ hash: `#/run/${environment}` }, async (page) => {
      const playground = new Playground(page);
      await playground.ready();
      assert.ok((await playground.field(field).inputValue()).length > 0);
      assert.equal(await masked(playground.field(field)), "disc");
      await playground.field(field).focus();
      assert.equal(await masked(playground.field(field)), "none");
    }));
}
