// Results of evaluations: the list, comparisons, tasks and failures, the cost estimate.

import assert from "node:assert/strict";
import { test } from "@playwright/test";

import { SIZES, accessible, visit } from "./support/browser.mjs";
import { Evaluate, HASH } from "./support/evaluate.mjs";
import { connected, FORMATS } from "./support/models.mjs";
import { FAILED_LOADS, provided } from "./support/providers.mjs";

const provider = provided();

/** The oracle plays the first tasks of a dataset, and then random calls do. */
async function played(evaluate, page) {
  for (const policy of ["Random", "Oracle"]) {
    await evaluate.from("dataset:0");
    await page.getByRole("combobox", { name: "Tasks", exact: true }).selectOption("Range");
    await evaluate.field("Last task").fill("6");
    await evaluate.policy(0).selectOption(policy);
    await evaluate.button("Start").click();
    await evaluate.says("Finished: 6 of 6");
    if (policy === "Random") await page.getByRole("link", { name: "All evaluations" }).click();
  }
}

const list = (page) => page.getByRole("region", { name: "Previous evaluations" });

for (const size of Object.keys(SIZES)) {
  test(`the list shows date, policies, n and score, and two are compared task by task, ${size}`, () =>
    visit({ hash: HASH, size }, async (page) => {
      const evaluate = new Evaluate(page);
      await played(evaluate, page);
      await page.getByRole("link", { name: "All evaluations" }).click();
      const rows = list(page).getByRole("checkbox");
      await rows.nth(1).waitFor();
      await list(page).getByText(/^\d{4}-\d\d-\d\d \d\d:\d\d · 6 episodes$/).first().waitFor();
      await list(page).getByText(/^n = 6 · success 100% \(\d+ to 100\)$/).waitFor();
      await list(page).getByText(/^n = 6 · success 0% \(0 to \d+\)$/).waitFor();
      assert.ok(await evaluate.button("Compare").isDisabled());
      await accessible(page);
      // Three inputs: two boxes and the button.
      await rows.nth(0).check();
      await rows.nth(1).check();
      await evaluate.button("Compare").click();
      const verdict = page.getByRole("status", { name: "Comparison" });
      await verdict.getByText("Mean reward on 6 tasks: Random ").waitFor();
      await verdict.getByText("Oracle is better on 6, equal on 0, worse on 0; sign test p = 0.031.").waitFor();
      await verdict.getByText("Oracle is better on these tasks.").waitFor();
      await page.getByLabel("Measure").selectOption("Success rate");
      await verdict.getByText("Success rate on 6 tasks: Random 0%, Oracle 100%.").waitFor();
      await verdict.getByText("Difference +1.0 (95% interval +1.0 to +1.0).").waitFor();
      const tasks = page.getByRole("table", { name: "Tasks of both" });
      assert.equal(await tasks.getByRole("row").count(), 7);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${wide} pixels too wide`);
      // A task opens the episodes of both side by side, and the way back is short.
      await tasks.getByRole("link").first().click();
      await page.getByRole("heading", { name: "Comparison", exact: true, level: 1 }).waitFor({ state: "attached" });
      assert.match(page.url(), /#\/review\/[^?]+\?beside=/);
      await page.goBack();
      // The address gives the same comparison again.
      await page.reload();
      await verdict.getByText("Mean reward on 6 tasks").waitFor();
    }));
}

test("an evaluation is renamed, and duplicated with its tasks, policies and limits", () =>
  visit({ hash: HASH }, async (page) => {
    const evaluate = new Evaluate(page);
    await evaluate.from("environment:dummy");
    await evaluate.field("Seeds").fill("3");
    await evaluate.field("Trials").fill("2");
    await evaluate.button("Start").click();
    await evaluate.says("Finished: 6 of 6");
    await page.getByRole("link", { name: "All evaluations" }).click();
    await list(page).getByRole("button", { name: /^Rename dummy/ }).click();
    const dialog = page.getByRole("dialog", { name: "Rename evaluation" });
    await dialog.getByLabel("Name").fill("Baseline");
    await page.keyboard.press("Enter");
    const link = list(page).getByRole("link", { name: "Baseline", exact: true });
    await link.waitFor();
    await page.reload();
    await link.click();
    await page.getByRole("heading", { name: "Baseline", level: 1 }).waitFor();
    await page.getByRole("link", { name: "All evaluations" }).click();
    await list(page).getByRole("button", { name: "Duplicate Baseline" }).click();
    const source = evaluate.form.getByRole("combobox", { name: "Task source" });
    await source.locator("option:checked", { hasText: "Baseline (3 tasks)" }).waitFor({ state: "attached" });
    assert.equal(await evaluate.field("Trials").inputValue(), "2");
    assert.equal(await evaluate.policy(0).inputValue(), "Random");
    await evaluate.button("Start").click();
    await evaluate.says("Finished: 6 of 6 episodes");
    // The same tasks with the same seeds: each has a pair.
    await page.getByRole("link", { name: "All evaluations" }).click();
    await list(page).getByRole("checkbox").nth(1).waitFor();
    for (const place of [0, 1]) await list(page).getByRole("checkbox").nth(place).check();
    await evaluate.button("Compare").click();
    await page.getByRole("status", { name: "Comparison" }).getByText("Mean reward on 3 tasks").waitFor();
  }));

test("tasks are sorted and filtered to failures, which are read one after the other in Review", () =>
  visit({ hash: HASH }, async (page) => {
    const evaluate = new Evaluate(page);
    await evaluate.from("dataset:0");
    await page.getByRole("combobox", { name: "Tasks", exact: true }).selectOption("Range");
    await evaluate.field("Last task").fill("5");
    await evaluate.policy(0).selectOption("Oracle");
    await evaluate.button("Add policy").click();
    await evaluate.policy(1).selectOption("Random");
    await evaluate.button("Start").click();
    await evaluate.says("Finished: 10 of 10");
    const region = page.getByRole("region", { name: "By task" });
    const shown = region.getByRole("status", { name: "Tasks shown" });
    await shown.getByText("5 tasks", { exact: true }).waitFor();
    await region.getByLabel("Sort").selectOption("Largest difference");
    await region.getByLabel("Only failures").check();
    await shown.getByText(/tasks$/).waitFor();
    // The table fits.
    const table = page.getByRole("region", { name: "Table of results" });
    assert.ok(await table.evaluate((box) => box.scrollWidth <= box.clientWidth), "the results scroll sideways");
    await evaluate.button("Read failures").click();
    const failure = page.getByRole("status", { name: "Failure" });
    await failure.getByText("Failure 1 of 5").waitFor();
    const transcript = page.getByRole("log", { name: "Transcript" });
    await transcript.getByRole("listitem").first().waitFor();
    await accessible(page);
    // One key from failure to failure, each at its last step.
    const next = evaluate.button("Next failure of the evaluation");
    await next.focus();
    for (const number of [2, 3, 4, 5]) {
      await page.keyboard.press("Enter");
      await failure.getByText(`Failure ${number} of 5`).waitFor();
      await page.waitForFunction(() => /step=\d{1,3}&/.test(location.hash));
      assert.ok(await next.evaluate((button) => button === document.activeElement));
    }
    assert.equal(await next.getAttribute("aria-disabled"), "true");
    const slider = page.getByRole("slider", { name: "Step" });
    assert.equal(await slider.getAttribute("aria-valuenow") ?? (await slider.inputValue()), await slider.getAttribute("max"));
    await evaluate.button("Previous failure of the evaluation").click();
    await failure.getByText("Failure 4 of 5").waitFor();
    await page.reload();
    await failure.getByText("Failure 4 of 5").waitFor();
    await page.getByRole("navigation", { name: "Failures of the evaluation" }).getByRole("link").click();
    await evaluate.says("Finished: 10 of 10");
  }));

test("tokens and cost are estimated before the start, and measured the second time", () => {
  const { kind } = FORMATS.find((known) => known.format === "chat");
  const seat = connected({ kind, base: provider.base("chat"), model: "gpt-6-luna" });
  return visit({ hash: HASH, allowedErrors: FAILED_LOADS, ...seat }, async (page) => {
    provider.tell({ otherwise: { calls: [{ name: "print_story", arguments: { story: "Once." } }] } });
    const evaluate = new Evaluate(page);
    const estimate = page.getByRole("status", { name: "Estimate" });
    await evaluate.from("environment:dummy");
    assert.equal(await estimate.innerText(), "");
    await evaluate.field("Seeds").fill("4");
    const model = evaluate.policy(0).locator("option", { hasText: "Model:" }).first();
    await evaluate.policy(0).selectOption(await model.getAttribute("value"));
    await estimate.getByText(/^Estimate: [\d,. k]+ to [\d,. k]+ tokens, less than \$0\.01 to \$0\.\d\d/).waitFor();
    await evaluate.leaveToModel(4);
    await evaluate.says("Finished: 4 of 4 episodes");
    // The policy names the model that it asked.
    assert.equal(await evaluate.results.getByRole("rowheader").innerText(), "Test model (gpt-6-luna)");
    await page.getByRole("link", { name: "All evaluations" }).click();
    await list(page).getByText("Test model (gpt-6-luna)").waitFor();
    await evaluate.from("environment:dummy");
    await evaluate.field("Seeds").fill("4");
    await evaluate.policy(0).selectOption(await model.getAttribute("value"));
    await estimate.getByText(/^Estimate: about 1[\d,.]* ?k? tokens, .* as in earlier evaluations/).waitFor().catch(async () => {
      assert.fail(await estimate.innerText());
    });
  });
});
