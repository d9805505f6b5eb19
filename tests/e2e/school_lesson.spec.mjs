// Lesson 7: the reader trains an agent on the page of the school, finds a reward hack, and repairs the mask.

import assert from "node:assert/strict";
import { expect, test } from "@playwright/test";

import { accessible, visit } from "./support/browser.mjs";

const LESSON = "#/learn/learning";
const PATIENCE = 150_000;

/** Opens a task of the lesson in the school. */
async function open(page, title) {
  await page.getByRole("region", { name: title, exact: true }).getByRole("link", { name: "Open the school" }).click();
  await page.getByRole("status", { name: "Run" }).getByText("Not trained yet").waitFor();
  return page.getByRole("region", { name: "Task of the lesson" });
}

const back = (task) => task.getByRole("link", { name: "Back to the lesson" }).click();
const train = (page) => page.getByRole("region", { name: "Training" }).getByRole("button", { name: "Train", exact: true }).click();
const stop = (page) => page.getByRole("region", { name: "Training" }).getByRole("button", { name: "Stop" }).click();
const check = (page, number) => page.getByRole("region", { name: `Check ${number}`, exact: true });
const isDone = (page, number) => check(page, number).getByText("Done", { exact: true }).waitFor();

test("the tasks are met by doing them, and stay met", () =>
  visit({ hash: LESSON }, async (page) => {
    test.slow();
    await page.getByText("0 of 9 done").waitFor();

    let task = await open(page, "One group, slowly");
    await accessible(page);
    await page.getByRole("button", { name: "Update slowly" }).click();
    await task.getByText("Done", { exact: true }).waitFor();
    await back(task);
    await isDone(page, 1);
    const first = page.getByRole("region", { name: "Question 2" });
    await first.getByRole("button", { name: /the one answer more likely/ }).click();

    task = await open(page, "From guessing to using a tool");
    await train(page);
    await task.getByText("Done", { exact: true }).waitFor({ timeout: PATIENCE });
    await stop(page);
    await back(task);
    await isDone(page, 4);

    task = await open(page, "A grader with a leak");
    assert.match(page.url(), /grader=leaky$/);
    // One at a time: after some 60 updates, no repair helps any more.
    const one = page.getByRole("region", { name: "Training" }).getByRole("button", { name: "One update" });
    for (let update = 1; update <= 10; update += 1) {
      await one.click();
      await page.getByRole("status", { name: "Run" }).getByText(`Update ${update}:`).waitFor();
    }
    const checks = page.getByRole("region", { name: "Checks" });
    await checks.getByRole("heading", { name: "Reward without success" }).waitFor();
    await task.getByText("Done", { exact: true }).first().waitFor();
    assert.equal(await task.getByText("To do", { exact: true }).count(), 1);
    await checks.getByRole("button", { name: "Repair: an honest grader" }).click();
    // The finding is about updates before the repair: its button has nothing more to do.
    await checks.getByText("The knobs are right now.").waitFor();
    await train(page);
    await task.getByText("To do", { exact: true }).waitFor({ state: "detached", timeout: PATIENCE });
    await stop(page);
    await back(task);
    await expect(page.getByRole("heading", { name: "A grader with a leak" })).toBeInViewport();
    await isDone(page, 5);
    await isDone(page, 6);

    task = await open(page, "The mask is off");
    await train(page);
    await checks.getByRole("button", { name: "Repair: loss mask on" }).click({ timeout: PATIENCE });
    await task.getByText("Done", { exact: true }).waitFor({ timeout: PATIENCE });
    await stop(page);
    await back(task);
    await isDone(page, 8);

    task = await open(page, "Three digits");
    await page.getByRole("button", { name: "Harder tasks" }).click();
    await page.getByText(/of 64 tasks beyond its training/).waitFor();
    // It is to be trained first.
    await task.getByText("To do", { exact: true }).waitFor();
    await train(page);
    await task.getByText("Done", { exact: true }).waitFor({ timeout: PATIENCE });
    await stop(page);
    await back(task);
    await isDone(page, 9);

    await page.reload();
    await page.getByText("7 of 9 done").waitFor();
    await isDone(page, 9);
    await page.getByRole("button", { name: "Reset this lesson" }).click();
    await page.getByText("0 of 9 done").waitFor();
    await page.reload();
    await page.getByText("0 of 9 done").waitFor();
  }));

test("what happens in another run than that of the task does not count", () =>
  visit({ hash: LESSON, size: "narrow" }, async (page) => {
    const task = await open(page, "The mask is off");
    await accessible(page);
    // Another failure is planted instead.
    await page.getByRole("region", { name: "Break it" }).getByRole("button", { name: "Leaky grader" }).click();
    await page.waitForURL(/grader=leaky/);
    await page.getByRole("status", { name: "Run" }).getByText("Not trained yet").waitFor();
    await train(page);
    await page.getByRole("region", { name: "Checks" }).getByRole("button", { name: /^Repair/ }).first().waitFor({ timeout: PATIENCE });
    await stop(page);
    await task.getByText("To do", { exact: true }).waitFor();
    await task.getByRole("button", { name: "Hide the task" }).click();
    await task.waitFor({ state: "detached" });
  }));

test("the lesson is presented and printed, with the addresses of its tasks", () =>
  visit({ hash: `${LESSON}?slide=1` }, async (page) => {
    await page.getByRole("heading", { name: "How an agent learns" }).waitFor();
    let slides = 0;
    const seen = new Set();
    while (slides < 60) {
      const link = page.getByRole("link", { name: "Open the school" });
      if (await link.count()) seen.add(await link.getAttribute("href"));
      const before = page.url();
      await page.keyboard.press("PageDown");
      await page.waitForTimeout(80);
      slides += 1;
      if (page.url() === before) break;
    }
    assert.deepEqual(
      [...seen],
      ["slowly", "train", "leak&grader=leaky", "mask&has_mask=false", "beyond"].map((task) => `#/learn/school?lesson=${task}`),
    );
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Present" }).waitFor();
    await page.emulateMedia({ media: "print" });
    await page.getByText(/#\/learn\/school\?lesson=leak&grader=leaky/).waitFor();
  }));
