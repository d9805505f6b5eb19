// Reviewer-only fields: the correct answer is hidden from the player while they may still find it.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { visit } from "./support/browser.mjs";
import { Playground } from "./support/playground.mjs";

const masked = (locator) => locator.evaluate((field) => getComputedStyle(field).webkitTextSecurity);

test("the answer is hidden while the player may still try", () =>
  visit({ hash: "#/run/calculator" }, async (page) => {
    const playground = new Playground(page);
    await playground.ready();
    const shown = playground.frame.getByRole("tree").getByText("answer", { exact: false });
    assert.equal(await shown.count(), 0, "it is hidden from the first view on");
    const note = playground.frame.getByText("Hidden while you can still try: answer.");
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
    // Another try hides it again. A wrong answer is not told the right one: the player may take it back.
    await playground.button("Reset").click();
    await note.waitFor();
    await playground.act("submit_answer", { answer: "1" });
    await playground.says("1 step", "done");
    await playground.frame.getByText("1 is wrong.").waitFor();
    await note.waitFor();
    assert.equal(await shown.count(), 0);
    await playground.button("Undo").click();
    await playground.says("0 steps", "in progress");
    assert.equal(await shown.count(), 0);
    // A mistake that ends the episode is no answer either.
    await playground.act("calculator", { expr: "6 *" });
    await playground.says("1 step", "done");
    await note.waitFor();
    assert.equal(await shown.count(), 0);
    await playground.frame.getByRole("button", { name: "Reveal" }).click();
    await shown.first().waitFor();
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
